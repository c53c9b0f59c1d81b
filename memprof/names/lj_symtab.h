/*
** Definitions: functions and sites.
*/

#ifndef _LJ_SYMTAB_H
#define _LJ_SYMTAB_H

#include "lj_memprof.h"
#include "lj_memprof_map.h"

/* A function that may be named in the stream. */
typedef struct MPFunc {
  uint64_t addr;     /* Address of the proto, C function or trace. */
  uint32_t id;       /* Its id in the stream, 0 before its definition. */
  uint32_t traceno;  /* Trace number, or 0. */
  int iscfunc;       /* It is a C function. */
  int32_t firstline; /* Lines of a proto, for the sites to drop. */
  int32_t numline;
  char name[]; /* Name of a proto, or "". */
} MPFunc;

/* All definitions of a recording; those of code that is freed are dropped. */
typedef struct MPSymtab {
  uint32_t nextfunc; /* Next id of a function. */
  uint32_t nextsite; /* Next id of a site. */
  MPMap funcs;       /* Address -> MPFunc, owned by the map. */
  MPMap sites;       /* Function id, line, flags -> site. */
} MPSymtab;

/*
** The entry of an address, made with the given name of len bytes if there is
** none. Returns NULL without memory. It does not write to the stream.
*/
LJ_FUNC MPFunc *lj_symtab_entry(MPState *mp, const void *addr, const char *name,
                                size_t len);

/* The function of a proto, defined. Returns NULL without memory. */
LJ_FUNC MPFunc *lj_symtab_proto(MPState *mp, GCproto *pt);

/* What distinguishes a C function from all others: a key, no address. */
LJ_FUNC const void *lj_symtab_ckey(const GCfunc *fn);

/* The C function of a closure, defined. Returns NULL without memory. */
LJ_FUNC MPFunc *lj_symtab_cfunc(MPState *mp, GCfunc *fn);

/*
** The site of a line in a function, defined. flags are LJM_SITE_*. Without
** memory, the unknown site.
*/
LJ_FUNC uint32_t lj_symtab_site(MPState *mp, MPFunc *func, BCLine line,
                                uint32_t flags);

/* Forgets an address whose code is gone, with all its sites. */
LJ_FUNC void lj_symtab_drop(MPState *mp, const void *addr);

/*
** Takes all definitions back: each is written again when it is used, and ids
** begin anew. Names stay.
*/
LJ_FUNC void lj_symtab_undefine(MPState *mp);

/* Frees all entries. */
LJ_FUNC void lj_symtab_free(MPState *mp);

/*
** The line of the instruction at a position in the bytecode, or of the
** function's start if that is not in it. 0 without line information.
*/
LJ_FUNC BCLine lj_symtab_line(GCproto *pt, ptrdiff_t pos);

#if LJ_HASJIT
/*
** The site, defined, of a trace of which no more than the start is known.
** Without memory, the unknown site.
*/
LJ_FUNC uint32_t lj_symtab_tracesite(MPState *mp, GCtrace *T);
#endif

#endif

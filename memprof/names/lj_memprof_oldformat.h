/*
** The old formats.
*/

#ifndef _LJ_MEMPROF_OLDFORMAT_H
#define _LJ_MEMPROF_OLDFORMAT_H

#include "lj_memprof.h"
#include "lj_symtab.h"

/* A site as the old formats record it. */
typedef struct MPOldSite {
  uint64_t addr;
  uint32_t line;
  uint8_t source; /* MP_SOURCE_*, as the header bits have it. */
} MPOldSite;

enum { MP_SOURCE_INTERNAL = 1, MP_SOURCE_LUA, MP_SOURCE_C, MP_SOURCE_TRACE };

/* Empty in the compact format. */
typedef struct MPOld {
  MPOldSite *site; /* By number. */
  uint32_t size;   /* Room for so many. */
  uint8_t mark;    /* RFC: mark the next event. */
} MPOld;

/* Appends a prologue: 's' of the symbols, or 'm' of the events. */
LJ_FUNC void lj_memprof_oldprologue(MPState *mp, char letter);

/* Writes the symbol of a proto between the two. */
LJ_FUNC void lj_memprof_oldsymbol(MPState *mp, GCproto *pt);

/* Writes the definition of a proto that was loaded after the start. */
LJ_FUNC void lj_memprof_oldproto(MPState *mp, GCproto *pt);

/* Writes the definition of a C function. */
LJ_FUNC void lj_memprof_oldcfunc(MPState *mp, const MPFunc *func);

#if LJ_HASJIT
/* Writes the definition of a trace, which starts in a line. */
LJ_FUNC void lj_memprof_oldtrace(MPState *mp, const MPFunc *func, GCtrace *T,
                                 BCLine line);
#endif

/* Remembers how a site is recorded. Returns 0 without memory. */
LJ_FUNC int lj_memprof_oldsite(MPState *mp, uint32_t site, const MPFunc *func,
                               BCLine line);

/* Appends an event of a kind (LJM_ALLOC and so on). Sizes are in bytes. */
LJ_FUNC void lj_memprof_oldevent(MPState *mp, int kind, uint32_t site,
                                 const void *optr, size_t osize,
                                 const void *nptr, size_t nsize);

/* Frees what is known of sites. */
LJ_FUNC void lj_memprof_freeold(MPState *mp);

#endif

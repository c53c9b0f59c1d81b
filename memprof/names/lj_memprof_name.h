/*
** Names of functions.
*/

#ifndef _LJ_MEMPROF_NAME_H
#define _LJ_MEMPROF_NAME_H

#include "lj_gc.h"
#include "lj_memprof.h"
#include "format/ljm_format.h"

/* -- Lua functions (lj_memprof_name.c, lj_memprof_nameheap.c) -----------------
 */

#define LJ_MEMPROF_NAMEMAX 200 /* Bytes of a name: longer ones are cut. */

/*
** The next function that a function defines, behind the instruction at *pos,
** which is 0 at first; NULL if there is none. Puts its name into name, which
** has room for LJ_MEMPROF_NAMEMAX bytes and gets no 0 at the end, and its
** length into *len: 0 if it is stored without a name.
*/
LJ_FUNC const GCproto *lj_memprof_nextchild(const GCproto *pt, BCPos *pos,
                                            char *name, size_t *len);

/* Names the functions that a function defines. */
LJ_FUNC void lj_memprof_namechildren(MPState *mp, const GCproto *pt);

/*
** Names a function by a variable, or by a table, which may be NULL, and its
** field. The first name of a function stays.
*/
LJ_FUNC void lj_memprof_nameproto(MPState *mp, const GCproto *pt,
                                  const char *table, const char *name);

/*
** The name of the local variable in a slot at a position of the bytecode, or
** NULL. It is the proto's.
*/
LJ_FUNC const char *lj_memprof_localname(const GCproto *pt, BCPos pos,
                                         BCReg slot);

/* The name of an upvalue, or NULL. It is the proto's. */
LJ_FUNC const char *lj_memprof_uvname(const GCproto *pt, uint32_t idx);

/*
** Names all functions that are loaded, also those whose definition is gone.
** Visits every object four times.
*/
LJ_FUNC void lj_memprof_nameheap(MPState *mp);

/* -- C functions (lj_memprof_elf.c, lj_memprof_builtin.c) ------------------ */

/* Names of an address in this process's code. */
typedef struct MPSymbol {
  uint64_t offset;           /* From the module's load address. */
  char module[LJM_NAME_MAX]; /* Path, or "". */
  char symbol[LJM_NAME_MAX]; /* Or "" if the module has none. */
} MPSymbol;

/* Names an address. What is not known stays "". errno stays, too. */
LJ_FUNC void lj_memprof_symbol(const void *addr, MPSymbol *sym);

#define MP_CNAME_MAX 256 /* Room for the name of a C function. */

/* The table of loaded modules, or NULL. */
LJ_FUNC const GCtab *lj_memprof_loaded(global_State *g);

/*
** Puts the name of a C function into name, which has room for size bytes: an
** empty one if no table has it. The work is bounded.
*/
LJ_FUNC void lj_memprof_cname(global_State *g, const GCfunc *fn, char *name,
                              size_t size);

/* -- Objects --------------------------------------------------------------- */

/*
** The next object of the VM's list that is of a type, from o on, or NULL. Those
** that the collector is about to free are passed by: what they refer to may be
** gone already.
*/
static LJ_AINLINE GCobj *lj_memprof_nextobj(const global_State *g, GCobj *o,
                                            uint8_t gct)
{
  uint8_t dead = (g->gc.currentwhite ^ LJ_GC_WHITES) & LJ_GC_WHITES;
  while (o != NULL && (o->gch.gct != gct || (o->gch.marked & dead)))
    o = gcref(o->gch.nextgc);
  return o;
}

/* For each such object of the VM. */
#define MP_FOREACH(g, o, gct)                                                  \
  for ((o) = lj_memprof_nextobj((g), gcref((g)->gc.root), (gct)); (o) != NULL; \
       (o) = lj_memprof_nextobj((g), gcref((o)->gch.nextgc), (gct)))

#endif

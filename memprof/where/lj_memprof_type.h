/*
** The type of the newest block: the usual cases, without a call.
*/

#ifndef _LJ_MEMPROF_TYPE_H
#define _LJ_MEMPROF_TYPE_H

#include "lj_memprof_foreign.h"
#include "lj_memprof_state.h"

/*
** What was allocated last has been filled in: records its type and name. The
** current event frees ptr, of size bytes, or else size is 0. Nothing is the
** newest then.
*/
LJ_FUNC void lj_memprof_complete(MPState *mp, const void *ptr, size_t size);

/* In place of the newest block: the last event may be foreign. */
#define MPTYPE_WAITS(mp) ((GCobj *)(void *)(mp))

/* The last event is complete when it is known whether it is foreign. */
static LJ_AINLINE void mptype_wait(MPState *mp, const MPChange *c)
{
  mp->foreign.last = *c;
  mp->newest.o = MPTYPE_WAITS(mp);
  mp->newest.size = 0; /* No type has that. */
}

/* True if a block is a string that the VM has just interned. */
static LJ_AINLINE int mptype_isstr(const global_State *g, const GCobj *o,
                                   size_t size)
{
  /* Memory that was not written yet may look as one, but is no chain's head. */
  return size > sizeof(GCstr) && o->gch.gct == ~LJ_TSTR &&
         (gcrefu(g->str.tab[o->str.hash & g->str.mask]) & ~(uintptr_t)1) ==
             (uintptr_t)o;
}

/*
** The type of a block that is where most are to be found, or 0: the VM's
** newest object, or a part of it, or the one before it.
*/
static LJ_AINLINE int mptype_usual(const global_State *g, const GCobj *o,
                                   size_t size)
{
  const GCobj *root = gcref(g->gc.root);
  if (LJ_LIKELY(o == root))
    return o->gch.gct;
  if (o == gcref(g->uvhead.next))
    return ~LJ_TUPVAL;
  if (mptype_isstr(g, o, size))
    return ~LJ_TSTR;
  if (LJ_UNLIKELY(root == NULL))
    return 0;
  if (o == gcref(root->gch.nextgc)) /* An upvalue was closed. */
    return o->gch.gct;
  if (root->gch.gct == ~LJ_TTAB) {
    if (noderef(root->tab.node) == (const void *)o)
      return LJM_TYPE_HASH;
    if (mref(root->tab.array, const GCobj) == o)
      return LJM_TYPE_ARRAY;
  } else if (root->gch.gct == ~LJ_TTHREAD &&
             mref(root->th.stack, const GCobj) == o) {
    return LJM_TYPE_OTHER;
  }
  return 0;
}

/*
** The inline part of lj_memprof_complete(), for the usual types. Returns 0 if
** that has to be called, and then has done nothing. The newest event stays set:
** the caller replaces it.
*/
static LJ_AINLINE int mptype_complete(const MPState *mp, const global_State *g)
{
  const GCobj *o = mp->newest.o;
  int type;
  if (LJ_UNLIKELY(o == NULL))
    return 1;
  type = mptype_usual(g, o, mp->newest.size);
  if (LJ_UNLIKELY(type == 0 || type == ~LJ_TPROTO))
    return o == MPTYPE_WAITS(mp) && mpforeign_isvm(mp, 0);
  *mp->newest.typeat |= (uint8_t)(type << LJM_TYPE_SHIFT);
  return 1;
}

#endif

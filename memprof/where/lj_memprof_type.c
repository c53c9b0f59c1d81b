/*
** The types of blocks of memory. A type is known when the VM has filled in the
** block: it is added to its event when the next one comes.
*/

#define lj_memprof_type_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include "lj_dispatch.h"
#include "lj_memprof_foreign.h"
#include "lj_memprof_name.h"
#include "lj_memprof_state.h"
#include "lj_memprof_type.h"
#include "lj_memprof_where.h"
#include "lj_tab.h"

#define TYPE_BEHIND 8 /* No more objects than these come to the front. */

/*
** The type of a block that is one of the first objects of a list, or 0.
** Upvalues that are closed, and what is to be finalized, get in front of it
** without an allocation. Cdata that is aligned, or of variable size, begins
** inside of its block.
*/
static int type_newtype(const GCobj *p, const GCobj *o, size_t size)
{
  int n = TYPE_BEHIND;
  for (; p != NULL && n-- > 0; p = gcref(p->gch.nextgc))
    if (p == o ||
        (p->gch.gct == ~LJ_TCDATA && (uintptr_t)p - (uintptr_t)o < size))
      return p->gch.gct;
  return 0;
}

#define TYPE_NODES 8 /* So many nodes distinguish a hash part. */

/*
** True if a block of memory is a hash part, by its size and by what is in it.
** An array part that has left its table may have the same size.
*/
static int type_ishash(const void *p, size_t size)
{
  const Node *node = (const Node *)p;
  size_t n = size / sizeof(Node), i;
  if (size % sizeof(Node) != 0 || n < 2 || (n & (n - 1)) != 0)
    return 0;
#if !LJ_GC64
  /* The first one knows which of them are free. */
  if ((uintptr_t)mref(node->freetop, char) - (uintptr_t)p - 1 >= size)
    return 0;
#endif
  for (i = 0; i < n && i < TYPE_NODES; i++) {
    const Node *next = nextnode(&node[i]);
    uintptr_t ofs = (uintptr_t)next - (uintptr_t)p;
    if (next != NULL && (ofs >= size || ofs % sizeof(Node) != 0))
      return 0;
    /* No key comes twice, as numbers in an array do. */
    if (i > 0 && !tvisnil(&node[i].key) && node[i].key.u64 == node[0].key.u64)
      return 0;
  }
  return 1;
}

#if LJ_HASJIT
/* True if what looks as a trace is one of the VM's. */
static int type_islisted(const MPState *mp, const GCobj *o)
{
  const jit_State *J = G2J(mp->g);
  TraceNo no = ((const GCtrace *)(const void *)o)->traceno;
  return no < J->sizetrace && gcref(J->trace[no]) == o;
}
#endif

/* The type of any other block that the VM has listed, or 0. */
static int type_raretype(const MPState *mp, const GCobj *o, size_t size)
{
  const global_State *g = mp->g;
  int type = type_newtype(gcref(g->gc.root), o, size);
  if (type == 0) /* Userdata are behind the main thread, as is all else. */
    type = type_newtype(gcref(mainthread(g)->nextgc), o, size);
#if LJ_HASJIT
  /* The compiler has it at hand, or has it listed. */
  if (type == 0 && (o == (const GCobj *)(const void *)G2J(g)->curfinal ||
                    (lj_memprof_istrace(o, size) && type_islisted(mp, o))))
    return ~LJ_TTRACE;
#endif
  return type;
}

/* The type of what no list has, by its looks. The VM has no use for tables. */
static int type_looktype(const MPState *mp, const GCobj *o, size_t size)
{
  return mp->last[LJM_ALLOC].site != LJM_SITE_INTERNAL && type_ishash(o, size)
             ? LJM_TYPE_HASH
             : LJM_TYPE_OTHER;
}

/*
** Determines whether the last event was the VM's. The current one frees ptr, or
** size is 0.
*/
static LJ_AINLINE void type_settle(MPState *mp, const void *ptr, size_t size)
{
  mp->newest.o = NULL;
  if (LJ_UNLIKELY(!mpforeign_isvm(mp, size)))
    lj_memprof_settle(mp, &mp->foreign.last, ptr, size);
}

/*
** The type of what was allocated last, where it is none of the usual ones. The
** current event frees ptr, or else size is 0.
*/
static LJ_AINLINE int type_othertype(MPState *mp, GCobj *o, const void *ptr,
                                     size_t size)
{
  int type = type_raretype(mp, o, (size_t)mp->newest.size);
  if (type != 0)
    return type;
  if (!mpforeign_isvm(mp, size) && lj_memprof_settlealloc(mp, ptr, size))
    return LJM_TYPE_FOREIGN;
  return type_looktype(mp, o, (size_t)mp->newest.size);
}

/*
** The block that was allocated last is filled in: records its type and name.
** The current event frees ptr, or else size is 0.
*/
void lj_memprof_complete(MPState *mp, const void *ptr, size_t size)
{
  GCobj *o = mp->newest.o;
  if (o == MPTYPE_WAITS(mp)) {
    type_settle(mp, ptr, size);
  } else if (o != NULL) {
    int type = mptype_usual(mp->g, o, mp->newest.size);
    if (type == 0)
      type = type_othertype(mp, o, ptr, size);
    mp->newest.o = NULL;
    *mp->newest.typeat |= (uint8_t)(type << LJM_TYPE_SHIFT);
    if (type == ~LJ_TPROTO)
      lj_memprof_namechildren(mp, gco2pt(o));
  }
}

#endif

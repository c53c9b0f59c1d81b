/*
** Names of all Lua functions that are loaded when a recording starts.
**
** The definition of some is gone, as that of a module that has been loaded: its
** functions still hold each other. Such a function has the name of the variable
** that others of its chunk have for it, or of a field in a table that they
** have; or else of a field of a loaded module.
*/

#define lj_memprof_nameheap_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <string.h>

#include "lj_bc.h"
#include "lj_memprof_map.h"
#include "lj_memprof_name.h"
#include "lj_memprof_state.h"

#define NAMEHEAP_NODES 1024 /* Larger tables hold data. */

typedef struct MPNameHeap {
  MPState *mp;
  MPMap defined; /* Protos whose definition is still there. */
  MPMap seen;    /* Tables that were looked at. */
} MPNameHeap;

/* -- Functions ------------------------------------------------------------ */

/* Notes the protos that a proto defines. */
static void nameheap_children(MPNameHeap *nh, GCproto *pt)
{
  ptrdiff_t i;
  if (!(pt->flags & PROTO_CHILD))
    return;
  for (i = -(ptrdiff_t)pt->sizekgc; i < 0; i++) {
    GCobj *o = proto_kgc(pt, i);
    if (o->gch.gct == ~LJ_TPROTO)
      lj_memprof_mapput(&nh->defined, (uint64_t)(uintptr_t)o, 1);
  }
}

/* The proto of a value that is a function without a definition, or NULL. */
static GCproto *nameheap_orphan(const MPNameHeap *nh, cTValue *tv)
{
  GCproto *pt;
  if (!tvisfunc(tv) || !isluafunc(funcV(tv)))
    return NULL;
  pt = funcproto(funcV(tv));
  if (lj_memprof_mapget(&nh->defined, (uint64_t)(uintptr_t)pt))
    return NULL;
  return pt;
}

/* -- Tables --------------------------------------------------------------- */

/* True if a table has a function under one key only. */
static int nameheap_isonce(const MPNameHeap *nh, const GCtab *t,
                           const GCproto *pt)
{
  const Node *node = noderef(t->node);
  MSize i, n = 0;
  for (i = 0; i <= t->hmask; i++)
    n += nameheap_orphan(nh, &node[i].val) == pt;
  return n == 1;
}

/* Names the functions in a table, those of a chunk or, if it is NULL, all. */
static void nameheap_fields(MPNameHeap *nh, const GCtab *t, const char *name,
                            const GCstr *chunk)
{
  const Node *node = noderef(t->node);
  MSize i;
  if (t->hmask >= NAMEHEAP_NODES)
    return;
  for (i = 0; i <= t->hmask; i++) {
    GCproto *pt = nameheap_orphan(nh, &node[i].val);
    if (pt != NULL && tvisstr(&node[i].key) &&
        (chunk == NULL || proto_chunkname(pt) == chunk) &&
        nameheap_isonce(nh, t, pt))
      lj_memprof_nameproto(nh->mp, pt, name, strVdata(&node[i].key));
  }
}

/* -- Closures ------------------------------------------------------------- */

/*
** Calls a function for each variable that a closure has and never changes. One
** that is being made has none yet.
*/
static void nameheap_upvalues(MPNameHeap *nh, GCfunc *fn,
                              void (*look)(MPNameHeap *nh,
                                           const GCproto *holder,
                                           const char *name, cTValue *tv))
{
  GCproto *pt = funcproto(fn);
  uint32_t i;
  for (i = 0; i < fn->l.nupvalues; i++) {
    const char *name = lj_memprof_uvname(pt, i);
    GCupval *uv = &gcref(fn->l.uvptr[i])->uv;
    if (name != NULL && uv->immutable)
      look(nh, pt, name, uvval(uv));
  }
}

/* A variable that holds a function. */
static void nameheap_variable(MPNameHeap *nh, const GCproto *holder,
                              const char *name, cTValue *tv)
{
  GCproto *pt = nameheap_orphan(nh, tv);
  if (pt != NULL && proto_chunkname(pt) == proto_chunkname(holder))
    lj_memprof_nameproto(nh->mp, pt, NULL, name);
}

/* A variable that holds a table of functions. */
static void nameheap_table(MPNameHeap *nh, const GCproto *holder,
                           const char *name, cTValue *tv)
{
  uint64_t key;
  if (!tvistab(tv))
    return;
  key = (uint64_t)(uintptr_t)tabV(tv);
  if (lj_memprof_mapget(&nh->seen, key))
    return;
  lj_memprof_mapput(&nh->seen, key, 1);
  nameheap_fields(nh, tabV(tv), name, proto_chunkname(holder));
}

/* Goes through all closures whose own definition is gone. */
static void nameheap_closures(MPNameHeap *nh,
                              void (*look)(MPNameHeap *nh,
                                           const GCproto *holder,
                                           const char *name, cTValue *tv))
{
  GCobj *o;
  MP_FOREACH(nh->mp->g, o, ~LJ_TFUNC)
  if (isluafunc(&o->fn) &&
      !lj_memprof_mapget(&nh->defined, (uint64_t)(uintptr_t)funcproto(&o->fn)))
    nameheap_upvalues(nh, &o->fn, look);
}

/* -- Entry ---------------------------------------------------------------- */

/* Names functions of loaded modules by where a program finds them. */
static void nameheap_modules(MPNameHeap *nh)
{
  const GCtab *loaded = lj_memprof_loaded(nh->mp->g);
  MSize i;
  for (i = 0; loaded != NULL && i <= loaded->hmask; i++) {
    const Node *n = &noderef(loaded->node)[i];
    if (tvisstr(&n->key) && tvistab(&n->val) &&
        strcmp(strVdata(&n->key), "_G") != 0)
      nameheap_fields(nh, tabV(&n->val), strVdata(&n->key), NULL);
  }
}

/* Names those whose definition is gone. Visits every object three times. */
static void nameheap_orphans(MPState *mp)
{
  MPNameHeap nh;
  GCobj *o;
  memset(&nh, 0, sizeof(nh));
  nh.mp = mp;
  MP_FOREACH(mp->g, o, ~LJ_TPROTO)
  nameheap_children(&nh, gco2pt(o));
  nameheap_closures(&nh, nameheap_variable);
  nameheap_closures(&nh, nameheap_table);
  nameheap_modules(&nh);
  lj_memprof_mapfree(&nh.defined);
  lj_memprof_mapfree(&nh.seen);
}

void lj_memprof_nameheap(MPState *mp)
{
  GCobj *o;
  MP_FOREACH(mp->g, o, ~LJ_TPROTO)
  lj_memprof_namechildren(mp, gco2pt(o));
  nameheap_orphans(mp);
}

#endif

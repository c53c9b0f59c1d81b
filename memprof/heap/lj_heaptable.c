/*
** Heap dump: tables, with their array and hash parts.
*/

#define lj_heaptable_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include "lj_heapobj.h"
#if LJ_HASFFI
#include "lj_ctype.h"
#endif

/* -- Tables ---------------------------------------------------------------- */

/* The value of a string key in a metatable (MM_*), or NULL. */
static cTValue *heap_metafield(const MPDump *d, const GCtab *mt, int mm)
{
  const GCobj *key = gcref(d->g->gcroot[GCROOT_MMNAME + mm]);
  const Node *node = noderef(mt->node);
  uint32_t i;
  for (i = 0; i <= mt->hmask; i++)
    if (tvisstr(&node[i].key) && gcV(&node[i].key) == key)
      return tvisnil(&node[i].val) ? NULL : &node[i].val;
  return NULL;
}

/* Which references of a table do not keep what they refer to. */
static int heap_weakness(const MPDump *d, const GCtab *t)
{
  const GCtab *mt;
  cTValue *mode;
  int weak = 0;
  if (gcref(t->metatable) == NULL || lj_heap_isdead(d, obj2gco(t)))
    return 0;
  mt = tabref(t->metatable);
  if (mt->nomm & (1u << MM_mode))
    return 0;
  mode = heap_metafield(d, mt, MM_mode);
  if (mode == NULL || !tvisstr(mode))
    return 0;
  if (strchr(strVdata(mode), 'k') != NULL)
    weak |= LJM_TABLE_WEAKKEY;
  if (strchr(strVdata(mode), 'v') != NULL)
    weak |= LJM_TABLE_WEAKVALUE;
#if LJ_HASFFI
  if (ctype_ctsG(d->g) != NULL && ctype_ctsG(d->g)->finalizer == t)
    weak &= ~LJM_TABLE_WEAKVALUE;
#endif
  return weak;
}

/* True if the array of a table has a block of its own. */
static int heap_isseparate(const GCtab *t)
{
  return t->asize > 0 && t->colo <= 0;
}

/* Bytes of a table, with both of its parts. */
static size_t heap_tablesize(const GCtab *t)
{
  size_t size = t->colo ? sizetabcolo((uint32_t)t->colo & 0x7f) : sizeof(GCtab);
  if (heap_isseparate(t))
    size += t->asize * sizeof(TValue);
  return t->hmask > 0 ? size + (t->hmask + 1) * sizeof(Node) : size;
}

/* How many slots of the array part have a value. */
static uint32_t heap_usedarray(const GCtab *t)
{
  cTValue *tv = tvref(t->array);
  uint32_t i, n = 0;
  for (i = 0; i < t->asize; i++)
    n += !tvisnil(&tv[i]);
  return n;
}

/* How many nodes of the hash part have a value. */
static uint32_t heap_usednodes(const GCtab *t)
{
  const Node *node = noderef(t->node);
  uint32_t i, n = 0;
  for (i = 0; i <= t->hmask; i++)
    n += !tvisnil(&node[i].val);
  return n;
}

/* Objects in the array; gaps are of other values, or of none. */
static void heap_array(MPDump *d, const GCtab *t)
{
  cTValue *tv = tvref(t->array);
  uint32_t i;
  for (i = 0; i < t->asize && !lj_heap_failed(d); i++) {
    if (!tvisgcv(&tv[i]))
      continue;
    /* A new block counts from 0 again. */
    lj_heap_room(d, HEAP_PART_MAX);
    lj_heap_part(d, LJM_PART_ARRAY, i > d->next ? LJM_PART_GAP : 0);
    if (i > d->next)
      lj_heap_uleb(d, i - d->next);
    lj_heap_ref(d, gcV(&tv[i]));
    d->next = i + 1;
  }
}

#define HEAP_MAXINT 9007199254740992.0 /* 2^53 */

/* The tag of a value, as far as a reader needs it. */
static int heap_tag(cTValue *tv)
{
  if (tvisgcv(tv))
    return LJM_VALUE_REF;
  if (tvisint(tv))
    return LJM_VALUE_INT;
  if (tvisnum(tv)) {
    lua_Number n = numV(tv);
    return n >= -HEAP_MAXINT && n <= HEAP_MAXINT && n == (lua_Number)(int64_t)n
               ? LJM_VALUE_INT
               : LJM_VALUE_NUMBER;
  }
  if (tvislightud(tv))
    return LJM_VALUE_LIGHT;
  return tvistrue(tv)    ? LJM_VALUE_TRUE
         : tvisfalse(tv) ? LJM_VALUE_FALSE
                         : LJM_VALUE_NONE;
}

/* A key that is no object. */
static void heap_key(MPDump *d, cTValue *key, int tag)
{
  if (tag == LJM_VALUE_INT)
    lj_heap_uleb(d, ljm_zigzag((uint64_t)(tvisint(key) ? (int64_t)intV(key)
                                                       : (int64_t)numV(key))));
  else if (tag == LJM_VALUE_NUMBER)
    lj_heap_uleb(d, key->u64);
  else if (tag == LJM_VALUE_LIGHT)
    lj_heap_uleb(d, (uint64_t)(uintptr_t)lightudV(d->g, key));
}

/* Writes the nodes that have a value. */
static void heap_nodes(MPDump *d, const GCtab *t)
{
  const Node *node = noderef(t->node);
  uint32_t i;
  for (i = 0; i <= t->hmask && !lj_heap_failed(d); i++) {
    const Node *n = &node[i];
    int key, value;
    if (tvisnil(&n->val))
      continue;
    key = heap_tag(&n->key);
    value = heap_tag(&n->val);
    lj_heap_part(d, LJM_PART_NODE, 0);
    lj_heap_byte(d, key | value << 4);
    if (key == LJM_VALUE_REF)
      lj_heap_ref(d, gcV(&n->key));
    else
      heap_key(d, &n->key, key);
    if (value == LJM_VALUE_REF)
      lj_heap_ref(d, gcV(&n->val));
  }
}

void lj_heap_table(MPDump *d, GCtab *t)
{
  int array = t->asize > 0, hash = t->hmask > 0;
  int separate = heap_isseparate(t);
  lj_heap_begin(d, obj2gco(t), LJM_TYPE_TABLE,
                (array ? LJM_TABLE_ARRAY : 0) | (hash ? LJM_TABLE_HASH : 0),
                heap_tablesize(t));
  d->weak = heap_weakness(d, t);
  lj_heap_byte(d, d->weak | (separate ? LJM_TABLE_SEPARATE : 0) |
                      (gcref(t->metatable) ? LJM_TABLE_META : 0));
  if (gcref(t->metatable))
    lj_heap_ref(d, gcref(t->metatable));
  if (array) {
    lj_heap_uleb(d, t->asize);
    lj_heap_uleb(d, t->asize - heap_usedarray(t));
    if (separate)
      lj_heap_near(d, tvref(t->array));
  }
  if (hash) {
    lj_heap_uleb(d, (uint64_t)t->hmask + 1);
    lj_heap_uleb(d, t->hmask + 1 - heap_usednodes(t));
    lj_heap_near(d, noderef(t->node));
    heap_nodes(d, t);
  }
  if (array)
    heap_array(d, t);
}

#endif

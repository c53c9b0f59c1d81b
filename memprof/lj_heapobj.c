/*
** Heap dump: each type of object, with its size as the VM counts it and all of
** its references. Of what the collector is about to free, only its own memory
** is looked at: what it refers to may be gone.
*/

#define lj_heapobj_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <string.h>

#include "lj_buf.h"
#include "lj_dispatch.h"
#include "lj_heapdump.h"
#include "lj_memprof_frame.h"
#include "lj_memprof_name.h"
#include "lj_memprof_where.h"
#include "lj_str.h"
#include "lj_symtab.h"
#if LJ_HASFFI
#include "lj_cdata.h"
#include "lj_ctype.h"
#endif

#define HEAP_NAME_MAX 128 /* Names of variables are cut to this. */

/* -- References ------------------------------------------------------------ */

static uint64_t heap_turn(const void *p)
{
  return ljm_turn((uint64_t)(uintptr_t)p);
}

static void heap_name(MPDump *d, const char *name)
{
  size_t len = strlen(name);
  lj_wbuf_string(&d->buf, name, len > HEAP_NAME_MAX ? HEAP_NAME_MAX : len);
}

/* Begins a part of the object that is being written. */
static LJ_AINLINE void heap_putpart(MPDump *d, int kind, int flags)
{
  lj_heap_room(d, HEAP_NAME_MAX + MP_EVENT_MAX);
  lj_heap_byte(d, LJM_HEAP_BYTE(LJM_HEAP_PART, kind, flags));
}

static void heap_const(MPDump *d, const GCobj *o)
{
  heap_putpart(d, LJM_PART_CONST, 0);
  lj_heap_ref(d, o);
}

static void heap_link(MPDump *d, const char *name, const GCobj *o)
{
  if (o == NULL)
    return;
  heap_putpart(d, LJM_PART_LINK, 0);
  heap_name(d, name);
  lj_heap_ref(d, o);
}

/* The object that a value is, or NULL. */
static LJ_AINLINE GCobj *heap_objectof(cTValue *tv)
{
  return tvisgcv(tv) ? gcV(tv) : NULL;
}

/* -- Strings, upvalues ----------------------------------------------------- */

static void heap_string(MPDump *d, const GCstr *s)
{
  uint32_t n = s->len < d->stringmax ? s->len : d->stringmax;
  int flags = (n > 0 ? LJM_STRING_TEXT : 0) |
              (s->marked & LJ_GC_FIXED ? LJM_STRING_FIXED : 0);
  lj_heap_begin(d, obj2gco(s), LJM_TYPE_STRING, flags,
                s == &d->g->strempty ? 0 : lj_str_size(s->len));
  lj_heap_uleb(d, s->len);
  memcpy(d->buf.p, strdata(s), n);
  d->buf.p += n;
}

static void heap_upvalue(MPDump *d, GCupval *uv)
{
  const GCobj *o = heap_objectof(uvval(uv));
  lj_heap_begin(d, obj2gco(uv), LJM_TYPE_UPVALUE,
                (uv->closed ? 0 : LJM_UPVALUE_OPEN) |
                    (o != NULL ? LJM_UPVALUE_REF : 0),
                sizeof(GCupval));
  if (!uv->closed)
    lj_heap_delta(d, heap_turn(uvval(uv)), d->addr);
  if (o != NULL)
    lj_heap_ref(d, o);
}

/* -- Functions ------------------------------------------------------------- */

static void heap_cfunction(MPDump *d, GCfuncC *fn)
{
  uint32_t i;
  lj_heap_begin(d, obj2gco(fn), LJM_TYPE_FUNCTION, LJM_FUNC_C,
                sizeCfunc((MSize)fn->nupvalues));
  lj_heap_uleb(d, fn->ffid);
  lj_heap_uleb(d, (uint64_t)(uintptr_t)fn->f);
  lj_heap_ref(d, gcref(fn->env));
  lj_heap_uleb(d, fn->nupvalues);
  for (i = 0; i < fn->nupvalues; i++)
    lj_heap_ref(d, heap_objectof(&fn->upvalue[i]));
}

static void heap_luafunction(MPDump *d, GCfuncL *fn)
{
  uint32_t i;
  lj_heap_begin(d, obj2gco(fn), LJM_TYPE_FUNCTION, 0,
                sizeLfunc((MSize)fn->nupvalues));
  lj_heap_ref(d, mref(fn->pc, char) - sizeof(GCproto));
  lj_heap_ref(d, gcref(fn->env));
  lj_heap_uleb(d, fn->nupvalues);
  for (i = 0; i < fn->nupvalues; i++)
    lj_heap_ref(d, gcref(fn->uvptr[i]));
}

/* The names of a prototype's upvalues, as far as there is room. */
static void heap_uvnames(MPDump *d, const GCproto *pt)
{
  uint8_t *end = d->buf.p + HEAP_ITEM_MAX / 4;
  uint32_t i, n = 0;
  const char *p = (const char *)proto_uvinfo(pt);
  const char *q = p;
  for (; p != NULL && n < pt->sizeuv; n++) {
    size_t len = strlen(q) + 1;
    if (d->buf.p + (q - p) + len + n > end)
      break;
    q += len;
  }
  lj_heap_uleb(d, n);
  for (i = 0; i < n; i++, p += strlen(p) + 1)
    heap_name(d, p);
}

static void heap_proto(MPDump *d, GCproto *pt)
{
  int dead = lj_heap_isdead(d, obj2gco(pt));
  int same = !dead && gcrefeq(pt->chunkname, d->chunk);
  const GCstr *chunk = dead ? NULL : proto_chunkname(pt);
  ptrdiff_t i;
  lj_heap_begin(d, obj2gco(pt), LJM_TYPE_PROTO, same ? LJM_PROTO_SAMECHUNK : 0,
                pt->sizept);
  lj_heap_uleb(d, (uint32_t)pt->firstline);
  lj_heap_uleb(d, (uint32_t)pt->numline);
  lj_heap_uleb(d, mref(pt->lineinfo, const void) != NULL);
  if (!same) {
    lj_wbuf_string(&d->buf, chunk ? strdata(chunk) : "",
                   chunk ? chunk->len : 0);
    setgcrefnull(d->chunk); /* Of what is dead, the name was not written. */
    if (!dead)
      setgcrefr(d->chunk, pt->chunkname);
  }
  heap_uvnames(d, pt);
  heap_link(d, "chunk name", gcref(pt->chunkname));
  for (i = -(ptrdiff_t)pt->sizekgc; i < 0; i++)
    heap_const(d, proto_kgc(pt, i));
#if LJ_HASJIT
  if (pt->trace != 0 && !dead && pt->trace < G2J(d->g)->sizetrace)
    heap_link(d, "trace", gcref(G2J(d->g)->trace[pt->trace]));
#endif
}

/* -- Traces ---------------------------------------------------------------- */

#if LJ_HASJIT
static size_t heap_tracesize(const GCtrace *T)
{
  return ((sizeof(GCtrace) + 7) & ~(size_t)7) +
         (size_t)(T->nins - T->nk) * sizeof(IRIns) +
         (size_t)T->nsnap * sizeof(SnapShot) +
         (size_t)T->nsnapmap * sizeof(SnapEntry);
}

static void heap_tracelink(MPDump *d, const char *name, TraceNo no)
{
  const jit_State *J = G2J(d->g);
  if (no != 0 && no < J->sizetrace)
    heap_link(d, name, gcref(J->trace[no]));
}

static void heap_trace(MPDump *d, GCtrace *T)
{
  IRRef ref;
  lj_heap_begin(d, obj2gco(T), LJM_TYPE_TRACE, 0, heap_tracesize(T));
  lj_heap_uleb(d, T->traceno);
  lj_heap_uleb(d, T->root);
  if (T->traceno == 0) /* It was flushed: the collector leaves it alone. */
    return;
  heap_link(d, "start", gcref(T->startpt));
  heap_tracelink(d, "link", T->link);
  heap_tracelink(d, "next root trace", T->nextroot);
  heap_tracelink(d, "next side trace", T->nextside);
  for (ref = T->nk; ref < REF_TRUE; ref++) {
    IRIns *ir = &T->ir[ref];
    if (ir->o == IR_KGC)
      heap_const(d, ir_kgc(ir));
    if (irt_is64(ir->t) && ir->o != IR_KNULL)
      ref++;
  }
}
#endif

/* -- Threads --------------------------------------------------------------- */

/* A slot of a stack; the names of locals are those at a position in pt. */
static void heap_slot(MPDump *d, const lua_State *th, cTValue *tv,
                      const char *name)
{
  heap_putpart(d, LJM_PART_SLOT, name != NULL ? LJM_PART_NAMED : 0);
  lj_heap_uleb(d, (uint64_t)(tv - tvref(th->stack)));
  if (name != NULL)
    heap_name(d, name);
  lj_heap_ref(d, gcV(tv));
}

/* The slots above a frame, below the next one. */
static void heap_slots(MPDump *d, const lua_State *th, cTValue *from,
                       cTValue *to, const GCproto *pt, ptrdiff_t pos)
{
  cTValue *tv;
  for (tv = from; tv < to; tv++)
    if (tvisgcv(tv))
      heap_slot(d, th, tv,
                pt != NULL && pos >= 0
                    ? lj_memprof_localname(pt, (BCPos)pos, (BCReg)(tv - from))
                    : NULL);
}

/* A frame: its function, the line where it has stopped, its slots. */
static void heap_frame(MPDump *d, lua_State *th, cTValue *frame, cTValue *next,
                       cTValue *to)
{
  GCfunc *fn = mpframe_func(frame);
  GCproto *pt = fn != NULL && isluafunc(fn) ? funcproto(fn) : NULL;
  ptrdiff_t pos = pt != NULL ? lj_memprof_stopped(th, pt, next) : -1;
  BCLine line = pos >= 0 ? lj_symtab_line(pt, pos) : 0;
  heap_putpart(d, LJM_PART_FRAME, 0);
  lj_heap_uleb(d, line > 0 ? (uint64_t)line : 0);
  lj_heap_ref(d, fn);
  heap_slots(d, th, frame + 1, to, pt, pos);
}

/*
** The end of a stack's slots. The interpreter does not keep th->top while it is
** in a Lua function; the collector sets it to this.
*/
static cTValue *heap_top(const MPDump *d, const lua_State *th)
{
  const GCfunc *fn;
  if (gcref(d->g->cur_L) != obj2gco(th))
    return th->top;
  fn = mpframe_func(th->base - 1);
  return fn != NULL && isluafunc(fn) ? th->base + funcproto(fn)->framesize
                                     : th->top;
}

/* The stack, from its top down. A thread in the making has none. */
static void heap_stack(MPDump *d, lua_State *th)
{
  cTValue *bot = mpframe_bottom(th), *to, *frame = NULL, *next = NULL;
  if (tvref(th->stack) == NULL)
    return;
  to = th->top;
  if (!lj_heap_isdead(d, obj2gco(th))) {
    to = heap_top(d, th);
    frame = th->base - 1;
  }
  while (frame != NULL && frame > bot) {
    heap_frame(d, th, frame, next, to);
    next = frame;
    to = frame - LJ_FR2;
    frame = mpframe_prev(frame, bot);
  }
  heap_slots(d, th, tvref(th->stack) + 1 + LJ_FR2, to, NULL, -1);
}

static void heap_thread(MPDump *d, lua_State *th)
{
  const global_State *g = d->g;
  lj_heap_begin(d, obj2gco(th), LJM_TYPE_THREAD,
                (th == mainthread(g) ? LJM_THREAD_MAIN : 0) |
                    (th == d->L ? LJM_THREAD_CURRENT : 0),
                sizeof(lua_State) + th->stacksize * sizeof(TValue));
  lj_heap_uleb(d, th->status);
  lj_heap_delta(d, heap_turn(tvref(th->stack)), d->addr);
  lj_heap_uleb(d, th->stacksize * sizeof(TValue));
  lj_heap_ref(d, gcref(th->env));
  heap_stack(d, th);
}

/* -- Tables ---------------------------------------------------------------- */

/* The value of a string key in a metatable, or NULL. */
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

static size_t heap_tablesize(const GCtab *t)
{
  size_t size = t->colo ? sizetabcolo((uint32_t)t->colo & 0x7f) : sizeof(GCtab);
  if (heap_isseparate(t))
    size += t->asize * sizeof(TValue);
  return t->hmask > 0 ? size + (t->hmask + 1) * sizeof(Node) : size;
}

static uint32_t heap_usedarray(const GCtab *t)
{
  cTValue *tv = tvref(t->array);
  uint32_t i, n = 0;
  for (i = 0; i < t->asize; i++)
    n += !tvisnil(&tv[i]);
  return n;
}

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
  for (i = 0; i < t->asize; i++) {
    if (!tvisgcv(&tv[i]))
      continue;
    /* A new block counts from 0 again. */
    lj_heap_room(d, HEAP_NAME_MAX + MP_EVENT_MAX);
    heap_putpart(d, LJM_PART_ARRAY, i > d->next ? LJM_PART_GAP : 0);
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

static void heap_nodes(MPDump *d, const GCtab *t)
{
  const Node *node = noderef(t->node);
  uint32_t i;
  for (i = 0; i <= t->hmask; i++) {
    const Node *n = &node[i];
    int key, value;
    if (tvisnil(&n->val))
      continue;
    key = heap_tag(&n->key);
    value = heap_tag(&n->val);
    heap_putpart(d, LJM_PART_NODE, 0);
    lj_heap_byte(d, key | value << 4);
    if (key == LJM_VALUE_REF)
      lj_heap_ref(d, gcV(&n->key));
    else
      heap_key(d, &n->key, key);
    if (value == LJM_VALUE_REF)
      lj_heap_ref(d, gcV(&n->val));
  }
}

static void heap_table(MPDump *d, GCtab *t)
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
      lj_heap_delta(d, heap_turn(tvref(t->array)), d->addr);
  }
  if (hash) {
    lj_heap_uleb(d, (uint64_t)t->hmask + 1);
    lj_heap_uleb(d, t->hmask + 1 - heap_usednodes(t));
    lj_heap_delta(d, heap_turn(noderef(t->node)), d->addr);
    heap_nodes(d, t);
  }
  if (array)
    heap_array(d, t);
}

/* -- Userdata, cdata ------------------------------------------------------- */

static void heap_userdata(MPDump *d, GCudata *ud)
{
  const SBufExt *sbx = NULL;
  size_t size = sizeudata(ud), own = 0;
  const GCobj *mt = gcref(ud->metatable);
#if LJ_HASBUFFER
  if (ud->udtype == UDTYPE_BUFFER) {
    sbx = (const SBufExt *)uddata(ud);
    own = sbufiscoworborrow(sbx) ? 0 : sbufsz(sbx);
  }
#endif
  lj_heap_begin(d, obj2gco(ud), LJM_TYPE_USERDATA,
                (mt ? LJM_UDATA_META : 0) | (own ? LJM_UDATA_BUFFER : 0),
                size + own);
  lj_heap_uleb(d, ud->udtype);
  lj_heap_ref(d, gcref(ud->env));
  if (mt)
    lj_heap_ref(d, mt);
  if (own) {
    lj_heap_uleb(d, own);
    lj_heap_delta(d, heap_turn(sbx->b), d->addr);
  }
#if LJ_HASBUFFER
  if (sbx != NULL) {
    if (sbufiscow(sbx))
      heap_link(d, "content", gcref(sbx->cowref));
    heap_link(d, "dictionary", gcref(sbx->dict_str));
    heap_link(d, "metatables", gcref(sbx->dict_mt));
  }
#endif
}

#if LJ_HASFFI
static void heap_cdata(MPDump *d, GCcdata *cd)
{
  CTState *cts = ctype_ctsG(d->g);
  int finalizer = cd->marked & LJ_GC_CDATA_FIN ? LJM_CDATA_FINALIZER : 0;
  if (cdataisv(cd)) {
    lj_heap_begin(d, obj2gco(cd), LJM_TYPE_CDATA, finalizer | LJM_CDATA_BASE,
                  sizecdatav(cd));
    lj_heap_delta(d, heap_turn(memcdatav(cd)), d->addr);
  } else {
    const CType *ct = ctype_raw(cts, cd->ctypeid);
    CTSize size = ctype_hassize(ct->info) ? ct->size : CTSIZE_PTR;
    lj_heap_begin(d, obj2gco(cd), LJM_TYPE_CDATA, finalizer,
                  sizeof(GCcdata) + size);
  }
  lj_heap_uleb(d, cd->ctypeid);
}
#endif

/* -- Any object ------------------------------------------------------------ */

void lj_heap_object(MPDump *d, GCobj *o)
{
  d->owner = 0;
  lj_heap_room(d, HEAP_ITEM_MAX);
  switch (o->gch.gct) {
  case ~LJ_TSTR:
    heap_string(d, gco2str(o));
    break;
  case ~LJ_TUPVAL:
    heap_upvalue(d, gco2uv(o));
    break;
  case ~LJ_TTHREAD:
    heap_thread(d, gco2th(o));
    break;
  case ~LJ_TPROTO:
    heap_proto(d, gco2pt(o));
    break;
  case ~LJ_TFUNC:
    if (isluafunc(gco2func(o)))
      heap_luafunction(d, &gco2func(o)->l);
    else
      heap_cfunction(d, &gco2func(o)->c);
    break;
#if LJ_HASJIT
  case ~LJ_TTRACE:
    heap_trace(d, gco2trace(o));
    break;
#endif
#if LJ_HASFFI
  case ~LJ_TCDATA:
    heap_cdata(d, gco2cd(o));
    break;
#endif
  case ~LJ_TTAB:
    heap_table(d, gco2tab(o));
    break;
  case ~LJ_TUDATA:
    heap_userdata(d, gco2ud(o));
    break;
  default:
    break;
  }
}

#endif

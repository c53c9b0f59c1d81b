/*
** Heap dump: functions, prototypes and traces.
*/

#define lj_heapcode_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include "lj_dispatch.h"
#include "lj_heapobj.h"
#include "lj_memprof_name.h"

/* -- Functions and prototypes ---------------------------------------------- */

/* Writes a C function. */
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
    lj_heap_ref(d, lj_heap_valueof(&fn->upvalue[i]));
}

/* Writes a Lua function. */
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

/*
** True if a prototype is being read from bytecode: there is room for objects
** between its code and its other constants, and it does not count them yet. Its
** debug information is not set yet either. (With references of 4 bytes, room
** for one may be what the numbers are aligned with.)
*/
static int heap_isunread(const GCproto *pt)
{
  const char *code = (const char *)(proto_bc(pt) + pt->sizebc);
  return pt->sizekgc == 0 && mref(pt->k, const char) - code > 4;
}

/*
** The names of a prototype's upvalues, as far as there is room. Where they are
** need not be set yet.
*/
static void heap_uvnames(MPDump *d, const GCproto *pt)
{
  uint8_t *end = d->buf.p + HEAP_ITEM_MAX / 4;
  uint32_t i, n = 0;
  const char *p = (const char *)proto_uvinfo(pt);
  const char *q = p, *stop = (const char *)pt + pt->sizept;
  if (p < (const char *)pt || p >= stop)
    q = stop;
  for (; q < stop && n < pt->sizeuv; n++) {
    size_t len = strnlen(q, (size_t)(stop - q)) + 1;
    if (d->buf.p + (q - p) + len + n > end || q + len > stop)
      break;
    q += len;
  }
  lj_heap_uleb(d, n);
  for (i = 0; i < n; i++, p += strlen(p) + 1)
    lj_heap_name(d, p);
}

/* The names of the functions that a prototype defines. */
static void heap_defined(MPDump *d, const GCproto *pt)
{
  char name[LJ_MEMPROF_NAMEMAX];
  const GCproto *child;
  BCPos pos = 0;
  size_t len;
  while ((child = lj_memprof_nextchild(pt, &pos, name, &len)) != NULL) {
    uint8_t *mark = lj_heap_record(d, LJM_REC_DEFINED);
    lj_heap_uleb(d, (uint64_t)(uintptr_t)child);
    lj_wbuf_string(&d->buf, name, len);
    lj_wbuf_recordend(&d->buf, mark);
  }
}

void lj_heap_function(MPDump *d, GCfunc *fn)
{
  if (isluafunc(fn))
    heap_luafunction(d, &fn->l);
  else
    heap_cfunction(d, &fn->c);
}

void lj_heap_proto(MPDump *d, GCproto *pt)
{
  int dead = lj_heap_isdead(d, obj2gco(pt));
  int same = !dead && gcrefeq(pt->chunkname, d->chunk);
  const GCstr *chunk = dead ? NULL : proto_chunkname(pt);
  int unread = heap_isunread(pt);
  ptrdiff_t i;
  lj_heap_begin(d, obj2gco(pt), LJM_TYPE_PROTO, same ? LJM_PROTO_SAMECHUNK : 0,
                pt->sizept);
  lj_heap_uleb(d, unread ? 0 : (uint32_t)pt->firstline);
  lj_heap_uleb(d, unread ? 0 : (uint32_t)pt->numline);
  lj_heap_uleb(d, !unread && mref(pt->lineinfo, const void) != NULL);
  if (!same) {
    lj_wbuf_string(&d->buf, chunk ? strdata(chunk) : "",
                   chunk ? chunk->len : 0);
    setgcrefnull(d->chunk); /* A dead one's name is not written. */
    if (!dead)
      setgcrefr(d->chunk, pt->chunkname);
  }
  if (unread)
    lj_heap_uleb(d, 0);
  else
    heap_uvnames(d, pt);
  d->unread |= unread;
  lj_heap_link(d, "chunk name", gcref(pt->chunkname));
  for (i = -(ptrdiff_t)pt->sizekgc; i < 0; i++)
    lj_heap_const(d, proto_kgc(pt, i));
#if LJ_HASJIT
  if (pt->trace != 0 && !dead && pt->trace < G2J(d->g)->sizetrace)
    lj_heap_link(d, "trace", gcref(G2J(d->g)->trace[pt->trace]));
#endif
  if (!dead && !unread)
    heap_defined(d, pt);
}

/* -- Traces ---------------------------------------------------------------- */

#if LJ_HASJIT
/* Bytes of a trace, without its machine code. */
static size_t heap_tracesize(const GCtrace *T)
{
  return ((sizeof(GCtrace) + 7) & ~(size_t)7) +
         (size_t)(T->nins - T->nk) * sizeof(IRIns) +
         (size_t)T->nsnap * sizeof(SnapShot) +
         (size_t)T->nsnapmap * sizeof(SnapEntry);
}

/* Writes a reference to another trace, by its number. */
static void heap_tracelink(MPDump *d, const char *name, TraceNo no)
{
  const jit_State *J = G2J(d->g);
  if (no != 0 && no < J->sizetrace)
    lj_heap_link(d, name, gcref(J->trace[no]));
}

void lj_heap_trace(MPDump *d, GCtrace *T)
{
  IRRef ref;
  lj_heap_begin(d, obj2gco(T), LJM_TYPE_TRACE, 0, heap_tracesize(T));
  lj_heap_uleb(d, T->traceno);
  lj_heap_uleb(d, T->root);
  if (T->traceno == 0) /* It was flushed: the collector leaves it alone. */
    return;
  lj_heap_link(d, "start", gcref(T->startpt));
  heap_tracelink(d, "link", T->link);
  heap_tracelink(d, "next root trace", T->nextroot);
  heap_tracelink(d, "next side trace", T->nextside);
  for (ref = T->nk; ref < REF_TRUE; ref++) {
    IRIns *ir = &T->ir[ref];
    if (ir->o == IR_KGC)
      lj_heap_const(d, ir_kgc(ir));
    if (irt_is64(ir->t) && ir->o != IR_KNULL)
      ref++;
  }
}
#endif

#endif

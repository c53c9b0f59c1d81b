/*
** Heap dump: all objects of a VM, its roots, and the memory that is no object.
** Objects are found by the VM's lists of them, not by following references: so
** garbage is found, too. Nothing of the VM is changed.
*/

#define lj_heapdump_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <string.h>

#include "lj_buf.h"
#include "lj_dispatch.h"
#include "lj_heapdump.h"
#include "lj_heapmapped.h"
#include "lj_heapobj.h"
#include "lj_memprof_dump.h"
#include "lj_memprof_time.h"
#if LJ_HASFFI
#include "lj_ctype.h"
#endif

/* -- Records --------------------------------------------------------------- */

/* Writes an object that is a root, with a name. */
static void heap_root(MPDump *d, const char *name, const void *o)
{
  uint8_t *mark;
  if (o == NULL)
    return;
  mark = lj_heap_record(d, LJM_REC_ROOT);
  lj_heap_uleb(d, (uint64_t)(uintptr_t)o);
  lj_wbuf_string(&d->buf, name, strlen(name));
  lj_wbuf_recordend(&d->buf, mark);
}

/* Memory of the VM that is no object. */
static void heap_part(MPDump *d, const char *name, const void *p, size_t size)
{
  uint8_t *mark;
  if (size == 0)
    return;
  mark = lj_heap_record(d, LJM_REC_PART);
  lj_heap_uleb(d, (uint64_t)(uintptr_t)p);
  lj_heap_uleb(d, size);
  lj_wbuf_string(&d->buf, name, strlen(name));
  lj_wbuf_recordend(&d->buf, mark);
  d->parts += size;
}

/* -- Roots and parts ------------------------------------------------------- */

/* The metatables of the basic types, as the VM numbers them. */
static void heap_metatables(MPDump *d)
{
  static const char *const names[] = {
      "nil", "boolean",  "boolean", "light userdata", "string", NULL, "thread",
      NULL,  "function", NULL,      "cdata",          NULL,     NULL, "number"};
  char name[64] = "metatable of ";
  size_t len = strlen(name), i;
  for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    const GCobj *mt = gcref(d->g->gcroot[GCROOT_BASEMT + i]);
    if (mt == NULL || names[i] == NULL)
      continue;
    strncpy(name + len, names[i], sizeof(name) - 1 - len);
    heap_root(d, name, mt);
  }
}

/* The references of the trace that is being compiled: it is no object yet. */
static void heap_curtrace(MPDump *d)
{
#if LJ_HASJIT
  static const char name[] = "the trace in the making";
  GCtrace *T = &G2J(d->g)->cur;
  IRRef ref;
  if (T->traceno == 0)
    return;
  heap_root(d, name, gcref(T->startpt));
  for (ref = T->nk; ref < REF_TRUE; ref++) {
    IRIns *ir = &T->ir[ref];
    if (ir->o == IR_KGC)
      heap_root(d, name, ir_kgc(ir));
    if (irt_is64(ir->t) && ir->o != IR_KNULL)
      ref++;
  }
#else
  UNUSED(d);
#endif
}

/* The roots of the collector. */
static void heap_roots(MPDump *d)
{
  global_State *g = d->g;
  ptrdiff_t i;
  heap_root(d, "main thread", mainthread(g));
  heap_root(d, "current thread", d->L);
  heap_root(d, "_G", gcref(mainthread(g)->env));
  if (tvisgcv(&g->registrytv))
    heap_root(d, "registry", gcV(&g->registrytv));
  heap_metatables(d);
  for (i = 0; i < GCROOT_BASEMT; i++)
    heap_root(d, "the VM", gcref(g->gcroot[i]));
  heap_curtrace(d);
  heap_root(d, "io.input()", gcref(g->gcroot[GCROOT_IO_INPUT]));
  heap_root(d, "io.output()", gcref(g->gcroot[GCROOT_IO_OUTPUT]));
#if LJ_HASFFI
  if (ctype_ctsG(g) != NULL) {
    heap_root(d, "cdata finalizers", ctype_ctsG(g)->finalizer);
    heap_root(d, "FFI metatables and callbacks", ctype_ctsG(g)->miscmap);
  }
#endif
}

/* Upper halves of the addresses of light userdata. */
static void heap_lightuserdata(MPDump *d)
{
#if LJ_64
  const void *map = mref(d->g->gc.lightudseg, uint32_t);
  uint32_t n = 2, used = (uint32_t)d->g->gc.lightudnum + 1;
  while (n < used)
    n *= 2;
  if (map != NULL)
    heap_part(d, "light userdata", map, n * sizeof(uint32_t));
#else
  UNUSED(d);
#endif
}

/* Writes the memory of the VM that is no object. */
static void heap_parts(MPDump *d)
{
  global_State *g = d->g;
  heap_part(d, "global state", G2GG(g), sizeof(GG_State) - sizeof(lua_State));
  heap_part(d, "string table", g->str.tab,
            (g->str.mask + 1) * sizeof(g->str.tab[0]));
  heap_part(d, "string buffer", g->tmpbuf.b, sbufsz(&g->tmpbuf));
  heap_lightuserdata(d);
#if LJ_HASJIT
  {
    jit_State *J = G2J(g);
    heap_part(d, "JIT: instructions", J->irbuf + J->irbotlim,
              (J->irtoplim - J->irbotlim) * sizeof(IRIns));
    heap_part(d, "JIT: snapshots", J->snapbuf, J->sizesnap * sizeof(SnapShot));
    heap_part(d, "JIT: snapshots' slots", J->snapmapbuf,
              J->sizesnapmap * sizeof(SnapEntry));
    heap_part(d, "JIT: trace table", J->trace, J->sizetrace * sizeof(GCRef));
  }
#endif
#if LJ_HASFFI
  if (ctype_ctsG(g) != NULL) {
    CTState *cts = ctype_ctsG(g);
    heap_part(d, "FFI: state", cts, sizeof(CTState));
    heap_part(d, "FFI: types", cts->tab, cts->sizetab * sizeof(CType));
    heap_part(d, "FFI: callbacks", cts->cb.cbid,
              cts->cb.sizeid * sizeof(CTypeID1));
  }
#endif
}

#if LJ_HASFFI
/* The types of cdata: how each is made of others, and its name. */
static void heap_ctypes(MPDump *d)
{
  const CTState *cts = ctype_ctsG(d->g);
  CTypeID id;
  for (id = 1; cts != NULL && id < cts->top && !lj_heap_failed(d); id++) {
    const CType *ct = &cts->tab[id];
    const GCobj *name = gcref(ct->name);
    uint8_t *mark;
    if (ctype_isfield(ct->info) || ctype_isbitfield(ct->info))
      continue;
    mark = lj_heap_record(d, LJM_REC_CTYPE);
    lj_heap_uleb(d, id);
    lj_heap_uleb(d, ct->info);
    lj_heap_uleb(d, ct->size);
    if (name != NULL)
      lj_wbuf_string(&d->buf, strdata(gco2str(name)), gco2str(name)->len);
    else
      lj_heap_byte(d, 0);
    lj_wbuf_recordend(&d->buf, mark);
  }
}
#endif

/* -- Objects --------------------------------------------------------------- */

/* Strings: chains whose lowest bits are flags. */
static void heap_strings(MPDump *d)
{
  const global_State *g = d->g;
  MSize i;
  lj_heap_object(d, obj2gco(&d->g->strempty));
  for (i = 0; i <= g->str.mask && !lj_heap_failed(d); i++) {
    GCobj *o = (GCobj *)(gcrefu(g->str.tab[i]) & ~(uintptr_t)1);
    for (; o != NULL; o = gcref(o->gch.nextgc)) {
      lj_heap_object(d, o);
      if ((StrID)(gco2str(o)->sid + 1) == g->str.id)
        d->newest = o;
    }
  }
}

/* True if each string is in the chain that its hash says, and none is lost. */
static int heap_arestrings(const global_State *g)
{
  MSize i, n = 0;
  for (i = 0; i <= g->str.mask; i++) {
    const GCobj *o = (const GCobj *)(gcrefu(g->str.tab[i]) & ~(uintptr_t)1);
    for (; o != NULL; o = gcref(o->gch.nextgc), n++)
      if ((gco2str(o)->hash & g->str.mask) != i || n >= g->str.num)
        return 0;
  }
  return n == g->str.num;
}

/*
** All lists of objects have to be walked. In a deallocation they cannot be
** while the VM sweeps strings, whose chains may begin with freed ones, while
** lua_close() frees everything, and while the table of strings is replaced.
*/
int lj_heap_arelists(const global_State *g)
{
  if (g->gc.currentwhite & LJ_GC_SFIXED)
    return 0;
  if (g->vmstate == ~LJ_VMST_GC && g->gc.state == GCSsweepstring)
    return 0;
  return heap_arestrings(g);
}

/* A list of objects. The main thread's memory is that of the global state. */
static void heap_list(MPDump *d, const GCRef *root)
{
  GCobj *o;
  for (o = gcref(*root); o != NULL && !lj_heap_failed(d);
       o = gcref(o->gch.nextgc))
    lj_heap_object(d, o);
}

/* A ring: what waits for its finalizer. */
static void heap_finalizing(MPDump *d)
{
  GCobj *root = gcref(d->g->gc.mmudata), *o = root;
  if (root == NULL)
    return;
  do {
    o = gcref(o->gch.nextgc);
    heap_root(d, "awaits its finalizer", o);
    lj_heap_object(d, o);
  } while (o != root && !lj_heap_failed(d));
}

/* Upvalues that are open are in no other list. */
static void heap_upvalues(MPDump *d)
{
  GCupval *uv;
  for (uv = uvnext(&d->g->uvhead); uv != &d->g->uvhead && !lj_heap_failed(d);
       uv = uvnext(uv))
    lj_heap_object(d, obj2gco(uv));
}

/*
** What the VM may have been making when it asked its allocator: nothing but a
** register of it may refer to that. It is the newest string, the newest other
** object with its upvalues, which are newer or open, or all of it.
*/
static void heap_making(MPDump *d)
{
  global_State *g = d->g;
  GCobj *o = gcref(g->gc.root);
  GCupval *uv = uvnext(&g->uvhead);
  unsigned n;
  uint8_t *mark = lj_heap_record(d, LJM_REC_MAKING);
  if (d->newest != NULL)
    lj_heap_uleb(d, (uint64_t)(uintptr_t)d->newest);
  for (n = 0; o != NULL && n <= LJ_MAX_UPVAL; n++, o = gcref(o->gch.nextgc)) {
    lj_heap_uleb(d, (uint64_t)(uintptr_t)o);
    if (o->gch.gct != ~LJ_TUPVAL)
      break;
  }
  for (n = 0; uv != &g->uvhead && n < LJ_MAX_UPVAL; n++, uv = uvnext(uv))
    lj_heap_uleb(d, (uint64_t)(uintptr_t)uv);
  lj_wbuf_recordend(&d->buf, mark);
}

/* -- Begin and end --------------------------------------------------------- */

/* Writes bytes as they are. */
static void heap_bytes(MPDump *d, const void *p, size_t len)
{
  memcpy(d->buf.p, p, len);
  d->buf.p += len;
}

/* The prologues are no block: they go out without a header. */
static void heap_prologue(MPDump *d)
{
  static const char syms[LJM_PROLOGUE_LEN] = {'l', 'j', 's', LJM_VERSION};
  static const char body[LJM_PROLOGUE_LEN] = {'l', 'j', 'd', LJM_VERSION};
  d->buf.blocks = 0;
  lj_wbuf_begin(&d->buf);
  heap_bytes(d, syms, sizeof(syms));
  lj_heap_uleb(d, (uint64_t)(uintptr_t)d->g);
  lj_heap_byte(d, LJM_SYM_FINAL);
  heap_bytes(d, body, sizeof(body));
  lj_wbuf_flush(&d->buf, 0, 1);
  d->buf.blocks = 1;
  lj_wbuf_begin(&d->buf);
}

/*
** True if what is not reached may be in registers, whatever it is: those of a
** trace, or of the VM while it reads bytecode or moves a table. The nodes of
** such a table have no owner.
*/
static int heap_isinregisters(const MPDump *d, uint64_t total)
{
  return tvref(d->g->jit_base) != NULL ||
         (d->inside && (d->unread || total != d->bytes + d->parts));
}

/* The sums, with which a reader can prove that nothing is missing. */
static void heap_end(MPDump *d, uint64_t total)
{
  uint8_t *mark = lj_heap_record(d, LJM_REC_HEAPEND);
  lj_heap_uleb(d, heap_isinregisters(d, total) ? LJM_HEAP_REGISTERS : 0);
  lj_heap_uleb(d, d->objects);
  lj_heap_uleb(d, d->bytes);
  lj_heap_uleb(d, d->garbage);
  lj_heap_uleb(d, d->parts);
  lj_heap_uleb(d, total);
  /* Bytes without an owner yet: those of a parser, or of an unfinished trace.
   */
  lj_heap_uleb(d, ljm_zigzag(total - d->bytes - d->parts));
  lj_heap_uleb(d, d->g->gc.state);
  lj_heap_uleb(d, lj_memprof_now() - d->origin.monotonic);
  lj_wbuf_recordend(&d->buf, mark);
  lj_wbuf_flush(&d->buf, d->blockobjects, 1);
}

void lj_heap_write(MPDump *d)
{
  global_State *g = d->g;
  uint64_t total = (uint64_t)g->gc.total;
  heap_prologue(d);
  lj_heap_beginblock(d);
  lj_memprof_metaheap(&d->buf, &d->origin, &d->id, g, d->stringmax,
                      &d->process);
  lj_heap_mapped(d);
  heap_roots(d);
  heap_parts(d);
#if LJ_HASFFI
  heap_ctypes(d);
#endif
  heap_strings(d);
  heap_list(d, &g->gc.root);
  heap_upvalues(d);
  heap_finalizing(d);
  if (d->inside)
    heap_making(d);
  heap_end(d, total);
}

/* -- Beginning ------------------------------------------------------------- */

size_t lj_heap_bufsize(const struct luam_Prof_options *opt)
{
  return opt->buffer ? (size_t)opt->buffer : LJM_BLOCK_DEFAULT;
}

void lj_heap_init(MPDump *d, lua_State *L, const MPState *mp,
                  const struct luam_Prof_options *opt, int inside)
{
  memset(d, 0, sizeof(*d));
  d->g = G(L);
  d->L = L;
  d->inside = inside;
  d->dead = otherwhite(d->g) & LJ_GC_WHITES;
  d->stringmax = opt->strings < 0    ? 0
                 : opt->strings == 0 ? LJM_HEAP_STRINGS
                                     : (uint32_t)opt->strings;
  lj_memprof_origin(&d->origin);
  lj_heap_process(d);
  lj_memprof_newdump(mp, &d->id);
}

#endif

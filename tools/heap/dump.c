/*
** A heap dump that was read: turns what the reader decodes into a graph.
*/

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "mem.h"

/* -- Objects --------------------------------------------------------------- */

/* The number of a text among the graph's names. */
static uint32_t dump_name(LpDump *d, LpStr s)
{
  return lp_graph_name(&d->graph, s.s, s.n);
}

/* Add a prototype; the names of its upvalues follow. */
static void dump_proto(LpDump *d, uint32_t id, const LpObject *o)
{
  d->proto = lp_grow(d->proto, &d->capproto, d->nproto + 1, sizeof(*d->proto));
  d->proto[d->nproto] = (LpProto){.chunk = dump_name(d, o->text),
                                  .line = o->line,
                                  .uvname = (uint32_t)d->nuvname};
  lp_idmap_put(&d->protos, id, (uint32_t)d->nproto++);
}

/* Add a table that has weak references. */
static void dump_weak_table(LpDump *d, uint32_t id, const LpObject *o)
{
  d->weaktable = lp_grow(d->weaktable, &d->capweaktable, d->nweaktable + 1,
                         sizeof(*d->weaktable));
  d->weaktable[d->nweaktable++] = (LpWeakTable){
      id, o->weak, o->slots - o->empty + o->nodes - o->free, d->nweak};
}

/* Tables whose empty slots take more than a few words. */
#define SPARSE_LEAST 64

/* Add a table to those with slots that hold nothing, if they are many. */
static void dump_table(LpDump *d, uint32_t id, const LpObject *o)
{
  uint64_t bytes = o->empty * d->value + o->free * d->node;
  if (o->weak)
    dump_weak_table(d, id, o);
  d->sparsebytes += bytes;
  if (bytes < SPARSE_LEAST)
    return;
  d->sparse =
      lp_grow(d->sparse, &d->capsparse, d->nsparse + 1, sizeof(*d->sparse));
  d->sparse[d->nsparse++] = (LpSparse){id, bytes};
}

/* Add a block of memory of an object. */
static void dump_block(LpDump *d, uint32_t id, uint64_t addr, uint64_t size,
                       int own)
{
  d->block = lp_grow(d->block, &d->capblock, d->nblock + 1, sizeof(*d->block));
  d->block[d->nblock++] = (LpDumpBlock){addr, size, id, own};
}

/* Count a block that is in the allocator's pages. */
static void dump_presence(LpDump *d, uint32_t id, uint64_t addr, uint64_t size)
{
  LpPresence p = lp_resident_block(&d->pages, addr, size);
  d->inside.bytes += p.bytes;
  d->inside.resident += p.resident;
  if (p.bytes == p.resident)
    return;
  d->absent =
      lp_grow(d->absent, &d->capabsent, d->nabsent + 1, sizeof(*d->absent));
  d->absent[d->nabsent++] = (LpAbsent){id, p.bytes - p.resident};
}

/* All blocks of the objects so far are known. They are kept only if they are
** asked for.
*/
static void dump_blocks_end(LpDump *d)
{
  lp_resident_seal(&d->pages);
  for (; d->nseen < d->nblock; d->nseen++) {
    const LpDumpBlock *b = &d->block[d->nseen];
    dump_presence(d, b->id, b->addr, b->size);
  }
  if (!d->blocks)
    d->nblock = d->nseen = 0;
}

/* All blocks of an object but buffers. What is left over of its size is the
** object itself. Cdata may begin inside of its block.
*/
static void dump_blocks(LpDump *d, uint32_t id, const LpObject *o)
{
  uint64_t rest = o->size, base = o->addr, n[2] = {0, 0};
  int i;
  if (o->type == LJM_TYPE_CDATA && o->block[0]) {
    base = o->block[0];
  } else if (o->type == LJM_TYPE_TABLE) {
    n[0] = o->block[0] ? o->slots * d->value : 0;
    n[1] = o->block[1] ? o->nodes * d->node : 0;
  } else if (o->type == LJM_TYPE_THREAD) {
    n[0] = o->slots;
  }
  for (i = 0; i < 2; i++) {
    if (!n[i] || n[i] > rest)
      continue;
    dump_block(d, id, o->block[i], n[i], 0);
    rest -= n[i];
  }
  if (rest)
    dump_block(d, id, base, rest, 1);
}

/* A buffer of the object before, whose size has it. */
static void dump_buffer(void *ctx, uint64_t addr, uint64_t n)
{
  LpDump *d = ctx;
  LpDumpBlock *b = d->nblock ? &d->block[d->nblock - 1] : NULL;
  if (!b || !b->own || b->id != d->graph.open || n >= b->size)
    return;
  b->size -= n;
  dump_block(d, b->id, addr, n, 0);
}

/* An object was read: its references follow. */
static void dump_object(void *ctx, const LpObject *o)
{
  LpDump *d = ctx;
  unsigned flags = o->garbage ? LP_NODE_GARBAGE : 0;
  uint32_t id;
  dump_blocks_end(d);
  if (o->type == LJM_TYPE_STRING && (o->flags & LJM_STRING_FIXED))
    flags |= LP_NODE_FIXED;
  if (o->type == LJM_TYPE_TABLE && o->slots == o->empty && o->nodes == o->free)
    flags |= LP_NODE_EMPTY;
  id = lp_graph_object(&d->graph, o->addr, o->type, o->size, flags);
  if (id == LP_NONE)
    return;
  d->type[o->type].objects++;
  d->type[o->type].bytes += o->size;
  d->garbage.objects += o->garbage != 0;
  d->garbage.bytes += o->garbage ? o->size : 0;
  if (d->blocks || d->pages.n)
    dump_blocks(d, id, o);
  if (o->type == LJM_TYPE_STRING)
    lp_graph_text(&d->graph, o->text.s, o->text.n);
  else if (o->type == LJM_TYPE_PROTO)
    dump_proto(d, id, o);
  else if (o->type == LJM_TYPE_TABLE)
    dump_table(d, id, o);
  else if (o->type == LJM_TYPE_CDATA ||
           (o->type == LJM_TYPE_FUNCTION && (o->flags & LJM_FUNC_C)))
    lp_idmap_put(&d->number, id, (uint32_t)o->number);
}

/* References of an object that was read before follow. */
static void dump_resume(void *ctx, uint64_t addr)
{
  LpDump *d = ctx;
  lp_graph_resume(&d->graph, addr);
}

/* -- References ------------------------------------------------------------ */

/* Is a weak reference to an object one that the collector clears? Strings are
** values: they are kept.
*/
static int dump_clears(LpDump *d, uint64_t addr)
{
  uint32_t id = lp_graph_id(&d->graph, addr);
  return id != LP_NONE && d->graph.type[id] != LJM_TYPE_STRING;
}

/* A reference of a table, which is WEAK or not. */
static void dump_slot(LpDump *d, int weak, LpEdgeKind kind, uint64_t detail,
                      uint64_t addr)
{
  LpGraph *g = &d->graph;
  uint32_t to;
  if (!weak || !dump_clears(d, addr)) {
    lp_graph_edge(g, kind, detail, addr);
    return;
  }
  to = lp_graph_id(g, addr);
  if (g->open == LP_NONE || to == LP_NONE)
    return;
  d->weak = lp_grow(d->weak, &d->capweak, d->nweak + 1, sizeof(*d->weak));
  detail = detail < LP_EDGE_MANY ? detail : LP_EDGE_MANY;
  d->weak[d->nweak++] =
      (LpWeak){g->open, {to, (uint32_t)kind << 28 | (uint32_t)detail}};
}

/* Keys without an object that are shown; beyond, they have no name. */
#define KEYS_MOST 4096

/* The name of a key that is neither an object nor a whole number, plus 1; or 0.
** Modules in C use addresses of their own as keys of the registry.
*/
static uint32_t dump_keyname(LpDump *d, const LpRef *r)
{
  char text[48];
  double number;
  if (d->nkeys == KEYS_MOST)
    return 0;
  if (r->key == LJM_VALUE_LIGHT) {
    snprintf(text, sizeof(text), "userdata: 0x%" PRIx64, r->from);
  } else if (r->key == LJM_VALUE_NUMBER) {
    memcpy(&number, &r->from, sizeof(number));
    snprintf(text, sizeof(text), "%.14g", number);
  } else if (r->key == LJM_VALUE_TRUE || r->key == LJM_VALUE_FALSE) {
    snprintf(text, sizeof(text), "%s",
             r->key == LJM_VALUE_TRUE ? "true" : "false");
  } else {
    return 0;
  }
  d->nkeys++;
  return lp_graph_name(&d->graph, text, strlen(text)) + 1;
}

/* The next reference is one to a string, of a table that is weak in
** both ways.
*/
static void dump_weak_string(LpDump *d, uint64_t key, uint64_t value)
{
  LpGraph *g = &d->graph;
  if (g->open == LP_NONE || !dump_clears(d, key) || dump_clears(d, value))
    return;
  d->string =
      lp_grow(d->string, &d->capstring, d->nstring + 1, sizeof(*d->string));
  d->string[d->nstring++] = (LpWeakString){g->open, lp_graph_id(g, key),
                                           lp_graph_id(g, value), g->nedge};
}

/* A key and its value. All strings come before what refers to them. */
static void dump_node(LpDump *d, const LpRef *r)
{
  int keyref = r->key == LJM_VALUE_REF;
  int weak = (r->number & LJM_TABLE_WEAKVALUE) != 0;
  if (r->value == LJM_VALUE_NONE) /* A free slot does not keep its key. */
    return;
  if (keyref)
    dump_slot(d, (r->number & LJM_TABLE_WEAKKEY) != 0, LP_EDGE_KEY, 0, r->from);
  if (r->value != LJM_VALUE_REF)
    return;
  if (keyref && weak && (r->number & LJM_TABLE_WEAKKEY))
    dump_weak_string(d, r->from, r->to);
  if (keyref)
    dump_slot(d, weak, LP_EDGE_FIELD, lp_graph_id(&d->graph, r->from), r->to);
  else if (r->key == LJM_VALUE_INT)
    dump_slot(d, weak, LP_EDGE_ITEM, r->from, r->to);
  else
    dump_slot(d, weak, LP_EDGE_VALUE, dump_keyname(d, r), r->to);
}

/* The name of the next upvalue of the prototype before, unless that was there
** already.
*/
static void dump_uvname(LpDump *d, const LpRef *r)
{
  if (d->graph.open == LP_NONE || !d->nproto)
    return;
  d->uvname =
      lp_grow(d->uvname, &d->capuvname, d->nuvname + 1, sizeof(*d->uvname));
  d->uvname[d->nuvname++] = dump_name(d, r->name);
  d->proto[d->nproto - 1].nuv++;
}

/* A reference of the object that was read last. */
static void dump_ref(void *ctx, const LpRef *r)
{
  static const LpEdgeKind kinds[] = {
      [LP_REF_META] = LP_EDGE_META,         [LP_REF_ENV] = LP_EDGE_ENV,
      [LP_REF_PROTO] = LP_EDGE_PROTO,       [LP_REF_UPVALUE] = LP_EDGE_UPVALUE,
      [LP_REF_CONTENT] = LP_EDGE_CONTENT,   [LP_REF_ARRAY] = LP_EDGE_ITEM,
      [LP_REF_CONSTANT] = LP_EDGE_CONSTANT, [LP_REF_SLOT] = LP_EDGE_SLOT,
      [LP_REF_LINK] = LP_EDGE_LINK,         [LP_REF_FRAME] = LP_EDGE_FRAME,
  };
  LpDump *d = ctx;
  if (r->kind == LP_REF_NODE)
    dump_node(d, r);
  else if (r->kind == LP_REF_UPVALUE && !r->to)
    dump_uvname(d, r);
  else if (r->kind == LP_REF_SLOT && r->name.n)
    lp_graph_edge(&d->graph, LP_EDGE_LOCAL, dump_name(d, r->name), r->to);
  else if (r->kind == LP_REF_LINK)
    lp_graph_edge(&d->graph, LP_EDGE_LINK, dump_name(d, r->name), r->to);
  else
    lp_graph_edge(&d->graph, kinds[r->kind], r->number, r->to);
}

/* -- Records --------------------------------------------------------------- */

/* A fact of the dump as a whole. */
static void dump_meta(void *ctx, const LpMeta *m)
{
  LpDump *d = ctx;
  LpDumpOrigin *o = &d->origin;
  if (lp_meta_is(m, "dump"))
    o->id = m->u;
  else if (lp_meta_is(m, "recording"))
    o->recording = m->u;
  else if (lp_meta_is(m, "pid"))
    o->pid = m->u;
  else if (lp_meta_is(m, "process_start"))
    o->process_start = m->u;
  else if (lp_meta_is(m, "realtime"))
    o->realtime = m->u;
  else if (lp_meta_is(m, "rss"))
    d->rss = m->u;
  else if (lp_meta_is(m, "swap"))
    d->swap = m->u;
  else if (lp_meta_is(m, "malloc_used"))
    d->malloced = m->u;
  else if (lp_meta_is(m, "malloc_free"))
    d->mallocfree = m->u;
}

/* Pages of the VM, which come before its blocks. */
static void dump_mapped(void *ctx, const LpMapped *m)
{
  LpDump *d = ctx;
  if (m->kind == LJM_MAPPED_HEAP)
    lp_resident_add(&d->pages, m->addr, m->size, m->resident);
  else if (m->kind == LJM_MAPPED_CODE)
    lp_resident_add(&d->code, m->addr, m->size, m->resident);
}

/* A root of the collector. */
static void dump_root(void *ctx, const LpHeapName *n)
{
  LpDump *d = ctx;
  uint32_t id = lp_graph_id(&d->graph, n->addr);
  if (id == LP_NONE)
    return;
  d->root = lp_grow(d->root, &d->caproot, d->nroot + 1, sizeof(*d->root));
  d->root[d->nroot++] =
      (LpEdge){id, (uint32_t)LP_EDGE_ROOT << 28 | dump_name(d, n->name)};
}

/* Memory of the VM that is no object. */
static void dump_part(void *ctx, const LpHeapName *n)
{
  LpDump *d = ctx;
  lp_resident_seal(&d->pages);
  dump_presence(d, LP_NONE, n->addr, n->size);
  d->part = lp_grow(d->part, &d->cappart, d->npart + 1, sizeof(*d->part));
  d->part[d->npart++] = (LpDumpName){
      .name = dump_name(d, n->name), .size = n->size, .addr = n->addr};
}

/* A type of cdata. */
static void dump_ctype(void *ctx, const LpHeapName *n)
{
  LpDump *d = ctx;
  d->ctype = lp_grow(d->ctype, &d->capctype, d->nctype + 1, sizeof(*d->ctype));
  d->ctype[d->nctype] = (LpDumpName){
      .name = dump_name(d, n->name), .size = n->size, .info = n->info};
  lp_idmap_put(&d->ctypes, n->addr, (uint32_t)d->nctype++);
}

/* What the code that defines a prototype calls its function. */
static void dump_defined(void *ctx, const LpHeapName *n)
{
  LpDump *d = ctx;
  uint32_t id = lp_graph_id(&d->graph, n->addr);
  if (id != LP_NONE)
    lp_idmap_put(&d->defined, id, dump_name(d, n->name));
}

/* An object that the VM may have been making. */
static void dump_making(void *ctx, uint64_t addr)
{
  LpDump *d = ctx;
  uint32_t id = lp_graph_id(&d->graph, addr);
  if (id == LP_NONE)
    return;
  d->made = lp_grow(d->made, &d->capmade, d->nmade + 1, sizeof(*d->made));
  d->made[d->nmade++] = id;
}

/* The last record: what the recorder has counted. */
static void dump_end(void *ctx, const LpHeapEnd *e)
{
  LpDump *d = ctx;
  d->end = *e;
  d->ended = 1;
}

/* -- Begin and end --------------------------------------------------------- */

void lp_dump_open(LpDump *d, LpHeapSink *sink)
{
  memset(d, 0, sizeof(*d));
  lp_graph_open(&d->graph);
  d->value = 8;
  d->node = 24;
  *sink = (LpHeapSink){.ctx = d,
                       .meta = dump_meta,
                       .root = dump_root,
                       .part = dump_part,
                       .ctype = dump_ctype,
                       .defined = dump_defined,
                       .mapped = dump_mapped,
                       .making = dump_making,
                       .object = dump_object,
                       .resume = dump_resume,
                       .ref = dump_ref,
                       .buffer = dump_buffer,
                       .end = dump_end};
}

int lp_dump_isroot(const LpDump *d, const LpEdge *root, const char *name)
{
  size_t n;
  const char *s = lp_intern_get(&d->graph.names, lp_edge_detail(root), &n);
  return n == strlen(name) && memcmp(s, name, n) == 0;
}

/* Of two paths of the same length, the one whose root comes first is found. */
static void dump_order(LpDump *d)
{
  size_t i, first = 0;
  for (i = 0; i < d->nroot; i++) {
    if (lp_dump_isroot(d, &d->root[i], "_G") ||
        lp_dump_isroot(d, &d->root[i], "registry")) {
      LpEdge e = d->root[first];
      d->root[first++] = d->root[i];
      d->root[i] = e;
    }
  }
}

void lp_dump_seal(LpDump *d)
{
  LpGraph *g = &d->graph;
  size_t i;
  dump_blocks_end(d);
  lp_resident_seal(&d->code);
  for (i = 0; i < g->n; i++) {
    if (!(g->flags[i] & LP_NODE_FIXED))
      continue;
    d->root = lp_grow(d->root, &d->caproot, d->nroot + 1, sizeof(*d->root));
    d->root[d->nroot++] =
        (LpEdge){(uint32_t)i,
                 (uint32_t)LP_EDGE_ROOT << 28 | lp_graph_name(g, "the VM", 6)};
  }
  dump_order(d);
  lp_graph_seal(g, d->root, d->nroot);
  lp_weak_strings(g, d->string, d->nstring);
}

int lp_dump_verify(const LpDump *d, LpDamage *damage)
{
  const LpHeapEnd *e = &d->end;
  uint64_t objects = 0, bytes = 0, parts = 0;
  size_t i;
  for (i = 0; i < sizeof(d->type) / sizeof(d->type[0]); i++) {
    objects += d->type[i].objects;
    bytes += d->type[i].bytes;
  }
  for (i = 0; i < d->npart; i++)
    parts += d->part[i].size;
  if (!d->ended ||
      (e->objects == objects && e->bytes == bytes && e->parts == parts &&
       e->total == bytes + parts + (uint64_t)e->making))
    return 1;
  *damage = lp_damage_of(LP_ODD, 0,
                         "the dump's sums are %" PRIu64 " objects, %" PRIu64
                         " + %" PRIu64 " bytes, but %" PRIu64 ", %" PRIu64
                         " + %" PRIu64 " were read",
                         e->objects, e->bytes, e->parts, objects, bytes, parts);
  return 0;
}

uint64_t lp_dump_missing(const LpDump *d, int *least)
{
  uint64_t there = 0, mentioned = d->graph.n - 1;
  size_t i;
  for (i = 0; i < sizeof(d->type) / sizeof(d->type[0]); i++)
    there += d->type[i].objects;
  *least = !d->ended;
  if (d->ended)
    return d->end.objects > there ? d->end.objects - there : 0;
  return mentioned > there ? mentioned - there : 0;
}

void lp_dump_close(LpDump *d)
{
  lp_graph_close(&d->graph);
  lp_idmap_free(&d->protos);
  lp_idmap_free(&d->defined);
  lp_idmap_free(&d->ctypes);
  lp_idmap_free(&d->number);
  free(d->proto);
  free(d->uvname);
  free(d->part);
  free(d->ctype);
  free(d->sparse);
  free(d->weak);
  free(d->weaktable);
  free(d->string);
  free(d->root);
  free(d->made);
  free(d->block);
  free(d->absent);
  lp_resident_free(&d->pages);
  lp_resident_free(&d->code);
  memset(d, 0, sizeof(*d));
}

const LpProto *lp_dump_proto(const LpDump *d, uint32_t id)
{
  uint32_t n = lp_idmap_get(&d->protos, id);
  return n == LP_NONE ? NULL : &d->proto[n];
}

uint32_t lp_dump_link(const LpDump *d, uint32_t id, LpEdgeKind kind)
{
  const LpEdge *e = lp_graph_first(&d->graph, id);
  for (; e; e = lp_graph_next(e))
    if (lp_edge_kind(e) == kind)
      return lp_edge_to(e);
  return LP_NONE;
}

uint32_t lp_dump_field(const LpDump *d, uint32_t id, const char *key)
{
  const LpEdge *e = lp_graph_first(&d->graph, id);
  for (; e; e = lp_graph_next(e)) {
    size_t n;
    const char *s = lp_edge_kind(e) == LP_EDGE_FIELD
                        ? lp_graph_textof(&d->graph, lp_edge_detail(e), &n)
                        : NULL;
    if (s && n == strlen(key) && memcmp(s, key, n) == 0)
      return lp_edge_to(e);
  }
  return LP_NONE;
}

uint32_t lp_dump_modules(const LpDump *d)
{
  size_t i;
  for (i = 0; i < d->nroot; i++)
    if (lp_dump_isroot(d, &d->root[i], "registry"))
      return lp_dump_field(d, lp_edge_to(&d->root[i]), "_LOADED");
  return LP_NONE;
}

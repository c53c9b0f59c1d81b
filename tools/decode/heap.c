/*
** Decodes the items in a block of a heap dump: objects and their references.
*/

#include <string.h>

#include "heap.h"
#include "leb.h"

/* -- Fields ---------------------------------------------------------------- */

/* An address, as a difference to another one. */
static uint64_t heap_near(LpCursor *c, uint64_t from)
{
  return from + ljm_unzigzag(lp_cursor_uleb(c));
}

/* The address of the block that belongs to the object before. */
static uint64_t heap_block(const LpHeapItems *it, LpCursor *c)
{
  return ljm_unturn(heap_near(c, it->addr));
}

/* A reference, or 0. */
static uint64_t heap_ref(LpHeapItems *it, LpCursor *c)
{
  uint64_t v = lp_cursor_uleb(c);
  if (v == 0)
    return 0;
  v--;
  if (v & 1) {
    it->ref = it->cache[v >> 1 & (LJM_REF_CACHE - 1)];
    c->bad |= v >> 1 >= LJM_REF_CACHE;
  } else {
    /* Strings of 32 bit VMs may lie at multiples of 4, which turned differ by
    ** 2^63 from others: the highest bit was lost, and is that below it.
    */
    it->ref += ljm_unzigzag((uint64_t)((int64_t)v >> 1));
    it->cache[ljm_ref_slot(it->ref)] = it->ref;
  }
  return ljm_unturn(it->ref);
}

/* A byte, or 0 at the end. */
static unsigned heap_byte(LpCursor *c)
{
  const uint8_t *p = lp_cursor_bytes(c, 1);
  return p ? *p : 0;
}

/* Passes on a reference to an object, if there is one. */
static void heap_give(LpHeapItems *it, LpCursor *c, LpRefKind kind,
                      uint64_t number)
{
  LpRef r = {.kind = kind, .number = number, .to = heap_ref(it, c)};
  if (r.to && !c->bad)
    it->sink->ref(it->sink->ctx, &r);
}

/* -- Objects --------------------------------------------------------------- */

/* The chunk of a prototype, which may be that of the one before. */
static void heap_chunk(LpHeapItems *it, LpCursor *c, LpObject *o)
{
  if (!(o->flags & LJM_PROTO_SAMECHUNK)) {
    LpStr s = lp_cursor_str(c);
    it->nchunk = s.n < sizeof(it->chunk) ? s.n : sizeof(it->chunk);
    if (s.s)
      memcpy(it->chunk, s.s, it->nchunk);
  }
  o->text = (LpStr){it->chunk, it->nchunk};
}

/* A table's own fields. *MT is its metatable, or 0. */
static void heap_table(LpHeapItems *it, LpCursor *c, LpObject *o, uint64_t *mt)
{
  unsigned attributes = heap_byte(c);
  o->weak = it->weak = attributes & (LJM_TABLE_WEAKKEY | LJM_TABLE_WEAKVALUE);
  *mt = attributes & LJM_TABLE_META ? heap_ref(it, c) : 0;
  if (o->flags & LJM_TABLE_ARRAY) {
    o->slots = lp_cursor_uleb(c);
    o->empty = lp_cursor_uleb(c);
    if (attributes & LJM_TABLE_SEPARATE)
      o->block[0] = heap_block(it, c);
  }
  if (o->flags & LJM_TABLE_HASH) {
    o->nodes = lp_cursor_uleb(c);
    o->free = lp_cursor_uleb(c);
    o->block[1] = heap_block(it, c);
  }
}

/* The fields of an object that come before its references. References among
** them come in the order of the stream, and are given to the sink behind the
** object.
*/
static void heap_fields(LpHeapItems *it, LpCursor *c, LpObject *o)
{
  switch (o->type) {
  case LJM_TYPE_STRING: {
    uint64_t n;
    o->length = lp_cursor_uleb(c);
    n = o->length < it->strings ? o->length : it->strings;
    o->text.s = (const char *)lp_cursor_bytes(c, n);
    o->text.n = o->text.s ? (size_t)n : 0;
    break;
  }
  case LJM_TYPE_UPVALUE:
    if (o->flags & LJM_UPVALUE_OPEN)
      o->block[0] = heap_block(it, c);
    break;
  case LJM_TYPE_THREAD:
    o->number = lp_cursor_uleb(c);
    o->block[0] = heap_block(it, c);
    o->slots = lp_cursor_uleb(c);
    break;
  case LJM_TYPE_PROTO:
    o->line = lp_cursor_uleb(c);
    o->lines = lp_cursor_uleb(c);
    o->stripped = lp_cursor_uleb(c) == 0;
    heap_chunk(it, c, o);
    break;
  case LJM_TYPE_FUNCTION:
    if (o->flags & LJM_FUNC_C) {
      o->number = lp_cursor_uleb(c);
      o->code = lp_cursor_uleb(c);
    }
    break;
  case LJM_TYPE_TRACE:
    o->number = lp_cursor_uleb(c);
    lp_cursor_uleb(c); /* Its root trace. */
    break;
  case LJM_TYPE_CDATA:
    if (o->flags & LJM_CDATA_BASE)
      o->block[0] = heap_block(it, c);
    o->number = lp_cursor_uleb(c);
    break;
  case LJM_TYPE_USERDATA:
    o->number = lp_cursor_uleb(c);
    break;
  default:
    c->bad = 1;
    break;
  }
}

/* The names of a prototype's upvalues. */
static void heap_uvnames(LpHeapItems *it, LpCursor *c)
{
  uint64_t n = lp_cursor_uleb(c), i;
  for (i = 0; i < n && !c->bad; i++) {
    LpRef r = {.kind = LP_REF_UPVALUE, .number = i, .name = lp_cursor_str(c)};
    if (!c->bad)
      it->sink->ref(it->sink->ctx, &r);
  }
}

/* References that are of an object's fields. */
static void heap_refs(LpHeapItems *it, LpCursor *c, LpObject *o)
{
  uint64_t n, i;
  switch (o->type) {
  case LJM_TYPE_UPVALUE:
    if (o->flags & LJM_UPVALUE_REF)
      heap_give(it, c, LP_REF_CONTENT, 0);
    break;
  case LJM_TYPE_THREAD:
    heap_give(it, c, LP_REF_ENV, 0);
    break;
  case LJM_TYPE_PROTO:
    heap_uvnames(it, c);
    break;
  case LJM_TYPE_FUNCTION:
    if (!(o->flags & LJM_FUNC_C))
      heap_give(it, c, LP_REF_PROTO, 0);
    heap_give(it, c, LP_REF_ENV, 0);
    n = lp_cursor_uleb(c);
    for (i = 0; i < n && !c->bad; i++)
      heap_give(it, c, LP_REF_UPVALUE, i);
    break;
  case LJM_TYPE_USERDATA:
    heap_give(it, c, LP_REF_ENV, 0);
    if (o->flags & LJM_UDATA_META)
      heap_give(it, c, LP_REF_META, 0);
    if (o->flags & LJM_UDATA_BUFFER) {
      uint64_t addr;
      n = lp_cursor_uleb(c);
      addr = heap_block(it, c);
      if (!c->bad)
        it->sink->buffer(it->sink->ctx, addr, n);
    }
    break;
  default:
    break;
  }
}

/* An object, whose parts follow. */
static void heap_object(LpHeapItems *it, LpCursor *c, unsigned first)
{
  LpObject o = {.type = LJM_HEAP_TYPE(first),
                .flags = LJM_HEAP_FLAGS(first),
                .garbage = (first & LJM_KIND_MASK) == LJM_HEAP_GARBAGE};
  uint64_t mt = 0;
  it->addr = it->ref = heap_near(c, it->addr);
  it->size[o.type] = heap_near(c, it->size[o.type]);
  it->next = 0;
  it->weak = 0;
  o.addr = ljm_unturn(it->addr);
  o.size = it->size[o.type];
  if (o.type == LJM_TYPE_TABLE)
    heap_table(it, c, &o, &mt);
  else
    heap_fields(it, c, &o);
  if (c->bad)
    return;
  it->objects++;
  it->sink->object(it->sink->ctx, &o);
  if (mt) {
    LpRef r = {.kind = LP_REF_META, .to = mt};
    it->sink->ref(it->sink->ctx, &r);
  }
  heap_refs(it, c, &o);
}

/* -- Parts of objects ------------------------------------------------------ */

/* A key and its value in a table. */
static void heap_node(LpHeapItems *it, LpCursor *c)
{
  unsigned tags = heap_byte(c);
  LpRef r = {.kind = LP_REF_NODE, .key = tags & 15, .value = tags >> 4};
  if (r.key == LJM_VALUE_REF)
    r.from = heap_ref(it, c);
  else if (r.key == LJM_VALUE_INT)
    r.from = ljm_unzigzag(lp_cursor_uleb(c));
  else if (r.key == LJM_VALUE_NUMBER || r.key == LJM_VALUE_LIGHT)
    r.from = lp_cursor_uleb(c);
  if (r.value == LJM_VALUE_REF)
    r.to = heap_ref(it, c);
  r.number = it->weak;
  if (!c->bad)
    it->sink->ref(it->sink->ctx, &r);
}

/* A slot of an array. Of a weak table it is a key and a value: what that keeps
** depends on the value.
*/
static void heap_array(LpHeapItems *it, LpCursor *c, unsigned gap)
{
  LpRef r = {.kind = LP_REF_ARRAY};
  it->next += gap ? lp_cursor_uleb(c) : 0;
  r.number = it->next++;
  if (it->weak & LJM_TABLE_WEAKVALUE)
    r = (LpRef){.kind = LP_REF_NODE,
                .number = it->weak,
                .key = LJM_VALUE_INT,
                .value = LJM_VALUE_REF,
                .from = r.number};
  r.to = heap_ref(it, c);
  if (r.to && !c->bad)
    it->sink->ref(it->sink->ctx, &r);
}

/* A slot of a stack, or a local variable with its name. */
static void heap_slot(LpHeapItems *it, LpCursor *c, unsigned named)
{
  LpRef r = {.kind = LP_REF_SLOT, .number = lp_cursor_uleb(c)};
  if (named)
    r.name = lp_cursor_str(c);
  r.to = heap_ref(it, c);
  if (r.to && !c->bad)
    it->sink->ref(it->sink->ctx, &r);
}

/* A part of the object before. */
static void heap_part(LpHeapItems *it, LpCursor *c, unsigned first)
{
  unsigned flags = LJM_HEAP_FLAGS(first);
  LpRef r = {.kind = LP_REF_LINK};
  switch (LJM_HEAP_TYPE(first)) {
  case LJM_PART_OWNER:
    it->addr = it->ref = lp_cursor_uleb(c);
    it->weak = flags;
    if (!c->bad)
      it->sink->resume(it->sink->ctx, ljm_unturn(it->addr));
    break;
  case LJM_PART_ARRAY:
    heap_array(it, c, flags & LJM_PART_GAP);
    break;
  case LJM_PART_NODE:
    heap_node(it, c);
    break;
  case LJM_PART_CONST:
    heap_give(it, c, LP_REF_CONSTANT, 0);
    break;
  case LJM_PART_FRAME: {
    uint64_t line = lp_cursor_uleb(c);
    heap_give(it, c, LP_REF_FRAME, line);
    break;
  }
  case LJM_PART_SLOT:
    heap_slot(it, c, flags & LJM_PART_NAMED);
    break;
  case LJM_PART_LINK:
    r.name = lp_cursor_str(c);
    r.to = heap_ref(it, c);
    if (r.to && !c->bad)
      it->sink->ref(it->sink->ctx, &r);
    break;
  default:
    c->bad = 1;
    break;
  }
}

/* -- Records --------------------------------------------------------------- */

/* Facts of the dump as a whole. */
static void heap_meta(LpHeapItems *it, LpCursor *c)
{
  while (c->p < c->end && !c->bad) {
    LpMeta m = {.key = lp_cursor_str(c)};
    m.tag = (uint8_t)heap_byte(c);
    if (m.tag == LJM_META_UINT)
      m.u = lp_cursor_uleb(c);
    else if (m.tag == LJM_META_STRING)
      m.s = lp_cursor_str(c);
    else
      return;
    if (c->bad)
      return;
    if (lp_meta_is(&m, "strings"))
      it->strings = m.u;
    it->sink->meta(it->sink->ctx, &m);
  }
}

/* What the recorder has counted. */
static void heap_end(LpHeapItems *it, LpCursor *c)
{
  LpHeapEnd e = {.flags = lp_cursor_uleb(c)};
  e.objects = lp_cursor_uleb(c);
  e.bytes = lp_cursor_uleb(c);
  e.garbage = lp_cursor_uleb(c);
  e.parts = lp_cursor_uleb(c);
  e.total = lp_cursor_uleb(c);
  e.making = (int64_t)ljm_unzigzag(lp_cursor_uleb(c));
  e.phase = lp_cursor_uleb(c);
  e.ns = lp_cursor_uleb(c);
  if (c->bad)
    return;
  it->ended = 1;
  it->sink->end(it->sink->ctx, &e);
}

/* Objects that the VM may have been making. */
static void heap_making(LpHeapItems *it, LpCursor *c)
{
  while (c->p < c->end && !c->bad) {
    uint64_t addr = lp_cursor_uleb(c);
    if (!c->bad)
      it->sink->making(it->sink->ctx, addr);
  }
}

/* Runs of pages, of which every second one is not resident. */
static void heap_mapped(LpHeapItems *it, LpCursor *c)
{
  LpMapped m = {.kind = lp_cursor_uleb(c)};
  uint64_t page;
  m.addr = lp_cursor_uleb(c);
  page = lp_cursor_uleb(c);
  for (m.resident = 1; c->p < c->end; m.resident = !m.resident) {
    uint64_t pages = lp_cursor_uleb(c);
    if (__builtin_mul_overflow(pages, page, &m.size))
      m.size = UINT64_MAX;
    if (c->bad)
      return;
    if (m.size)
      it->sink->mapped(it->sink->ctx, &m);
    m.addr = lp_sat_add(m.addr, m.size);
  }
}

/* What has a name. */
static void heap_named(LpHeapItems *it, LpCursor *c, unsigned code)
{
  const LpHeapSink *s = it->sink;
  LpHeapName n = {.addr = lp_cursor_uleb(c)};
  if (code == LJM_REC_CTYPE)
    n.info = lp_cursor_uleb(c);
  if (code == LJM_REC_CTYPE || code == LJM_REC_PART)
    n.size = lp_cursor_uleb(c);
  n.name = lp_cursor_str(c);
  if (!c->bad)
    (code == LJM_REC_ROOT    ? s->root
     : code == LJM_REC_PART  ? s->part
     : code == LJM_REC_CTYPE ? s->ctype
                             : s->defined)(s->ctx, &n);
}

/* A record that is too short for its fields is skipped. */
static void heap_record(LpHeapItems *it, LpCursor *c, unsigned code)
{
  switch (code) {
  case LJM_REC_META:
    heap_meta(it, c);
    break;
  case LJM_REC_HEAPEND:
    heap_end(it, c);
    break;
  case LJM_REC_MAKING:
    heap_making(it, c);
    break;
  case LJM_REC_MAPPED:
    heap_mapped(it, c);
    break;
  case LJM_REC_ROOT:
  case LJM_REC_PART:
  case LJM_REC_CTYPE:
  case LJM_REC_DEFINED:
    heap_named(it, c, code);
    break;
  default:
    break;
  }
}

/* -- Blocks ---------------------------------------------------------------- */

/* An object, a part of one, or a record. */
static void heap_item(LpHeapItems *it, LpCursor *c)
{
  unsigned first = heap_byte(c);
  if ((first & LJM_KIND_MASK) == LJM_RECORD) {
    uint64_t n = lp_cursor_uleb(c);
    const uint8_t *p = lp_cursor_bytes(c, n);
    if (p) {
      LpCursor in = {p, p + n, 0};
      heap_record(it, &in, LJM_RECORD_CODE(first));
    }
  } else if ((first & LJM_KIND_MASK) == LJM_HEAP_PART) {
    heap_part(it, c, first);
  } else {
    heap_object(it, c, first);
  }
}

size_t lp_heap_block(LpHeapItems *it, const uint8_t *p, size_t n)
{
  LpCursor c = {p, p + n, 0};
  const uint8_t *at = p;
  it->addr = it->ref = it->next = 0;
  it->weak = 0;
  it->nchunk = 0;
  memset(it->size, 0, sizeof(it->size));
  memset(it->cache, 0, sizeof(it->cache));
  while (c.p < c.end && !it->ended) {
    at = c.p;
    heap_item(it, &c);
    if (c.bad) {
      it->bad = "an object or a part of one";
      return (size_t)(at - p);
    }
  }
  return n;
}

/*
** Heap dumps made by hand, for tests.
*/

#include <string.h>

#include "craft_heap.h"

/* -- Fields ---------------------------------------------------------------- */

/* An address turned right by three bits. */
static uint64_t heap_turned(uint64_t addr)
{
  return addr >> 3 | addr << 61;
}

static void heap_sleb(CraftHeap *h, uint64_t d)
{
  craft_uleb(&h->c.block, d << 1 ^ (d >> 63 ? UINT64_MAX : 0));
}

static void heap_uleb(CraftHeap *h, uint64_t v)
{
  craft_uleb(&h->c.block, v);
}

/* A further block of the object. */
static void heap_near(CraftHeap *h, uint64_t addr)
{
  heap_sleb(h, heap_turned(addr) - h->addr);
}

static void heap_ref(CraftHeap *h, uint64_t addr)
{
  uint64_t turned = heap_turned(addr), d = turned - h->ref;
  unsigned place = (unsigned)((turned * 0x9e3779b97f4a7c15u) >> 56);
  if (!addr) {
    heap_uleb(h, 0);
    return;
  }
  if (h->cache[place] == turned)
    heap_uleb(h, 1 + (place << 1 | 1));
  else
    heap_uleb(h, 1 + ((d << 1 ^ (d >> 63 ? UINT64_MAX : 0)) << 1));
  h->cache[place] = h->ref = turned;
}

static void heap_begin(CraftHeap *h, unsigned type, unsigned flags,
                       uint64_t addr, uint64_t size)
{
  uint64_t turned = heap_turned(addr);
  craft_byte(&h->c.block, (h->dead ? 3u : 1u) | flags << 2 | type << 4);
  heap_sleb(h, turned - h->addr);
  heap_sleb(h, size - h->size[type]);
  h->addr = h->ref = turned;
  h->size[type] = size;
  h->c.fresh++;
  h->objects++;
  h->bytes += size;
  h->garbage += h->dead ? size : 0;
}

static void heap_partof(CraftHeap *h, unsigned kind, unsigned flags)
{
  craft_byte(&h->c.block, 2u | flags << 2 | kind << 4);
}

/* -- The frame ------------------------------------------------------------- */

void craft_heap_open(CraftHeap *h, uint64_t strings)
{
  LpBuf b = {0};
  memset(h, 0, sizeof(*h));
  craft_open(&h->c, 0x7f0000000000);
  h->c.out.s[h->c.out.n - 5] = 'd';
  h->strings = strings;
  craft_str(&b, "producer");
  craft_byte(&b, LJM_META_STRING);
  craft_str(&b, "craft");
  craft_str(&b, "strings");
  craft_byte(&b, LJM_META_UINT);
  craft_uleb(&b, strings);
  craft_record(&h->c, LJM_REC_META, b.s, b.n);
  lp_buf_free(&b);
}

void craft_heap_flush(CraftHeap *h)
{
  craft_flush(&h->c);
  h->addr = h->ref = 0;
  memset(h->size, 0, sizeof(h->size));
  memset(h->cache, 0, sizeof(h->cache));
}

void craft_heap_end(CraftHeap *h)
{
  LpBuf b = {0};
  craft_uleb(&b, h->flags);
  craft_uleb(&b, h->objects);
  craft_uleb(&b, h->bytes);
  craft_uleb(&b, h->garbage);
  craft_uleb(&b, h->parts);
  craft_uleb(&b, h->bytes + h->parts + (uint64_t)h->making);
  craft_uleb(&b, (uint64_t)h->making << 1 ^ (h->making < 0 ? UINT64_MAX : 0));
  craft_uleb(&b, 0);
  craft_uleb(&b, 1000);
  craft_record(&h->c, 21, b.s, b.n);
  lp_buf_free(&b);
  craft_heap_flush(h);
}

static void heap_record(CraftHeap *h, unsigned code, const uint64_t *v,
                        size_t n, const char *name)
{
  LpBuf b = {0};
  while (n--)
    craft_uleb(&b, *v++);
  craft_str(&b, name);
  craft_record(&h->c, code, b.s, b.n);
  lp_buf_free(&b);
}

void craft_heap_root(CraftHeap *h, uint64_t addr, const char *name)
{
  heap_record(h, 18, &addr, 1, name);
}

void craft_heap_making(CraftHeap *h, uint64_t addr)
{
  LpBuf b = {0};
  craft_uleb(&b, addr);
  craft_record(&h->c, 23, b.s, b.n);
  lp_buf_free(&b);
}

void craft_heap_defined(CraftHeap *h, uint64_t addr, const char *name)
{
  heap_record(h, 24, &addr, 1, name);
}

/* Two facts. */
static void heap_facts(CraftHeap *h, const char *one, uint64_t first,
                       const char *two, uint64_t second)
{
  LpBuf b = {0};
  craft_str(&b, one);
  craft_byte(&b, LJM_META_UINT);
  craft_uleb(&b, first);
  craft_str(&b, two);
  craft_byte(&b, LJM_META_UINT);
  craft_uleb(&b, second);
  craft_record(&h->c, LJM_REC_META, b.s, b.n);
  lp_buf_free(&b);
}

void craft_heap_process(CraftHeap *h, uint64_t rss, uint64_t swap)
{
  heap_facts(h, "rss", rss, "swap", swap);
}

void craft_heap_origin(CraftHeap *h, uint64_t pid, uint64_t start)
{
  heap_facts(h, "pid", pid, "process_start", start);
}

void craft_heap_mapped(CraftHeap *h, uint64_t kind, uint64_t addr,
                       const uint64_t *run, size_t n)
{
  LpBuf b = {0};
  craft_uleb(&b, kind);
  craft_uleb(&b, addr);
  craft_uleb(&b, 4096);
  while (n--)
    craft_uleb(&b, *run++);
  craft_record(&h->c, 25, b.s, b.n);
  lp_buf_free(&b);
}

void craft_heap_vmpart(CraftHeap *h, uint64_t size, const char *name)
{
  uint64_t v[] = {0x7f0000000000, size};
  heap_record(h, 19, v, 2, name);
  h->parts += size;
}

void craft_heap_ctype(CraftHeap *h, uint64_t id, uint64_t info, uint64_t size,
                      const char *name)
{
  uint64_t v[] = {id, info, size};
  heap_record(h, 20, v, 3, name);
}

void craft_heap_close(CraftHeap *h)
{
  craft_close(&h->c);
}

/* -- Objects --------------------------------------------------------------- */

void craft_string_of(CraftHeap *h, uint64_t addr, uint64_t size, unsigned flags,
                     uint64_t length, const char *s, size_t n)
{
  uint64_t most = length < h->strings ? length : h->strings;
  heap_begin(h, 4, flags | (most ? 1 : 0), addr, size);
  heap_uleb(h, length);
  lp_buf_add(&h->c.block, s, n < most ? n : (size_t)most);
}

void craft_string(CraftHeap *h, uint64_t addr, const char *s)
{
  size_t n = strlen(s);
  craft_string_of(h, addr, 24 + n, 0, n, s, n);
}

void craft_upvalue(CraftHeap *h, uint64_t addr, uint64_t slot, uint64_t to)
{
  heap_begin(h, 5, (slot ? 1u : 0) | (to ? 2u : 0), addr, 48);
  if (slot)
    heap_near(h, slot);
  if (to)
    heap_ref(h, to);
}

void craft_coroutine(CraftHeap *h, uint64_t addr, uint64_t size, uint64_t env)
{
  heap_begin(h, 6, 0, addr, size);
  heap_uleb(h, 0);
  heap_near(h, addr + 0x100000);
  heap_uleb(h, size / 2);
  heap_ref(h, env);
}

void craft_code(CraftHeap *h, uint64_t addr, const char *chunk, uint64_t line,
                const char *const *name, size_t n)
{
  heap_begin(h, 7, chunk ? 0 : 1, addr, 200);
  heap_uleb(h, line);
  heap_uleb(h, 3);
  heap_uleb(h, 1);
  if (chunk)
    craft_str(&h->c.block, chunk);
  heap_uleb(h, n);
  while (n--)
    craft_str(&h->c.block, *name++);
}

static void heap_upvalues(CraftHeap *h, const uint64_t *upvalue, size_t n)
{
  heap_uleb(h, n);
  while (n--)
    heap_ref(h, *upvalue++);
}

void craft_closure(CraftHeap *h, uint64_t addr, uint64_t proto, uint64_t env,
                   const uint64_t *upvalue, size_t n)
{
  heap_begin(h, 8, 0, addr, 40 + 8 * n);
  heap_ref(h, proto);
  heap_ref(h, env);
  heap_upvalues(h, upvalue, n);
}

void craft_cclosure(CraftHeap *h, uint64_t addr, uint64_t ffid, uint64_t code,
                    const uint64_t *upvalue, size_t n)
{
  heap_begin(h, 8, 1, addr, 48 + 8 * n);
  heap_uleb(h, ffid);
  heap_uleb(h, code);
  heap_ref(h, 0);
  heap_upvalues(h, upvalue, n);
}

void craft_jit(CraftHeap *h, uint64_t addr, uint64_t no)
{
  heap_begin(h, 9, 0, addr, 300);
  heap_uleb(h, no);
  heap_uleb(h, 0);
}

void craft_cdata(CraftHeap *h, uint64_t addr, uint64_t size, uint64_t base,
                 uint64_t ctype)
{
  heap_begin(h, 10, base ? 1 : 0, addr, size);
  if (base)
    heap_near(h, base);
  heap_uleb(h, ctype);
}

void craft_table_of(CraftHeap *h, const CraftTable *t)
{
  heap_begin(h, 11, (t->slots ? 1u : 0) | (t->nodes ? 2u : 0), t->addr,
             t->size);
  craft_byte(&h->c.block,
             t->weak | (t->meta ? 4u : 0) | (t->slots && t->array ? 8u : 0));
  if (t->meta)
    heap_ref(h, t->meta);
  if (t->slots) {
    heap_uleb(h, t->slots);
    heap_uleb(h, t->empty);
    if (t->array)
      heap_near(h, t->array);
  }
  if (t->nodes) {
    heap_uleb(h, t->nodes);
    heap_uleb(h, t->free);
    heap_near(h, t->addr + 0x200000);
  }
}

void craft_table(CraftHeap *h, uint64_t addr, uint64_t size)
{
  CraftTable t = {.addr = addr, .size = size, .slots = 4, .nodes = 4};
  craft_table_of(h, &t);
}

void craft_userdata(CraftHeap *h, uint64_t addr, uint64_t size, uint64_t env,
                    uint64_t meta, uint64_t buffer)
{
  heap_begin(h, 12, (meta ? 1u : 0) | (buffer ? 2u : 0), addr, size);
  heap_uleb(h, 0);
  heap_ref(h, env);
  if (meta)
    heap_ref(h, meta);
  if (buffer) {
    heap_uleb(h, 64);
    heap_near(h, buffer);
  }
}

/* -- Parts of the object before -------------------------------------------- */

void craft_owner(CraftHeap *h, uint64_t addr, unsigned weak)
{
  heap_partof(h, 0, weak);
  heap_uleb(h, h->addr = h->ref = heap_turned(addr));
}

void craft_item(CraftHeap *h, uint64_t gap, uint64_t to)
{
  heap_partof(h, 1, gap ? 1 : 0);
  if (gap)
    heap_uleb(h, gap);
  heap_ref(h, to);
}

void craft_node(CraftHeap *h, unsigned ktag, uint64_t key, unsigned vtag,
                uint64_t to)
{
  heap_partof(h, 2, 0);
  craft_byte(&h->c.block, ktag | vtag << 4);
  if (ktag == LJM_VALUE_REF)
    heap_ref(h, key);
  else if (ktag == LJM_VALUE_INT)
    heap_sleb(h, key);
  else if (ktag == LJM_VALUE_NUMBER || ktag == LJM_VALUE_LIGHT)
    heap_uleb(h, key);
  if (vtag == LJM_VALUE_REF)
    heap_ref(h, to);
}

void craft_field(CraftHeap *h, uint64_t key, uint64_t to)
{
  craft_node(h, LJM_VALUE_REF, key, LJM_VALUE_REF, to);
}

void craft_constant(CraftHeap *h, uint64_t to)
{
  heap_partof(h, 3, 0);
  heap_ref(h, to);
}

void craft_frame(CraftHeap *h, uint64_t line, uint64_t func)
{
  heap_partof(h, 4, 0);
  heap_uleb(h, line);
  heap_ref(h, func);
}

void craft_stackslot(CraftHeap *h, uint64_t slot, const char *name, uint64_t to)
{
  heap_partof(h, 5, name ? 1 : 0);
  heap_uleb(h, slot);
  if (name)
    craft_str(&h->c.block, name);
  heap_ref(h, to);
}

void craft_link(CraftHeap *h, const char *name, uint64_t to)
{
  heap_partof(h, 6, 0);
  craft_str(&h->c.block, name);
  heap_ref(h, to);
}

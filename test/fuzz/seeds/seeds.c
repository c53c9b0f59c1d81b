/*
** Writes the seed corpora: `seeds DIR` fills DIR/stream, DIR/blocks,
** DIR/samples, DIR/heap, DIR/ladder, DIR/changes, DIR/tail and DIR/unpack with
** small streams of every version and kind.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "craft_heap.h"
#include "ljm_format.h"
#include "ljm_tail.h"
#include "pack.h"
#include "sample.h"

/* Write one seed. */
static void seed(const char *dir, const char *kind, const char *name,
                 const void *p, size_t n)
{
  LpBuf path = {0};
  FILE *f;
  lp_buf_printf(&path, "%s/%s", dir, kind);
  if (mkdir(path.s, 0777) != 0 && errno != EEXIST)
    abort();
  lp_buf_printf(&path, "/%s", name);
  f = fopen(path.s, "w");
  if (!f || fwrite(p, 1, n, f) != n || fclose(f) != 0)
    abort();
  lp_buf_free(&path);
}

/* Seeds of version 0x10: a whole stream, its blocks, all of them. */
static void seeds_compact(const char *dir, const char *to, const char *kind,
                          Sample *s)
{
  LpBuf b = {0};
  char name[32];
  int i;
  snprintf(name, sizeof(name), "v16-%s", kind);
  seed(dir, "stream", name, s->c.out.s, s->c.out.n);
  for (i = 0; i < SAMPLE_BLOCKS; i++) {
    const char *p = s->c.out.s + s->at[i] + LJM_BLOCK_HEADER;
    size_t n = s->at[i + 1] - s->at[i] - LJM_BLOCK_HEADER;
    snprintf(name, sizeof(name), "%s-block%d", kind, i);
    seed(dir, to, name, p, n);
    lp_buf_add(&b, p, n);
    lp_buf_add(&b, "\xfe\0", 2);
  }
  snprintf(name, sizeof(name), "%s-all", kind);
  seed(dir, to, name, b.s, b.n);
  lp_buf_free(&b);
  craft_close(&s->c);
}

#define SEED_PAGE 128

/* What is in the current block as a tail behind all blocks before it. */
static void seed_tail(const char *dir, const char *name, const Craft *c)
{
  static const uint8_t zeros[SEED_PAGE] = {0};
  ljm_Tail t = {.magic = LJM_TAIL_MAGIC,
                .state = LJM_TAIL_LIVE,
                .page = SEED_PAGE,
                .base = 0x7f0000001000,
                .size = LJM_BLOCK_MIN,
                .offset = c->out.n};
  uint64_t pos = t.base + LJM_BLOCK_HEADER + c->block.n;
  LpBuf b = {0};
  lp_buf_add(&b, &t, sizeof(t));
  lp_buf_add(&b, zeros, SEED_PAGE - sizeof(t) - sizeof(pos));
  lp_buf_add(&b, &pos, sizeof(pos));
  lp_buf_add(&b, zeros, LJM_BLOCK_HEADER);
  lp_buf_add(&b, c->block.s, c->block.n);
  seed(dir, "tail", name, b.s, b.n);
  lp_buf_free(&b);
}

/* Memory outside of the VM's count, old and new. */
static void seeds_foreign(const char *dir)
{
  Craft c;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 1000);
  c.foreign = c.tells = 1;
  craft_alloc(&c, 1, 0x1000, 64);
  craft_realloc(&c, 1, 0x1000, 64, 0x2000, 128);
  craft_free(&c, 1, 0x3000, 4096);
  c.foreign = 0;
  craft_alloc(&c, 1, 0x4000, 32);
  seed_tail(dir, "foreign", &c);
  craft_totals(&c, 0, 0);
  seed(dir, "blocks", "foreign", c.block.s, c.block.n);
  craft_flush(&c);
  seed(dir, "stream", "v16-foreign", c.out.s, c.out.n);
  craft_close(&c);
}

/* -- Heap dumps ------------------------------------------------------------ */

#define AT(i) (0x1000 + (i)*0x100ull)

enum {
  KEY = 1,
  GLOBALS,
  LIST,
  CODE,
  CLOSURE,
  UPVALUE,
  COROUTINE,
  CDATA,
  UDATA,
  FINALIZERS
};

/* Something of every type, with references of every kind. */
static void seeds_objects(CraftHeap *h)
{
  static const char *const names[] = {"upvalue"};
  static const uint64_t upvalue[] = {AT(UPVALUE)};
  CraftTable weak = {.addr = AT(LIST),
                     .size = 99,
                     .weak = 3,
                     .slots = 4,
                     .array = AT(50),
                     .meta = AT(GLOBALS),
                     .nodes = 2,
                     .free = 1};
  craft_string(h, AT(KEY), "__name");
  craft_table(h, AT(GLOBALS), 100);
  craft_field(h, AT(KEY), AT(KEY));
  craft_node(h, LJM_VALUE_INT, 7, LJM_VALUE_REF, AT(LIST));
  craft_item(h, 3, AT(CLOSURE));
  craft_item(h, 0, AT(UDATA));
  craft_table_of(h, &weak);
  craft_item(h, 0, AT(GLOBALS));
  craft_code(h, AT(CODE), "@a.lua", 3, names, 1);
  craft_constant(h, AT(KEY));
  craft_closure(h, AT(CLOSURE), AT(CODE), AT(GLOBALS), upvalue, 1);
  craft_upvalue(h, AT(UPVALUE), 0, AT(CDATA));
  craft_cdata(h, AT(CDATA), 40, AT(CDATA) - 8, 9);
  craft_userdata(h, AT(UDATA), 40, AT(GLOBALS), AT(GLOBALS), AT(90));
  craft_table(h, AT(FINALIZERS), 60);
  craft_node(h, LJM_VALUE_REF, AT(CDATA), LJM_VALUE_REF, AT(CLOSURE));
  craft_jit(h, AT(30), 1);
  craft_coroutine(h, AT(COROUTINE), 200, AT(GLOBALS));
  craft_frame(h, 3, AT(CLOSURE));
  craft_stackslot(h, 1, "local", AT(LIST));
  craft_link(h, "link", AT(UDATA));
}

/* The contents of blocks, one that goes on with an object, a whole dump. */
static void seeds_heap(const char *dir)
{
  static const uint64_t run[] = {1, 2, 1};
  CraftHeap h;
  LpBuf b = {0};
  craft_heap_open(&h, 64);
  craft_heap_process(&h, 20000, 100);
  craft_heap_mapped(&h, LJM_MAPPED_HEAP, 0x1000, run, 3);
  craft_heap_mapped(&h, LJM_MAPPED_CODE, 0x9000, run, 2);
  craft_heap_root(&h, AT(GLOBALS), "_G");
  craft_heap_root(&h, AT(COROUTINE), "main thread");
  craft_heap_root(&h, AT(FINALIZERS), "cdata finalizers");
  craft_heap_defined(&h, AT(CODE), "start");
  craft_heap_vmpart(&h, 10, "state");
  craft_heap_ctype(&h, 9, 0x30000009, 40, "");
  seeds_objects(&h);
  seed(dir, "heap", "objects", h.c.block.s, h.c.block.n);
  lp_buf_add(&b, h.c.block.s, h.c.block.n);
  lp_buf_add(&b, "\xfe\0", 2);
  craft_heap_flush(&h);
  craft_owner(&h, AT(COROUTINE), 0);
  craft_stackslot(&h, 2, NULL, AT(CDATA));
  lp_buf_add(&b, h.c.block.s, h.c.block.n);
  seed(dir, "heap", "split", b.s, b.n);
  craft_heap_end(&h);
  seed(dir, "stream", "v16-heap", h.c.out.s, h.c.out.n);
  lp_buf_free(&b);
  craft_heap_close(&h);
}

/* Two lists of the same N records, of a field each. */
static void seeds_lists(CraftHeap *h, const char *name, unsigned n)
{
  CraftTable list = {.size = 80, .slots = n + 1};
  unsigned i, k;
  craft_heap_open(h, 64);
  craft_heap_root(h, AT(GLOBALS), name);
  craft_string(h, AT(KEY), "key");
  craft_table(h, AT(GLOBALS), 100);
  craft_field(h, AT(KEY), AT(LIST));
  craft_item(h, 0, AT(LIST + 1));
  for (k = 0; k < 2; k++) {
    list.addr = AT(LIST + k);
    craft_table_of(h, &list);
    for (i = 0; i < n; i++)
      craft_item(h, 0, AT(20 + i));
  }
  for (i = 0; i < n; i++) {
    craft_table(h, AT(20 + i), 50);
    craft_field(h, AT(KEY), AT(KEY));
  }
}

/* The contents of the blocks of three dumps, of a process. */
static void seeds_ladder(const char *dir)
{
  static const unsigned sizes[] = {3, 9, 6};
  CraftHeap h;
  LpBuf b = {0};
  unsigned i;
  for (i = 0; i < 3; i++) {
    lp_buf_add(&b, "\xfd\xfd", i ? 2 : 0);
    seeds_lists(&h, "_G", sizes[i]);
    craft_heap_origin(&h, 17, 5);
    lp_buf_add(&b, h.c.block.s, h.c.block.n);
    craft_heap_close(&h);
    if (i == 1)
      seed(dir, "changes", "lists", b.s, b.n);
  }
  seed(dir, "ladder", "lists", b.s, b.n);
  lp_buf_free(&b);
}

/* -- All of them ----------------------------------------------------------- */

/* All seeds of version 0x10. */
static void seeds_new(const char *dir)
{
  Sample s;
  sample_open(&s);
  seeds_compact(dir, "blocks", "plain", &s);
  sample_stacks(&s, 0);
  seeds_compact(dir, "blocks", "stacks", &s);
  sample_stacks(&s, 100);
  seeds_compact(dir, "blocks", "samples", &s);
  sample_cpu(&s);
  seeds_compact(dir, "samples", "cpu", &s);
  seeds_foreign(dir);
  seeds_heap(dir);
  seeds_ladder(dir);
}

/* A seed as it is, and packed in every way: in one piece, and in two. */
static void seeds_packed(const char *dir, const LpBuf *plain)
{
  int how, pieces;
  seed(dir, "unpack", "plain", plain->s, plain->n);
  for (how = 0; how < NPACK; how++) {
    for (pieces = 1; pieces <= 2; pieces++) {
      LpBuf b = {0};
      char name[16];
      pack_add(&b, (Pack)how, plain->s, plain->n / (size_t)pieces);
      if (pieces == 2)
        pack_add(&b, (Pack)how, plain->s + plain->n / 2, (plain->n + 1) / 2);
      snprintf(name, sizeof(name), "packed%d-%d", how, pieces);
      seed(dir, "unpack", name, b.s, b.n);
      lp_buf_free(&b);
    }
  }
}

/* Seeds of the old versions: a pair of version numbers each. */
static void seeds_old(const char *dir, unsigned sym, unsigned ev)
{
  LpBuf b = {0};
  char name[16];
  uint64_t proto = 0x7f0000001000, addr = 0x10000;
  craft_old_open(&b, sym);
  if (sym == 2)
    craft_old_event(&b, 2, 7, addr, proto, 4);
  if (sym == 3)
    craft_old_event(&b, 2, 7, proto, 4);
  craft_old_lua(&b, 0, proto, "@app.lua", 3);
  if (sym == 3) {
    craft_old_event(&b, 1, proto + 64);
    craft_str(&b, "cfunc");
  }
  craft_old_body(&b, ev);
  craft_old_event(&b, 0x09, proto, 5, addr, 64);
  craft_old_event(&b, 0x0d, proto + 64, addr + 64, 32);
  if (ev == 2)
    craft_old_event(&b, 0x11, 7, addr, addr, 32);
  if (ev == 3) {
    craft_old_lua(&b, 0x08, proto, "=late", 0);
    craft_old_event(&b, 0x10, 8, proto, 6);
    craft_old_event(&b, 0x11, 8, addr + 128, 32);
  }
  craft_old_event(&b, 0x07, addr, 64, addr + 96, 128);
  craft_old_event(&b, 0x06, addr + 64, 32);
  craft_byte(&b, 0x80);
  snprintf(name, sizeof(name), "v%u-%u", sym, ev);
  seed(dir, "stream", name, b.s, b.n);
  if (sym == 3 && ev == 3)
    seeds_packed(dir, &b);
  lp_buf_free(&b);
}

int main(int argc, char **argv)
{
  unsigned sym, ev;
  if (argc != 2)
    return 64;
  if (mkdir(argv[1], 0777) != 0 && errno != EEXIST)
    return 1;
  seeds_new(argv[1]);
  for (sym = 1; sym <= 3; sym++)
    for (ev = 1; ev <= 3; ev++)
      seeds_old(argv[1], sym, ev);
  return 0;
}

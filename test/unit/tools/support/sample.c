/*
** Streams of version 0x10 that have a bit of everything, in three blocks.
*/

#include "ljm_format.h"
#include "sample.h"

/* What is under "The text report, to the character" in the design, nearly. */
const char sample_text[] =
    "ALLOCATIONS\n"
    "@app.lua:3, line 5: 100 6400 0 (make)\n"
    "INTERNAL: 12 4096 0\n"
    "[C] lua_cjson_new (cjson.so): 3 192 0\n"
    "(unknown): 1 8 0\n"
    "TRACE [3] started at @app.lua:3, line 9: 1 24 0\n"
    "[C] 0x4d0 (lpeg.so): 1 32 0\n"
    "[string \"return {}...\"]:0, ~line 2: 1 16 0\n"
    "\n"
    "REALLOCATIONS\n"
    "@app.lua:3, line 7: 8 2048 1024 (make)\n"
    "\tOverrides:\n"
    "\t\t@app.lua:3, line 7\n"
    "\t\t@app.lua:3, line 5\n"
    "\n"
    "INTERNAL: 1 512 256\n"
    "\tOverrides:\n"
    "\t\t(before start)\n"
    "\n"
    "DEALLOCATIONS\n"
    "INTERNAL: 91 0 6060\n"
    "\tOverrides:\n"
    "\t\t@app.lua:3, line 5\n"
    "\t\t(before start)\n"
    "\n"
    "HEAP SUMMARY\n"
    "(before start) holds 9444 bytes: 0 allocations, 2 deallocations\n"
    "INTERNAL holds 4608 bytes: 13 allocations, 0 deallocations\n"
    "@app.lua:3, line 7 holds 1088 bytes: 8 allocations, 7 deallocations"
    " (make)\n"
    "@app.lua:3, line 5 holds 576 bytes: 100 allocations, 91 deallocations"
    " (make)\n"
    "[C] lua_cjson_new (cjson.so) holds 192 bytes: 3 allocations,"
    " 0 deallocations\n"
    "[C] 0x4d0 (lpeg.so) holds 32 bytes: 1 allocations, 0 deallocations\n"
    "TRACE [3] started at @app.lua:3, line 9 holds 24 bytes: 1 allocations,"
    " 0 deallocations\n"
    "[string \"return {}...\"]:0, ~line 2 holds 16 bytes: 1 allocations,"
    " 0 deallocations\n"
    "(unknown) holds 8 bytes: 1 allocations, 0 deallocations\n";

#define HEAP 0x7f0000000010u

/* End a block. */
static void sample_flush(Sample *s, int i)
{
  s->first[i] = s->c.events;
  s->at[i] = s->c.out.n;
  craft_flush(&s->c);
  s->first[i + 1] = s->c.events;
  s->at[i + 1] = s->c.out.n;
}

/* Make it. */
void sample_open(Sample *s)
{
  /* A table that grows eight times. */
  static const uint64_t size[] = {64, 96, 112, 128, 144, 160, 160, 160, 1088};
  Craft *c = &s->c;
  uint64_t i;
  craft_open(c, 0x7f1234567890);
  craft_time(c, 0);
  craft_meta(c, 10000);
  craft_proto(c, 1, 0, 0xfeed, 3, "@app.lua", "make");
  craft_site(c, 2, LJM_SITE_TRACE, 1, 5);
  for (i = 0; i < 100; i++)
    craft_alloc(c, 2, HEAP + i * 64, 64);
  for (i = 0; i < 12; i++)
    craft_alloc(c, LJM_SITE_INTERNAL, HEAP + 0x10000 + i * 512, i ? 344 : 312);
  sample_flush(s, 0);
  craft_time(c, 10000000);
  craft_site(c, 3, 0, 1, 7);
  for (i = 0; i < 8; i++) /* The 160 stay where they are. */
    craft_realloc(c, 3, HEAP + (i < 6 ? i : 5) * 0x20000, size[i],
                  HEAP + (i < 5   ? i + 1
                          : i < 7 ? 5
                                  : 6) *
                             0x20000,
                  size[i + 1]);
  craft_realloc(c, LJM_SITE_INTERNAL, 0x500000000000, 256, 0x500000001003, 512);
  craft_free(c, LJM_SITE_INTERNAL, 0x500000002000, 300);
  for (i = 10; i < 50; i++)
    craft_free(c, LJM_SITE_INTERNAL, HEAP + i * 64, 64);
  sample_flush(s, 1);
  craft_time(c, 20000000);
  for (i = 50; i < 100; i++)
    craft_free(c, LJM_SITE_INTERNAL, HEAP + i * 64, 64);
  craft_cfunc(c, 2, 0x12f0, "/usr/lib/lua/cjson.so", "lua_cjson_new");
  craft_cfunc(c, 3, 0x4d0, "lpeg.so", "");
  craft_trace(c, 4, 3, 1, 9);
  craft_proto(c, 5, 0, 0xbeef, 0, "return {}\nreturn {}", "");
  craft_site(c, 4, 0, 2, 0);
  craft_site(c, 5, 0, 3, 0);
  craft_site(c, 6, LJM_SITE_TRACE | LJM_SITE_APPROX, 4, 0);
  craft_site(c, 7, LJM_SITE_APPROX, 5, 2);
  for (i = 0; i < 3; i++)
    craft_alloc(c, 4, HEAP + 0x200000 + i * 64, 64);
  craft_alloc(c, 5, HEAP + 0x300000, 32);
  craft_alloc(c, 6, HEAP + 0x300040, 24);
  craft_alloc(c, 7, HEAP + 0x300080, 16);
  craft_alloc(c, LJM_SITE_UNKNOWN, HEAP + 0x3000c0, 8);
  craft_totals(c, 0, 0);
  sample_flush(s, 2);
}

/* Functions main, f and g; 2 and 3 are lines of main, 4 and 5 of f, 6 of g. */
static void sample_sites(Craft *c)
{
  craft_proto(c, 1, 0, 1, 0, "@app.lua", "");
  craft_proto(c, 2, 0, 2, 10, "@app.lua", "f");
  craft_proto(c, 3, 0, 3, 20, "@app.lua", "g;h");
  craft_site(c, 2, 0, 1, 2);
  craft_site(c, 3, 0, 1, 3);
  craft_site(c, 4, 0, 2, 14);
  craft_site(c, 5, LJM_SITE_TRACE, 2, 15);
  craft_site(c, 6, 0, 3, 26);
}

/* An allocation of a type. */
static void sample_typed(Craft *c, unsigned type, uint64_t site, uint64_t n,
                         uint64_t size)
{
  c->type = type;
  craft_alloc(c, site, HEAP + n * 256, size);
}

void sample_stacks(Sample *s, uint64_t sample)
{
  Craft *c = &s->c;
  craft_open(c, 0x7f1234567890);
  c->stack = 4;
  c->sample = sample;
  craft_time(c, 0);
  craft_meta(c, 5000);
  sample_sites(c);
  sample_typed(c, LJM_TYPE_TABLE, 2, 0, 64); /* main:2 */
  craft_change(c, 0, 2);
  sample_typed(c, LJM_TYPE_TABLE, 4, 1, 64); /* main:2 f:14 */
  sample_typed(c, LJM_TYPE_ARRAY, 4, 2, 256);
  craft_change(c, 0, 5, 6, 5, 6);
  sample_typed(c, LJM_TYPE_STRING, 4, 3, 40); /* (cut) g:26 f:15 g:26 f:14 */
  sample_typed(c, LJM_TYPE_OTHER, LJM_SITE_INTERNAL, 4, 1000);
  sample_flush(s, 0);
  craft_time(c, 10000000);
  sample_typed(c, LJM_TYPE_HASH, 3, 5, 128); /* main:3 */
  craft_change(c, 0, 3, 4, 5);
  c->sampled = LJM_SAMPLED_OLD | LJM_SAMPLED_NEW;
  craft_realloc(c, 6, HEAP + 512, 256, HEAP + 0x8000, 512);
  craft_change(c, 2);
  craft_realloc(c, 4, HEAP + 0x8000, 512, HEAP + 0x8000, 640);
  c->sampled = LJM_SAMPLED_OLD;
  if (sample)
    craft_realloc(c, 4, HEAP, 64, HEAP + 0x9000, 32);
  c->sampled = LJM_SAMPLED_NEW;
  craft_realloc(c, 4, HEAP + (sample ? 0xa000 : 0), 64, HEAP + 0xb000, 96);
  craft_stack(c, LJM_STACK_CUT, 5, 6);
  sample_typed(c, LJM_TYPE_CDATA, 4, 6, 24); /* (cut) f:15 g:26 f:14 */
  sample_flush(s, 1);
  craft_time(c, 20000000);
  craft_free(c, LJM_SITE_INTERNAL, HEAP + 256, 64);
  craft_free(c, 4, HEAP + 0x8000, 640);
  if (!sample)
    craft_free(c, LJM_SITE_INTERNAL, 0x500000000000, 300);
  sample_typed(c, LJM_TYPE_UNKNOWN, LJM_SITE_INTERNAL, 8, 2048);
  sample_typed(c, LJM_TYPE_UNKNOWN, LJM_SITE_UNKNOWN, 16, 16);
  craft_totals(c, sample ? LJM_TOTALS_SAMPLED : 0, 0);
  sample_flush(s, 2);
}

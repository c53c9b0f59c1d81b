/*
** Writes the streams that pages are made of: `streams DIR`; and one with a call
** tree of some 100000 nodes: `streams DIR large`.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ljm_format.h"
#include "sample.h"

#define HEAP  0x7f0000000010u
#define STACK 60

/* Write a stream. */
static void stream(const char *dir, const char *name, const LpBuf *b)
{
  LpBuf path = {0};
  FILE *f;
  lp_buf_printf(&path, "%s/%s", dir, name);
  f = fopen(path.s, "w");
  if (!f || fwrite(b->s, 1, b->n, f) != b->n || fclose(f) != 0) {
    perror(path.s);
    exit(EXIT_FAILURE);
  }
  lp_buf_free(&path);
}

/* A stream of test/unit/tools, with the byte in the middle of its second block
** changed if it is to be BROKEN.
*/
static void stream_sample(const char *dir, const char *name, Sample *s,
                          int broken)
{
  size_t at = (s->at[1] + s->at[2]) / 2;
  if (broken)
    s->c.out.s[at] = (char)~s->c.out.s[at];
  stream(dir, name, &s->c.out);
  craft_close(&s->c);
}

/* -- Names that are not meant well ---------------------------------------- */

/* A string that may have any bytes. */
static void hostile_str(LpBuf *b, const char *s, size_t n)
{
  craft_uleb(b, n);
  lp_buf_add(b, s, n);
}

/* A Lua function of a name, and a line in it where 100 bytes are allocated. */
static void hostile_name(Craft *c, const char *s, size_t n, const char *chunk)
{
  static uint64_t id;
  LpBuf b = {0};
  craft_uleb(&b, ++id);
  craft_uleb(&b, 0);
  craft_uleb(&b, 0x7f0000001000 + id * 64);
  craft_uleb(&b, id);
  craft_uleb(&b, id);
  craft_uleb(&b, 10);
  hostile_str(&b, chunk, strlen(chunk));
  hostile_str(&b, s, n);
  craft_record(c, LJM_REC_PROTO, b.s, b.n);
  craft_site(c, id + 1, 0, id, id + 1);
  craft_alloc(c, id + 1, HEAP + id * 256, 100);
  lp_buf_free(&b);
}

#define HOSTILE(c, s) hostile_name(c, s, sizeof(s) - 1, "@app.lua")

/* All of them. */
static void hostile(const char *dir)
{
  /* U+202E, and letters that are read from right to left. */
  static const char rtl[] = {'\xe2', '\x80', '\xae', 'r',    't',    'l',   ' ',
                             '\xd7', '\xa9', '\xd7', '\x9c', '\xd7', '\x95'};
  static char much[4096];
  Craft c;
  memset(much, 'W', sizeof(much));
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 0);
  HOSTILE(&c, "</script><script>window.pwned=1</script>");
  HOSTILE(&c, "<!--<script>");
  HOSTILE(&c, "<img src=x onerror=window.pwned=1>");
  HOSTILE(&c, "\"'`${window.pwned=1}&lt;");
  HOSTILE(&c, "nul\0behind");
  HOSTILE(&c, "not\xff\xc3utf8\xed\xa0\x80");
  hostile_name(&c, rtl, sizeof(rtl), "@app.lua");
  HOSTILE(&c, "semi;colon\nline\ttab\xe2\x80\xa8");
  HOSTILE(&c, "__proto__");
  HOSTILE(&c, "\xf0\x9f\x94\xa5 fire");
  HOSTILE(&c, ".*(");
  hostile_name(&c, much, sizeof(much), "@app.lua");
  hostile_name(&c, "f", 1, "=</script><script>window.pwned=1</script>");
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  stream(dir, "hostile.ljm", &c.out);
  craft_close(&c);
}

/* -- Large ---------------------------------------------------------------- */

/* The next one of numbers that look as if they were random. */
static uint32_t large_random(uint32_t n)
{
  static uint64_t x = 1;
  x = x * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(x >> 33) % n;
}

/* 40 files with 15 functions each, of which each has 4 lines. */
static void large_define(Craft *c)
{
  char file[64], name[64];
  uint64_t i;
  for (i = 0; i < 600; i++) {
    snprintf(file, sizeof(file), "@/srv/app/lib/part%d.lua", (int)(i / 15));
    snprintf(name, sizeof(name), "Part%d.method_%d", (int)(i / 15),
             (int)(i % 15));
    craft_proto(c, i + 1, 0, i + 1, 10 + i % 15 * 20, file, name);
  }
  for (i = 0; i < 2400; i++)
    craft_site(c, i + 2, 0, i / 4 + 1, 12 + i / 4 % 15 * 20 + i % 4);
}

/* Events at the ends of a walk through a tree; most objects are freed. */
static void large(const char *dir)
{
  uint64_t site[4], i, n, k, pops, depth = 0;
  Craft c;
  craft_open(&c, 1);
  c.stack = STACK;
  craft_time(&c, 0);
  craft_meta(&c, 0);
  large_define(&c);
  for (i = 0; i < 45000; i++) {
    pops = depth > 8 ? large_random(6) : 0;
    n = depth - pops + 4 < STACK ? 1 + large_random(4) : 0;
    for (k = 0; k < n; k++)
      site[k] = 2 + large_random(2400);
    craft_change_of(&c, pops, site, n);
    depth += n - pops;
    c.type = LJM_TYPE_TABLE + large_random(3);
    k = 16 + 8 * (uint64_t)large_random(200);
    craft_alloc(&c, 2 + large_random(2400), HEAP + i * 4096, k);
    if (large_random(4))
      craft_free(&c, LJM_SITE_INTERNAL, HEAP + i * 4096, k);
    if (i % 1000 == 999) {
      craft_flush(&c);
      craft_time(&c, i * 100000);
      depth = 0;
    }
  }
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  stream(dir, "large.ljm", &c.out);
  craft_close(&c);
}

/* -- All ------------------------------------------------------------------ */

/* A recording of nothing. */
static void empty(const char *dir)
{
  Craft c;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 0);
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  stream(dir, "empty.ljm", &c.out);
  craft_close(&c);
}

int main(int argc, char **argv)
{
  Sample s;
  if (argc < 2 || (mkdir(argv[1], 0777) != 0 && errno != EEXIST)) {
    fprintf(stderr, "usage: streams DIR [large]\n");
    return EXIT_FAILURE;
  }
  if (argc > 2) {
    large(argv[1]);
    return 0;
  }
  sample_open(&s);
  stream_sample(argv[1], "plain.ljm", &s, 0);
  sample_open(&s);
  stream_sample(argv[1], "damaged.ljm", &s, 1);
  sample_stacks(&s, 0);
  stream_sample(argv[1], "stacks.ljm", &s, 0);
  sample_stacks(&s, 512);
  stream_sample(argv[1], "samples.ljm", &s, 0);
  sample_cpu(&s);
  stream_sample(argv[1], "cpu.ljp", &s, 0);
  hostile(argv[1]);
  empty(argv[1]);
  return 0;
}

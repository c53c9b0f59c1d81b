/*
** craft-streams DIR: streams that have a bit of everything, as files.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

/* Names that a format could stumble over. */
static const struct Name {
  const char *s;
  size_t n;
} names[] = {
#define NAME(s)                                                                \
  {                                                                            \
    s, sizeof(s) - 1                                                           \
  }
    NAME("@a\"b'c`d.lua"),
    NAME("@two\nlines\r\tand a tab"),
    NAME("@nul\0inside"),
    NAME("@not \xff\xfe utf8"),
    NAME("@overlong \xc0\x80\xe0\x80\x80 half \xed\xa0\x80"),
    NAME("@cut \xe2\x82"),
    NAME("@cut \xf0\x9f\x98\xf0\x9f\x98\x80"),
    NAME("@semi;colon;"),
    NAME("@</script><!-- <script>"),
    /* NOLINTNEXTLINE(misc-misleading-bidirectional): that is its purpose. */
    NAME("@\xe2\x80\xae right to left \xe2\x80\xa8"),
    NAME("@SUM(1+1)*cmd|'/C calc'!A0"),
    NAME("==1+1"),
    NAME("=+1"),
    NAME("=-1"),
    NAME("=@x!y"),
    NAME("='x"),
    NAME("=a,b"),
    NAME("=: 1 2 3"),
    NAME("=% \\ %s"),
    NAME("=\x1b[31m\x7f"),
    NAME("return {} -- a\nchunk"),
    NAME("="),
    NAME("@"),
    NAME(""),
#undef NAME
};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* Add a string of N bytes. */
static void craft_bytes(LpBuf *b, const char *s, size_t n)
{
  craft_uleb(b, n);
  lp_buf_add(b, s, n);
}

/* A function of a chunk of that name, whose own name it is as well; and the
** site of its line 7.
*/
static void craft_named_proto(Craft *c, uint64_t id, const char *s, size_t n)
{
  LpBuf b = {0};
  craft_uleb(&b, id);
  craft_uleb(&b, 0);
  craft_uleb(&b, 0x7f0000001000 + id * 64);
  craft_uleb(&b, id);
  craft_uleb(&b, 3);
  craft_uleb(&b, 10);
  craft_bytes(&b, s, n);
  craft_bytes(&b, s, n);
  craft_record(c, LJM_REC_PROTO, b.s, b.n);
  craft_site(c, id + 2, 0, id, 7);
  lp_buf_free(&b);
}

/* A name of 4096 bytes, of characters of two of them. */
static void craft_long(Craft *c, uint64_t id)
{
  char s[4096];
  size_t i;
  s[0] = '@';
  s[4095] = 'x';
  for (i = 1; i < 4095; i++)
    s[i] = i & 1 ? '\xc3' : '\xa4';
  craft_named_proto(c, id, s, sizeof(s));
}

/* Bad names, of memory: each is called by the one before. */
static void craft_names(Craft *c)
{
  uint64_t i;
  craft_open(c, 0x7f1234567890);
  c->stack = 4;
  craft_time(c, 0);
  craft_meta(c, 0);
  for (i = 0; i < NAMES; i++)
    craft_named_proto(c, i + 1, names[i].s, names[i].n);
  craft_long(c, NAMES + 1);
  craft_cfunc(c, 100, 0x12f0, "/usr/lib/\"</script>\xff,;.so", "=so\"me;<!--");
  craft_site(c, 102, 0, 100, 0);
  for (i = 0; i < NAMES + 1; i++) {
    craft_alloc(c, i + 3, 0x10000 + i * 64, i + 10);
    craft_stack(c, 0, i + 3);
  }
  craft_alloc(c, 102, 0x90000, 1000);
  craft_free(c, LJM_SITE_INTERNAL, 0x10000, 10);
  craft_totals(c, 0, 0);
  craft_flush(c);
}

/* Bad names, of the CPU. */
static void craft_names_cpu(Craft *c)
{
  uint64_t i;
  craft_open_cpu(c);
  craft_time(c, 0);
  craft_meta_cpu(c, 99);
  craft_process(c, 1, 4711, "=cmd|\xff\";</script>");
  craft_thread(c, 1, 1, 4711, "-1;\"\n\xe2");
  craft_module(c, 1, "\x12\xff", "/lib/\"</script>\xff,;\n.so");
  for (i = 0; i < NAMES; i++)
    craft_named_proto(c, i + 1, names[i].s, names[i].n);
  craft_native(c, 101, 0, 1, 0x9a0, "=na\"tive;\xe2\x82<!--");
  craft_site(c, 103, 0, 101, 0);
  for (i = 0; i < NAMES; i++) {
    craft_stack(c, 0, i + 3, i % 7 + 3, 103);
    craft_sample(c, 0, 1, i + 1);
  }
  craft_flush(c);
}

/* Nothing happened. */
static void craft_nothing(Craft *c)
{
  craft_open(c, 1);
  craft_time(c, 0);
  craft_meta(c, 0);
  craft_totals(c, 0, 0);
  craft_flush(c);
}

/* Write N bytes to a file of the directory. */
static void save(const char *dir, const char *name, const void *p, size_t n)
{
  LpBuf path = {0};
  FILE *f;
  lp_buf_printf(&path, "%s/%s", dir, name);
  f = fopen(path.s, "wb");
  if (!f || fwrite(p, 1, n, f) != n || fclose(f) != 0) {
    perror(path.s);
    exit(EXIT_FAILURE);
  }
  lp_buf_free(&path);
}

/* Write what was crafted. */
static void save_craft(const char *dir, const char *name, Craft *c)
{
  save(dir, name, c->out.s, c->out.n);
  craft_close(c);
}

/* A sample, whole; and without its second block. */
static void save_sample(const char *dir, const char *name, const char *damaged,
                        Sample *s)
{
  LpBuf b = {0};
  lp_buf_add(&b, s->c.out.s, s->at[1]);
  lp_buf_add(&b, s->c.out.s + s->at[2], s->c.out.n - s->at[2]);
  save(dir, damaged, b.s, b.n);
  lp_buf_free(&b);
  save_craft(dir, name, &s->c);
}

int main(int argc, char **argv)
{
  static Sample plain, stacks, samples, cpu;
  Craft names_memory, names_cpu, nothing;
  if (argc != 2) {
    fprintf(stderr, "usage: craft-streams DIR\n");
    return 64;
  }
  sample_open(&plain);
  sample_stacks(&stacks, 0);
  sample_stacks(&samples, 100);
  sample_cpu(&cpu);
  save_sample(argv[1], "plain.ljm", "damaged-plain.ljm", &plain);
  save_sample(argv[1], "stacks.ljm", "damaged-stacks.ljm", &stacks);
  save_sample(argv[1], "samples.ljm", "damaged-samples.ljm", &samples);
  save_sample(argv[1], "cpu.ljp", "damaged-cpu.ljp", &cpu);
  craft_names(&names_memory);
  save_craft(argv[1], "names.ljm", &names_memory);
  craft_names_cpu(&names_cpu);
  save_craft(argv[1], "names.ljp", &names_cpu);
  craft_nothing(&nothing);
  save_craft(argv[1], "nothing.ljm", &nothing);
  return 0;
}

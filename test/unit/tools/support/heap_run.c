/*
** From a heap dump in memory to reports, for tests.
*/

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heap/heap_report.h"
#include "heap_run.h"

const char *const heap_views[] = {
    "summary", "types", "shapes", "retained", "shared", "sparse", "threads",
    "tree",    "paths", "owners", "objects",  "weak",   "rss",    NULL};

/* -- Reading --------------------------------------------------------------- */

static void run_body(LpProfile *prof)
{
  (void)prof;
}

/* Turns stderr away; returns what it was. */
static int run_mute(void)
{
  int old = dup(STDERR_FILENO), none = open("/dev/null", O_WRONLY | O_CLOEXEC);
  fflush(stderr);
  dup2(none, STDERR_FILENO);
  close(none);
  return old;
}

static void run_unmute(int old)
{
  fflush(stderr);
  dup2(old, STDERR_FILENO);
  close(old);
}

/* JOINS: a recording is to follow. */
static HeapRun run_read(const void *p, size_t n, size_t times, int joins)
{
  HeapRun r = {
      .l = {.prof = lp_profile_new(), .body = run_body, .joins = joins}};
  const char *names[4];
  char name[32];
  size_t got, i;
  int fd = memfd_create("dump", MFD_CLOEXEC), err;
  ck_assert_uint_eq(write(fd, p, n), n);
  snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
  for (i = 0; i < times; i++)
    names[i] = name;
  err = run_mute();
  r.status = lp_load_files(&r.l, names, times, &got);
  run_unmute(err);
  close(fd);
  r.heap = lp_load_subject(&r.l).heap;
  return r;
}

HeapRun heap_read_bytes(const void *p, size_t n, size_t times)
{
  return run_read(p, n, times, 0);
}

HeapRun heap_read_joinable(const CraftHeap *h)
{
  return run_read(h->c.out.s, h->c.out.n, 1, 1);
}

HeapRun heap_read(CraftHeap *h)
{
  HeapRun r = heap_read_bytes(h->c.out.s, h->c.out.n, 1);
  if (r.heap)
    heap_check(&r);
  return r;
}

void heap_run_close(HeapRun *r)
{
  lp_profile_free(r->l.prof);
  lp_heap_free(r->l.heap);
  lp_buf_free(&r->text);
}

/* -- Reports --------------------------------------------------------------- */

const char *heap_report_opt(HeapRun *r, const char *format, const char *view,
                            const LpReportOptions *opt)
{
  const LpSubject subject = lp_load_subject(&r->l);
  LpOut out;
  lp_buf_free(&r->text);
  lp_out_open(&out, -1);
  lp_report_write(format, view, &out, &subject, opt);
  lp_buf_add(&r->text, out.buf.s, out.buf.n);
  lp_out_close(&out);
  return r->text.s;
}

const char *heap_report(HeapRun *r, const char *format, const char *view)
{
  LpReportOptions opt = {.path = "table"};
  return heap_report_opt(r, format, view, &opt);
}

uint32_t heap_id(const HeapRun *r, uint64_t addr)
{
  const LpGraph *g = &r->heap->dump.graph;
  uint32_t id;
  for (id = 1; id < g->n; id++)
    if (g->node[id].addr == addr)
      return id;
  ck_abort_msg("no object is at 0x%llx", (unsigned long long)addr);
}

const char *heap_place(HeapRun *r, uint64_t addr)
{
  lp_buf_free(&r->text);
  lp_heap_place(&r->text, r->heap, heap_id(r, addr));
  return r->text.s ? r->text.s : "";
}

const char *heap_object(HeapRun *r, uint64_t addr)
{
  lp_buf_free(&r->text);
  lp_path_object(&r->text, &r->heap->dump, heap_id(r, addr));
  return r->text.s ? r->text.s : "";
}

/* -- What always holds ----------------------------------------------------- */

/* Does a terminal act upon the byte at I? It may take single bytes as those of
** Latin 1, and U+2000 to U+203F turn text.
*/
static int acts(const char *s, size_t i)
{
  unsigned char c = (unsigned char)s[i];
  unsigned char before = i ? (unsigned char)s[i - 1] : 0;
  if (c < 0x20 || c == 0x7f)
    return c != '\n';
  return c >= 0x80 && c < 0xa0 &&
         (before < 0x80 || before == 0xc2 || (before == 0xe2 && c == 0x80));
}

/* Reports are text that no terminal acts upon; JSON, ANY, is for machines. */
static void check_text(const char *s, size_t n, int any)
{
  size_t i;
  for (i = 0; i < n; i++)
    if (any ? (unsigned char)s[i] < 0x20 && s[i] != '\n' : acts(s, i))
      ck_abort_msg("byte 0x%02x at %zu of: %.200s", (unsigned char)s[i], i,
                   s + (i < 100 ? 0 : i - 100));
}

/* Each byte is in one type, and reached, garbage or unknown. What has a shape
** is reached, or who keeps what is not known.
*/
static void check_sums(const LpHeap *h)
{
  const LpGraph *g = &h->dump.graph;
  uint64_t defined = 0, reached = 0, shapes = 0, shaped = 0, bad = 0;
  uint32_t id, i;
  for (id = 1; id < g->n; id++) {
    uint64_t size = lp_graph_size(g, id);
    int has = lp_dominators_has(&h->dom, id);
    bad += size && !(g->flags[id] & LP_NODE_DEFINED);
    bad += has != (h->paths.from[id] != LP_NONE);
    defined += size;
    reached += has ? size : 0;
    if (!(g->flags[id] & LP_NODE_GARBAGE) && (has || !lp_heap_keeps(h)))
      shaped += size;
  }
  ck_assert_uint_eq(bad, 0);
  for (i = 0; i < h->shapes.keys.n; i++)
    shapes += h->shapes.shape[i].bytes;
  ck_assert_uint_eq(defined, lp_heap_bytes(h));
  ck_assert_uint_eq(reached, lp_heap_reached(h));
  ck_assert_uint_eq(shapes, shaped);
  ck_assert_uint_eq(reached + h->garbage.all.bytes + h->unknown.all.bytes,
                    defined);
  ck_assert(h->unknown.all.objects == 0 || h->doubt != LP_DOUBT_NONE);
}

void heap_check(HeapRun *r)
{
  static const char *const format[] = {"text", "csv", "json"};
  size_t i, j;
  check_sums(r->heap);
  for (i = 0; heap_views[i]; i++)
    for (j = 0; j < sizeof(format) / sizeof(format[0]); j++)
      if (lp_report_find(format[j], heap_views[i], LP_OF_HEAP)) {
        heap_report(r, format[j], heap_views[i]);
        check_text(r->text.s, r->text.n, 0);
      }
  heap_report(r, "heapsnapshot", NULL);
  check_text(r->text.s, r->text.n, 1);
}

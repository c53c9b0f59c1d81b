/*
** What all fuzz targets do with a stream: read it, check the books, report.
*/

#include <stdlib.h>
#include <string.h>

#include "fuzz_dump.h"
#include "reader.h"
#include "report.h"
#include "ingest.h"
#include "segment.h"
#include "rss/rss.h"
#include "utf8.h"

void must(int holds)
{
  if (!holds)
    abort();
}

/* What all origins have is what the tree has. */
static void fuzz_tree(const LpProfile *prof)
{
  LpTree t;
  LpTreeOf of = {LP_METRIC_BIT(LP_METRIC_BYTES) |
                     LP_METRIC_BIT(LP_METRIC_SAMPLES),
                 LP_MERGE_LINES, NULL, 0, 0};
  uint64_t bytes[2] = {0};
  uint32_t i;
  for (i = 0; i < prof->origins.n; i++) {
    LpFigures f = lp_origins_figures(&prof->origins, i);
    bytes[0] += f.n[LP_ALLOC_BYTES] + f.n[LP_REALLOC_BYTES];
    bytes[1] += f.part[LP_ALLOC_BYTES] + f.part[LP_REALLOC_BYTES];
  }
  lp_tree_open(&t, prof, &of);
  lp_tree_total(&t);
  must(lp_tree_totals(&t, 0, LP_METRIC_BYTES) == lp_round(bytes[0], bytes[1]));
  must(lp_tree_totals(&t, 0, LP_METRIC_SAMPLES) == prof->cpu.samples);
  lp_tree_close(&t);
}

/* What was live at the peak is what it was made of. */
static void fuzz_peak(const LpProfile *prof)
{
  LpValue v = {0, 0};
  uint32_t i;
  if (prof->of != LP_OF_MEMORY || !(prof->wanted.what & LP_WANT_PEAK))
    return;
  for (i = 0; i < prof->origins.n; i++)
    lp_value_add(&v, lp_metric_of(prof, LP_NOW, i, LP_METRIC_PEAK));
  must((int64_t)prof->peak_bytes <= 0 || lp_value_round(v) == prof->peak_bytes);
}

/* Every sample is of a thread. */
static void fuzz_threads(const LpProfile *prof, const LpStream *st)
{
  uint64_t samples = 0;
  size_t i;
  for (i = 0; i < prof->cpu.threads.n; i++)
    samples += prof->cpu.thread[i];
  must(samples == prof->cpu.samples);
  must(samples + prof->cpu.outside == st->delivered);
}

/* Every event is in one row, every byte is somewhere. */
static void fuzz_books(const LpProfile *prof, const LpStream *st)
{
  uint64_t events = 0, live = 0, arrived = 0, taken = 0;
  const LpSums *all = &st->sums, *out = &st->outside;
  LpSums told = {all->allocs - out->allocs, all->reallocs - out->reallocs,
                 all->frees - out->frees, all->in - out->in,
                 all->out - out->out};
  uint64_t base;
  int known = lp_stream_base(st, &base) != NULL;
  size_t i;
  fuzz_tree(prof);
  fuzz_peak(prof);
  fuzz_threads(prof, st);
  must(!st->ndamage == !st->damage.what[0]);
  if (st->sample)
    return;
  for (i = 0; i < prof->sitekeys.n; i++) {
    const LpRow *r = &prof->row[i];
    events += r->allocs + r->reallocs + r->frees;
    live += r->live;
    arrived += r->arrived;
  }
  for (i = 0; i < prof->overrides.n; i++)
    taken += prof->overrides.entry[i].w.n;
  must(events == told.allocs + told.reallocs + told.frees);
  must(arrived == told.allocs + told.reallocs);
  must(taken == told.reallocs + told.frees);
  must(live == (known ? base : 0) + told.in - told.out);
}

/* A report. */
static void fuzz_write(const LpProfile *prof, const char *format,
                       const char *view, const LpReportOptions *opt)
{
  const LpSubject subject = {.prof = prof};
  LpOut out;
  lp_out_open(&out, -1);
  lp_report_write(format, view, &out, &subject, opt);
  must(out.buf.n > 0 || strcmp(format, "folded") == 0);
  must(strcmp(format, "json") != 0 || !memchr(out.buf.s, '<', out.buf.n));
  lp_out_close(&out);
}

/* A view as text, and one of the other formats. */
static void fuzz_report(const LpProfile *prof, size_t n)
{
  static const char *const memory[] = {"sites", "types", "tree", "callers",
                                       "lines", "sizes", "time", "snapshots"};
  static const char *const cpu[] = {"functions", "lines", "tree", "callers",
                                    "threads",   "time",  "time", "time"};
  static const char *const format[] = {
      "folded", "json", "pprof", "speedscope", "csv", "html", "tarantool"};
  LpReportOptions opt = {.human = (n & 4) != 0,
                         .min = n & 8 ? 1 : 0,
                         .top = n & 16 ? 3 : 0,
                         .chosen = (n & 32) != 0};
  int of = prof->of == LP_OF_CPU;
  opt.metric = of ? LP_METRIC_SAMPLES : (LpMetric)(n % LP_METRIC_SAMPLES);
  fuzz_write(prof, "text", (of ? cpu : memory)[n % 8], &opt);
  fuzz_write(prof, format[n % (of ? 6 : 7)], NULL, &opt);
}

/* -- Heap dumps ------------------------------------------------------------ */

/* Every byte is in one shape or about to be freed, and reached or not; what is
** reached has a path.
*/
static void fuzz_heap_sums(const LpHeap *h)
{
  const LpGraph *g = &h->dump.graph;
  uint64_t all = 0, reached = 0, shapes = 0, shaped = 0;
  uint32_t id, i;
  for (id = 1; id < g->n; id++) {
    uint64_t size = lp_graph_size(g, id);
    int has = lp_dominators_has(&h->dom, id);
    must(!size || (g->flags[id] & LP_NODE_DEFINED));
    must(has == (h->paths.from[id] != LP_NONE));
    all += size;
    reached += has ? size : 0;
    if (!(g->flags[id] & LP_NODE_GARBAGE) && (has || !lp_heap_keeps(h)))
      shaped += size;
  }
  for (i = 0; i < h->shapes.keys.n; i++)
    shapes += h->shapes.shape[i].bytes;
  must(all == lp_heap_bytes(h));
  must(shapes == shaped);
  must(all == reached + h->garbage.all.bytes + h->unknown.all.bytes);
  must(reached == lp_heap_reached(h));
}

/* All that is resident is in one part. */
static void fuzz_heap_rss(const LpHeap *h)
{
  LpRss r;
  uint64_t sum = 0;
  int i, known = lp_rss(h, &r);
  for (i = 0; known && i < LP_RSS_PARTS; i++) {
    must(r.part[i].resident <= r.part[i].bytes);
    sum += r.part[i].resident;
  }
  must(!known || sum == r.all);
}

void fuzz_heap_text(const LpOut *out, int any)
{
  const char *s = out->buf.s;
  size_t i, len;
  for (i = 0; i < out->buf.n; i += len) {
    unsigned char c = (unsigned char)s[i];
    int good;
    len = lp_utf8_step(s + i, out->buf.n - i, &good);
    if (!good)
      len = 1;
    must(c == '\n' || c >= 32);
    must(any || c != 127);
    must(any || good || c >= 0xa0);
    must(any || c != 0xc2 || len == 1 || (unsigned char)s[i + 1] >= 0xa0);
  }
}

/* A view of a dump, in one of the formats that have it. */
static void fuzz_heap_report(const LpSubject *subject, size_t n)
{
  static const char *const view[] = {
      "summary", "types",   "shapes", "retained", "sparse", "threads", "tree",
      "paths",   "objects", "shared", "owners",   "weak",   "rss"};
  static const char *const format[] = {"text", "csv", "json", "heapsnapshot"};
  static const char *const path[] = {"table", "0x10", "", "0x1000"};
  LpReportOptions opt = {.human = (n & 4) != 0,
                         .min = n & 8 ? 1 : 0,
                         .top = n & 16 ? 3 : 0,
                         .path = path[n / 36 % 4]};
  const char *f = format[n / 9 % 4];
  const char *v = strcmp(f, "heapsnapshot") == 0
                      ? NULL
                      : view[n % (sizeof(view) / sizeof(view[0]))];
  LpOut out;
  if (!lp_report_find(f, v, LP_OF_HEAP))
    return;
  lp_out_open(&out, -1);
  lp_report_write(f, v, &out, subject, &opt);
  fuzz_heap_text(&out, !v);
  lp_out_close(&out);
}

/* A heap dump was read. */
static void fuzz_heap(const LpProfile *prof, LpHeap *h, size_t n)
{
  const LpSubject subject = {.prof = prof, .heap = h};
  LpDamage d;
  size_t i;
  lp_dump_verify(&h->dump, &d);
  lp_heap_analyse(h);
  fuzz_heap_sums(h);
  fuzz_heap_rss(h);
  for (i = 0; i < 3; i++)
    fuzz_heap_report(&subject, n + i * 12);
}

/* -- Streams --------------------------------------------------------------- */

void fuzz_craft(Craft *c, const uint8_t *p, size_t n)
{
  while (n) {
    const uint8_t *end = memchr(p, 0xfe, n);
    size_t len = end ? (size_t)(end - p) : n;
    lp_buf_add(&c->block, p, len);
    craft_flush(c);
    p += len;
    n -= len;
    if (n >= 2)
      c->events += p[1];
    p += n < 2 ? n : 2;
    n -= n < 2 ? n : 2;
  }
}

/* The same, and read the stream. */
void fuzz_contents(Craft *c, const uint8_t *p, size_t n)
{
  fuzz_craft(c, p, n);
  fuzz_stream(c->out.s, c->out.n);
  craft_close(c);
}

/* Read a stream, and close it; N chooses the report. */
void fuzz_input(LpInput *in, size_t n)
{
  LpProfile *prof = lp_profile_new();
  LpStream st;
  LpSink sink = lp_stream_open(&st, prof);
  LpHeap *h = lp_heap_new();
  sink.heap = &h->sink;
  if (n & 32)
    prof->wanted.what = ~0u;
  if (n & 64)
    prof->wanted = (LpWanted){.what = ~0u,
                              .temporary = n,
                              .young = 10,
                              .from = n * 1000,
                              .to = n * 2000000,
                              .snap = 1000000};
  lp_reader_run(in, &sink);
  must(lp_input_offset(in) <= lp_input_came(in));
  lp_stream_close(&st, lp_input_offset(in));
  lp_input_close(in);
  if (st.body == 'd') {
    fuzz_heap(prof, h, n);
  } else {
    fuzz_books(prof, &st);
    fuzz_report(prof, n);
  }
  lp_profile_free(prof);
  lp_heap_free(h);
}

/* Read a stream of N bytes. */
void fuzz_stream(const void *p, size_t n)
{
  LpSegment segment;
  LpInput in;
  lp_segment_find(p, n, &segment);
  lp_input_memory(&in, p, n);
  fuzz_input(&in, n);
}

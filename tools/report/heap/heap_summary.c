/*
** The report of a heap dump as text: what there is, who keeps most of it.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heap_report.h"
#include "suspects.h"
#include "text.h"

#define SUMMARY_ROWS 10 /* Of each table. */

/* Append a size, always with a unit: sentences are for people. */
static void summary_size(LpBuf *b, uint64_t n)
{
  lp_text_size(b, n, 1);
}

static void summary_percent(LpBuf *b, const LpHeap *h, uint64_t n)
{
  lp_buf_printf(b, "%.1f%%", lp_text_percent(n, lp_heap_bytes(h)));
}

/* -- What there is --------------------------------------------------------- */

static void summary_head(LpBuf *b, const LpHeap *h)
{
  uint64_t bytes = lp_heap_bytes(h), reached = lp_heap_reached(h);
  const LpHeapEnd *e = &h->dump.end;
  lp_buf_puts(b, "HEAP DUMP\n  ");
  summary_size(b, bytes);
  lp_buf_printf(b, " in %" PRIu64 " objects", lp_heap_objects(h));
  if (h->dump.ended) {
    lp_buf_puts(b, ", and ");
    summary_size(b, e->parts + (uint64_t)e->making);
    lp_buf_printf(b, " of the VM itself: %" PRIu64 " bytes in all", e->total);
  } else {
    lp_buf_puts(b, "; the rest of the dump is missing");
  }
  lp_buf_puts(b, "\n  ");
  if (bytes > reached) {
    summary_percent(b, h, bytes - reached);
    lp_buf_puts(b, " (");
    summary_size(b, bytes - reached);
    lp_buf_puts(b, ") is garbage that was not collected yet");
  } else {
    lp_buf_puts(b, "No garbage");
  }
  lp_buf_puts(b, "; empty slots of tables take ");
  summary_size(b, h->dump.sparsebytes);
  lp_buf_puts(b, "\n\n");
}

/* -- Suspects -------------------------------------------------------------- */

/* Code of the JIT compiler: where it starts. */
static void summary_traces(LpBuf *b, const LpHeap *h, const LpSuspect *s)
{
  uint32_t at = s->id;
  while (at != LP_GRAPH_ROOT && h->dump.graph.type[at] != LJM_TYPE_PROTO)
    at = h->paths.from[at];
  lp_buf_puts(b, "code of the JIT compiler");
  if (s->chain)
    lp_buf_printf(b, ": %" PRIu64 " traces", s->chain);
  if (at != LP_GRAPH_ROOT) {
    lp_buf_puts(b, " that start in");
    lp_path_proto(b, &h->dump, at);
  }
}

/* Where it is, and the code that has it. */
static void summary_keeper(LpBuf *b, const LpHeap *h, uint32_t id)
{
  uint32_t code = lp_path_code(&h->dump, &h->paths, id);
  lp_buf_puts(b, "kept by ");
  lp_heap_place(b, h, id);
  if (code != LP_NONE) {
    lp_buf_puts(b, " (in");
    lp_path_proto(b, &h->dump, code);
    lp_buf_puts(b, ")");
  }
  lp_buf_puts(b, ", a ");
  lp_shape_nameof(b, h, id);
}

/* What it keeps. */
static void summary_kept(LpBuf *b, const LpHeap *h, const LpSuspect *s)
{
  if (s->chain) {
    lp_buf_printf(b, ": a chain of %" PRIu64 " such objects", s->chain);
  } else if (s->shape != LP_NONE && s->retained > s->bytes / 10) {
    lp_buf_printf(b, ": %" PRIu64 " x ", s->objects);
    lp_shape_name(b, h, s->shape);
    lp_buf_puts(b, " keep ");
    summary_size(b, s->retained);
    if (s->inner != LP_NONE) {
      lp_buf_printf(b, ", with %" PRIu64 " x ", s->inners);
      lp_shape_name(b, h, s->inner);
    }
  }
}

/* One sentence. */
static void summary_suspect(LpBuf *b, const LpHeap *h, const LpSuspect *s)
{
  lp_buf_printf(b, "  %.1f%% (", lp_text_percent(s->bytes, lp_heap_reached(h)));
  summary_size(b, s->bytes);
  lp_buf_puts(b, ") is ");
  if (h->dump.graph.type[s->id] == LJM_TYPE_TRACE) {
    summary_traces(b, h, s);
  } else {
    summary_keeper(b, h, s->id);
    summary_kept(b, h, s);
  }
  lp_buf_puts(b, "\n");
}

static void summary_suspects(LpBuf *b, const LpHeap *h)
{
  LpSuspect s[LP_SUSPECTS];
  size_t i, n = lp_suspects(h, s);
  lp_buf_puts(b, "LEAK SUSPECTS, of ");
  summary_size(b, lp_heap_reached(h));
  lp_buf_puts(b, " in use\n");
  for (i = 0; i < n; i++)
    summary_suspect(b, h, &s[i]);
  if (!n)
    lp_buf_printf(b, "  Nothing keeps more than %d%%\n", LP_SUSPECT_PERCENT);
  lp_buf_puts(b, "\n");
}

/* -- Tables ---------------------------------------------------------------- */

static void summary_table(LpOut *out, const LpProfile *prof,
                          const LpReportOptions *opt, const LpReport *r,
                          const char *title)
{
  LpReportOptions o = *opt;
  LpTable t = {.name = r->view};
  if (!o.top)
    o.top = SUMMARY_ROWS;
  r->table(&t, prof, &o);
  lp_table_top(&t, o.top);
  lp_out_printf(out, "%s\n", title);
  lp_table_text(out, &t, o.human);
  lp_table_close(&t);
}

static void summary_write(LpOut *out, const LpProfile *prof,
                          const LpReportOptions *opt)
{
  summary_head(&out->buf, prof->heap);
  summary_suspects(&out->buf, prof->heap);
  summary_table(out, prof, opt, &lp_report_heap_types, "TYPES");
  summary_table(out, prof, opt, &lp_report_heap_shapes, "\nSHAPES");
  summary_table(out, prof, opt, &lp_report_heap_retained,
                "\nOBJECTS THAT KEEP MOST");
}

const LpReport lp_report_heap = {.format = "text",
                                 .view = "summary",
                                 .of = LP_OF_HEAP,
                                 .takes = LP_TAKES_TOP | LP_TAKES_MIN |
                                          LP_TAKES_HUMAN,
                                 .write = summary_write};

/*
** The report of a heap dump as text: what there is, who keeps most of it.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff/heap_verdict.h"
#include "heap_join.h"
#include "heap_suspects.h"
#include "heap_weak.h"
#include "rss/rss.h"
#include "text.h"

#define SUMMARY_ROWS 10 /* Of each table. */

/* Append a size, always with a unit: sentences are for people. */
static void summary_size(LpBuf *b, uint64_t n)
{
  lp_text_size(b, n, 1);
}

/* Append the share of all bytes. */
static void summary_percent(LpBuf *b, const LpHeap *h, uint64_t n)
{
  lp_buf_printf(b, "%.1f%%", lp_text_percent(n, lp_heap_bytes(h)));
}

/* -- What there is --------------------------------------------------------- */

/* A number of bytes, and its share. */
static void summary_part(LpBuf *b, const LpHeap *h, uint64_t n)
{
  summary_percent(b, h, n);
  lp_buf_puts(b, " (");
  summary_size(b, n);
  lp_buf_puts(b, ")");
}

/* What is not reached. */
static void summary_unreached(LpBuf *b, const LpHeap *h)
{
  if (h->doubt != LP_DOUBT_NONE) {
    summary_part(b, h, h->unknown.all.bytes);
    lp_buf_puts(b, " is unknown: ");
    lp_heap_doubt(b, h);
    lp_buf_puts(b, "\n  ");
  }
  if (h->garbage.all.bytes) {
    summary_part(b, h, h->garbage.all.bytes);
    lp_buf_puts(b, " is garbage that was not collected yet");
  } else {
    lp_buf_puts(b, h->doubt == LP_DOUBT_NONE
                       ? "No garbage"
                       : "Nothing is known to be garbage");
  }
}

/* Append what the dump has in all. */
static void summary_head(LpBuf *b, const LpHeap *h)
{
  const LpHeapEnd *e = &h->dump.end;
  lp_buf_puts(b, "HEAP DUMP\n  ");
  summary_size(b, lp_heap_bytes(h));
  lp_buf_printf(b, " in %" PRIu64 " objects", lp_heap_objects(h));
  if (h->dump.ended) {
    lp_buf_puts(b, ", and ");
    summary_size(b, e->parts + (uint64_t)e->making);
    lp_buf_printf(b, " of the VM itself: %" PRIu64 " bytes in all", e->total);
  } else {
    lp_buf_puts(b, "; the rest of the dump is missing");
  }
  lp_buf_puts(b, "\n  ");
  summary_unreached(b, h);
  lp_buf_puts(b, "; empty slots of tables take ");
  summary_size(b, h->dump.sparsebytes);
  lp_buf_puts(b, "\n");
  lp_rss_sentence(b, h);
  lp_buf_puts(b, "\n");
}

/* -- Suspects -------------------------------------------------------------- */

/* Append what tables with weak keys keep for ever, if it is enough. */
static void summary_weak(LpBuf *b, const LpHeap *h)
{
  LpWeakLine line[LP_WEAK_LINES] = {0};
  size_t i, n = lp_heap_weak_lines(line, h);
  for (i = 0; i < n; i++) {
    lp_buf_printf(b, "  %s\n", line[i].text.s);
    lp_buf_free(&line[i].text);
  }
}

/* Append what is no object. */
static void summary_notes(LpBuf *b, const LpSubject *subject)
{
  LpBuf text[LP_HEAP_NOTES] = {0};
  size_t i, n = lp_heap_notes(text, subject);
  for (i = 0; i < n; i++) {
    lp_buf_printf(b, "  %s\n", text[i].s);
    lp_buf_free(&text[i]);
  }
}

/* Append what keeps most of it. */
static void summary_suspects(LpBuf *b, const LpSubject *subject)
{
  const LpHeap *h = subject->heap;
  LpSuspect s[LP_SUSPECTS];
  size_t i, n = lp_suspects(h, s);
  lp_buf_puts(b, "LEAK SUSPECTS, of ");
  summary_size(b, lp_heap_reached(h));
  lp_buf_puts(b, h->doubt == LP_DOUBT_NONE ? " in use\n"
                                           : " known to be in use\n");
  for (i = 0; i < n; i++) {
    lp_buf_puts(b, "  ");
    lp_heap_suspect(b, h, &s[i]);
    lp_buf_puts(b, "\n");
  }
  if (!n)
    lp_buf_printf(b, "  Nothing keeps more than %d%%\n", LP_SUSPECT_PERCENT);
  summary_weak(b, h);
}

/* -- Tables ---------------------------------------------------------------- */

/* The title of what depends on who keeps what, where that is not known. */
static void summary_nothing(LpBuf *b, const char *title)
{
  lp_buf_printf(b, "%s\n  Unknown: what is missing may refer to any object\n",
                title);
}

/* The first rows of a view, below a title. */
static void summary_table(LpOut *out, const LpSubject *subject,
                          const LpReportOptions *opt, const LpReport *r,
                          const char *title)
{
  LpReportOptions o = *opt;
  LpTable t = {.name = r->view};
  if (!o.top)
    o.top = SUMMARY_ROWS;
  r->table(&t, subject, &o);
  lp_table_top(&t, o.top);
  lp_out_printf(out, "%s\n", title);
  lp_table_text(out, &t, &o);
  lp_table_close(&t);
}

/* Who made what is kept, or what of it is new. */
static void summary_made(LpBuf *b, const LpSubject *subject)
{
  LpBuf text[LP_JOIN_SENTENCES] = {0};
  size_t i, n = lp_join_sentences(text, subject);
  lp_buf_puts(b, subject->join->fresh ? "WHO MADE WHAT IS NEW\n"
                                      : "WHO KEEPS WHAT WHO MADE\n");
  for (i = 0; i < n; i++) {
    lp_buf_printf(b, "  %s\n", text[i].s);
    lp_buf_free(&text[i]);
  }
  lp_buf_puts(b, "\n");
}

void lp_heap_sentences(LpOut *out, const LpSubject *subject)
{
  LpBuf *b = &out->buf;
  summary_head(b, subject->heap);
  if (!lp_heap_keeps(subject->heap) ||
      (subject->baseheap && !lp_heap_keeps(subject->baseheap))) {
    summary_nothing(b, subject->baseheap ? "COMPARED WITH THE BASE"
                                         : "LEAK SUSPECTS");
    lp_buf_puts(b, "\n");
    return;
  }
  if (subject->baseheap)
    lp_heap_diff_sentences(b, subject);
  else
    summary_suspects(b, subject);
  summary_notes(b, subject);
  lp_buf_puts(b, "\n");
  if (subject->join)
    summary_made(b, subject);
}

/* Sentences, then the first rows of the main views. */
static void summary_write(LpOut *out, const LpSubject *subject,
                          const LpReportOptions *opt)
{
  lp_heap_sentences(out, subject);
  summary_table(out, subject, opt, &lp_report_heap_types, "TYPES");
  summary_table(out, subject, opt, &lp_report_heap_shapes, "\nSHAPES");
  if (lp_heap_keeps(subject->heap))
    summary_table(out, subject, opt, &lp_report_heap_retained,
                  "\nOBJECTS THAT KEEP MOST");
  else
    summary_nothing(&out->buf, "\nOBJECTS THAT KEEP MOST");
}

const LpReport lp_report_heap = {.format = "text",
                                 .view = "summary",
                                 .of = LP_OF_HEAP,
                                 .takes = LP_TAKES_TOP | LP_TAKES_MIN |
                                          LP_TAKES_HUMAN | LP_TAKES_DIFF,
                                 .write = summary_write};

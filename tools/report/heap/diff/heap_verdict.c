/*
** What two heap dumps that are compared say.
*/

#include <stdlib.h>

#include "heap/heap_report.h"
#include "heap_diff.h"
#include "heap_verdict.h"
#include "text.h"

#define VERDICT_LEAST 10 /* Percent of the growth that is worth a line. */

/* Growth of each row that rows below it have, if these grew by LEAST: of those
** below each other, the nearest one. The caller frees the array.
*/
static int64_t *verdict_below(const LpDiffRows *rows, const LpHeap *h,
                              int64_t least)
{
  int64_t *below = lp_zalloc(rows->names.n + 1, sizeof(*below));
  LpIdMap of = {0};
  uint32_t i;
  for (i = 0; i < rows->names.n; i++)
    if (rows->row[i].of[LP_NOW].id != LP_NONE && !rows->row[i].cut)
      lp_idmap_put(&of, rows->row[i].of[LP_NOW].id, i);
  for (i = 0; i < rows->names.n; i++) {
    const LpDiffRow *r = &rows->row[i];
    int64_t change = lp_diff_change(r);
    uint32_t up = r->of[LP_NOW].id, parent = LP_NONE;
    if (up == LP_NONE || r->cut || change < least)
      continue;
    while (parent == LP_NONE && up != LP_GRAPH_ROOT && up != LP_NONE) {
      up = h->dom.parent[up];
      parent = lp_idmap_get(&of, up);
    }
    if (parent != LP_NONE)
      below[parent] += change;
  }
  lp_idmap_free(&of);
  return below;
}

/* The row with most growth, at least LEAST, that is not that of rows below it,
** which say more; or LP_NONE.
*/
static uint32_t verdict_next(const LpDiffRows *rows, const int64_t *below,
                             int64_t least, const char *done)
{
  uint32_t i, best = LP_NONE;
  for (i = 0; i < rows->names.n; i++) {
    const LpDiffRow *r = &rows->row[i];
    int64_t change = lp_diff_change(r);
    if (done[i] || r->of[LP_NOW].id == LP_NONE || r->cut || change < least)
      continue;
    if ((best == LP_NONE || change > lp_diff_change(&rows->row[best])) &&
        below[i] < change / 10 * 8)
      best = i;
  }
  return best;
}

/* Values in a table that are objects. */
static unsigned verdict_values(const LpHeap *h, uint32_t id)
{
  const LpEdge *e = lp_graph_first(&h->dump.graph, id);
  unsigned n = 0;
  for (; e; e = lp_graph_next(e)) {
    LpEdgeKind kind = lp_edge_kind(e);
    n += kind == LP_EDGE_FIELD || kind == LP_EDGE_ITEM || kind == LP_EDGE_VALUE;
  }
  return n;
}

/* How many values a table has, if it is in both dumps and has more now. */
static void verdict_entries(LpBuf *b, const LpSubject *subject,
                            const LpDiffRow *r)
{
  uint32_t now = r->of[LP_NOW].id, base = r->of[LP_BASE].id;
  unsigned many, few;
  if (now == LP_NONE || base == LP_NONE)
    return;
  many = verdict_values(subject->heap, now);
  few = verdict_values(subject->baseheap, base);
  if (few && many > few)
    lp_buf_printf(b, "; it held %u object%s, and holds %u", few,
                  few == 1 ? "" : "s", many);
}

/* Append one line: what has grown, and from what. */
static void verdict_line(LpBuf *b, const LpSubject *subject,
                         const LpDiffRows *rows, uint32_t i, uint64_t grown)
{
  const LpDiffRow *r = &rows->row[i];
  uint64_t change = (uint64_t)lp_diff_change(r);
  size_t n;
  const char *s = lp_intern_get(&rows->names, i, &n);
  lp_buf_printf(b, "%.1f%% of it (", lp_text_percent(change, grown));
  lp_text_size(b, change, 1);
  lp_buf_puts(b, ") is kept by ");
  lp_buf_add(b, s, n);
  lp_buf_puts(b, ", a ");
  lp_shape_nameof(b, subject->heap, r->of[LP_NOW].id);
  if (r->of[LP_BASE].retained) {
    lp_buf_puts(b, ": it kept ");
    lp_text_size(b, r->of[LP_BASE].retained, 1);
    lp_buf_puts(b, ", and keeps ");
    lp_text_size(b, r->of[LP_NOW].retained, 1);
    verdict_entries(b, subject, r);
  } else {
    lp_buf_puts(b, ", which is new");
  }
}

/* How much more is in use; 0 if it is not more. */
static uint64_t verdict_grown(const LpSubject *subject)
{
  uint64_t now = lp_heap_reached(subject->heap);
  uint64_t base = lp_heap_reached(subject->baseheap);
  return now > base ? now - base : 0;
}

size_t lp_heap_verdicts(LpVerdictLine line[LP_VERDICTS],
                        const LpSubject *subject)
{
  uint64_t grown = verdict_grown(subject);
  const int64_t least = (int64_t)(grown / 100 * VERDICT_LEAST) + 1;
  LpDiffRows rows;
  int64_t *below;
  char *done;
  size_t n = 0;
  uint32_t i;
  if (!grown)
    return 0;
  rows = lp_diff_paths(subject);
  done = lp_zalloc(rows.names.n + 1, 1);
  below = verdict_below(&rows, subject->heap, least);
  while (n < LP_VERDICTS &&
         (i = verdict_next(&rows, below, least, done)) != LP_NONE) {
    const LpDiffRow *r = &rows.row[i];
    line[n] =
        (LpVerdictLine){r->of[LP_NOW].id, (uint64_t)lp_diff_change(r), {0}};
    verdict_line(&line[n++].text, subject, &rows, i, grown);
    done[i] = 1;
  }
  free(below);
  free(done);
  lp_diff_close(&rows);
  return n;
}

void lp_heap_grown(LpBuf *b, const LpSubject *subject)
{
  uint64_t now = lp_heap_reached(subject->heap);
  uint64_t base = lp_heap_reached(subject->baseheap);
  uint64_t change = now > base ? now - base : base - now;
  if (now == base) {
    lp_buf_puts(b, "As much is in use as before: ");
  } else {
    lp_text_size(b, change, 1);
    lp_buf_printf(b, " %s in use (%+.1f%%): ", now > base ? "more" : "less",
                  (now > base ? 1 : -1) * lp_text_percent(change, base));
    lp_text_size(b, base, 1);
    lp_buf_puts(b, " before, now ");
  }
  lp_text_size(b, now, 1);
}

void lp_heap_diff_sentences(LpBuf *b, const LpSubject *subject)
{
  LpVerdictLine line[LP_VERDICTS];
  size_t i, n = lp_heap_verdicts(line, subject);
  lp_buf_puts(b, "COMPARED WITH THE BASE\n  ");
  lp_heap_grown(b, subject);
  lp_buf_puts(b, "\n");
  for (i = 0; i < n; i++) {
    lp_buf_printf(b, "  %s\n", line[i].text.s);
    lp_buf_free(&line[i].text);
  }
  if (!n && verdict_grown(subject))
    lp_buf_printf(b,
                  "  No object whose path can be compared keeps more than "
                  "%d%% of it\n",
                  VERDICT_LEAST);
}

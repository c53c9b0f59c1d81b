/*
** --view=weak: tables with weak keys or values, and what they keep.
*/

#include <inttypes.h>
#include <stdlib.h>

#include "heap_columns.h"
#include "heap_weak.h"
#include "text.h"

#define WEAK_PERCENT 1  /* Of what is reached, to be told in the summary; of */
#define WEAK_NEVER   10 /* what keys that are no objects keep. */

/* -- The view -------------------------------------------------------------- */

/* A row. */
typedef struct Row {
  LpHeapRow r;
  LpWeakSum sum;
} Row;

/* Append what is weak. */
static void row_mode(LpBuf *b, const void *view, const void *row)
{
  uint32_t mode = ((const Row *)row)->sum.mode;
  (void)view;
  lp_buf_puts(b, mode == LJM_TABLE_WEAKKEY     ? "keys"
                 : mode == LJM_TABLE_WEAKVALUE ? "values"
                 : mode                        ? "both"
                                               : "");
}

static const LpField row_freed = {
    LP_FIELD_NUMBER("freed", "freed", LP_UNIT_BYTES, Row, sum.freed)};
static const LpField row_retained = {
    LP_FIELD_NUMBER("retained", "retained", LP_UNIT_BYTES, Row, r.retained)};
static const LpField row_entries = {
    LP_FIELD_NUMBER("entries", "entries", LP_UNIT_COUNT, Row, sum.entries)};
static const LpField row_weak = {
    LP_FIELD_NUMBER("weak", "weak", LP_UNIT_COUNT, Row, sum.weak)};
static const LpField row_held = {
    LP_FIELD_NUMBER("held", "held", LP_UNIT_COUNT, Row, sum.held)};
static const LpField row_byvalues = {LP_FIELD_NUMBER(
    "by-values", "by values only", LP_UNIT_COUNT, Row, sum.by_values)};
static const LpField row_modefield = {
    LP_FIELD_TEXT("mode", "weak are", row_mode)};

int lp_heap_weak_isshown(const LpHeap *h, const LpReportOptions *opt,
                         const LpWeakSum *s)
{
  return lp_heap_enough(h, opt, s->freed) ||
         lp_heap_enough(h, opt, h->dom.retained[s->table]);
}

/* Add what a table has to a sum. */
static void sum_add(LpWeakSum *all, const LpWeakSum *s)
{
  all->entries += s->entries;
  all->weak += s->weak;
  all->held += s->held;
  all->by_values += s->by_values;
}

/* All tables with a __mode. The last row has what all of them have, also those
** that are not shown. What would be free is more than the sum of the rows, if
** several tables lead to it.
*/
static void weak_table(LpTable *t, const LpSubject *subject,
                       const LpReportOptions *opt)
{
  static const LpField *const list[] = {
      &row_freed, &row_retained, &row_entries,   &row_weak,
      &row_held,  &row_byvalues, &row_modefield, &lp_col_path};
  const LpHeap *h = subject->heap;
  LpColumns c = lp_heap_columns(t, h, list, LP_NFIELDS(list), 0);
  Row all = {.r = {.name = {"total", 5}, .retained = LP_UNKNOWN}};
  LpWeakSum *s;
  size_t i, n;
  if (!h || !lp_heap_cankeep(t, h))
    return;
  s = lp_weak_tables(h, &n);
  for (i = 0; i < n; i++) {
    Row r = {lp_heap_row(h, s[i].table), s[i]};
    sum_add(&all.sum, &s[i]);
    if (lp_heap_weak_isshown(h, opt, &s[i]))
      lp_columns_row(&c, &r, NULL);
  }
  free(s);
  if (!t->n)
    return;
  all.sum.freed = h->ephemerons.bytes;
  lp_columns_row(&c, &all, NULL);
  t->foot = 1;
}

const LpReport lp_report_heap_weak = {.view = "weak",
                                      .of = LP_OF_HEAP,
                                      .takes = LP_TAKES_ROWS | LP_TAKES_MIN |
                                               LP_TAKES_HUMAN,
                                      .table = weak_table};

/* -- Sentences ------------------------------------------------------------ */

/* Append a share of what is reached, and its bytes. */
static void weak_share(LpBuf *b, const LpHeap *h, uint64_t bytes)
{
  lp_buf_printf(b, "%.1f%% (", lp_text_percent(bytes, lp_heap_reached(h)));
  lp_text_size(b, bytes, 1);
  lp_buf_puts(b, ")");
}

/* Of N tables those that have keys of which only values of such tables know.
** Returns how many there are; the first one has most to be freed.
*/
static size_t weak_sums(const LpWeakSum *s, size_t n, LpWeakSum *first,
                        LpWeakSum *all)
{
  size_t i, found = 0;
  *all = (LpWeakSum){0};
  for (i = 0; i < n; i++) {
    if (s[i].mode != LJM_TABLE_WEAKKEY || !s[i].by_values)
      continue;
    if (!found++)
      *first = s[i];
    sum_add(all, &s[i]);
  }
  return found;
}

/* What would be free with ephemerons. Returns 0 if that is not much. */
static int weak_byvalues(LpWeakLine *line, const LpHeap *h, const LpWeakSum *s,
                         size_t n)
{
  uint64_t bytes = h->ephemerons.bytes;
  LpBuf *b = &line->text;
  LpWeakSum first, all;
  if (bytes <= lp_heap_reached(h) / 100 * WEAK_PERCENT)
    return 0;
  n = weak_sums(s, n, &first, &all);
  if (!n)
    return 0;
  line->table = first.table;
  line->bytes = bytes;
  lp_buf_printf(b, "%" PRIu64 " of %" PRIu64 " keys of ", all.by_values,
                all.weak);
  lp_heap_place(b, h, first.table);
  if (n == 1)
    lp_buf_puts(b, ", a table with weak keys,");
  else
    lp_buf_printf(b, " and %zu more table%s with weak keys", n - 1,
                  n == 2 ? "" : "s");
  lp_buf_puts(b, " are kept only by values of such tables; with ephemerons, "
                 "which LuaJIT does not have, ");
  weak_share(b, h, bytes);
  lp_buf_puts(b, " would be free");
  return 1;
}

/* Is a table a class, whose methods are no entries? It is where its objects
** look for them, and has a __mode for these.
*/
static int weak_isclass(const LpHeap *h, uint32_t table)
{
  return lp_dump_link(&h->dump, table, LP_EDGE_META) == table &&
         lp_dump_field(&h->dump, table, "__index") == table;
}

/* Has a table weak keys most of which are no objects? */
static int weak_isnever(const LpHeap *h, const LpWeakSum *s)
{
  return s->mode == LJM_TABLE_WEAKKEY && s->weak < s->entries - s->weak &&
         !weak_isclass(h, s->table);
}

#define WEAK_STEPS 64 /* From an object up to its entry. */

/* Does an object, which a table keeps, belong to an entry whose key is no
** object or a string? What several entries lead to belongs to one of them.
*/
static int weak_stays(const LpHeap *h, uint32_t table, uint32_t id)
{
  const LpGraph *g = &h->dump.graph;
  const LpEdge *e;
  uint32_t key = LP_NONE;
  unsigned left = WEAK_STEPS;
  while (left-- && id != LP_GRAPH_ROOT && h->paths.from[id] != table)
    id = h->paths.from[id];
  if (id == LP_GRAPH_ROOT || h->paths.from[id] != table)
    return 0;
  e = &g->edge[h->paths.edge[id]];
  if (lp_edge_kind(e) == LP_EDGE_META)
    return 0;
  if (lp_edge_kind(e) == LP_EDGE_KEY)
    key = id;
  else if (lp_edge_kind(e) == LP_EDGE_FIELD)
    key = lp_edge_detail(e);
  return key >= g->n || g->type[key] == LJM_TYPE_STRING;
}

/* The bytes that a table keeps for keys that are no objects, or are strings: in
** its entries, and of its slots.
*/
static uint64_t weak_kept(const LpHeap *h, const LpWeakSum *s)
{
  uint32_t kid = h->kids.first[s->table];
  uint64_t own = lp_graph_size(&h->dump.graph, s->table);
  uint64_t bytes = (uint64_t)((double)own * (double)(s->entries - s->weak) /
                              (double)s->entries);
  for (; kid != LP_NONE; kid = h->kids.next[kid])
    if (weak_stays(h, s->table, kid))
      bytes += h->dom.retained[kid];
  return bytes;
}

/* Of N tables of most of whose keys the collector clears none, the one that
** keeps most by these. Returns 0 if that is not much.
*/
static int weak_never(LpWeakLine *line, const LpHeap *h, const LpWeakSum *s,
                      size_t n)
{
  uint64_t least = lp_heap_reached(h) / 100 * WEAK_NEVER;
  LpBuf *b = &line->text;
  const LpWeakSum *best = NULL, *end = s + n;
  for (; s < end; s++) {
    uint64_t bytes = weak_isnever(h, s) ? weak_kept(h, s) : 0;
    if (bytes > least) {
      least = bytes;
      best = s;
    }
  }
  if (!best)
    return 0;
  line->table = best->table;
  line->bytes = least;
  lp_buf_printf(b, "%" PRIu64 " of %" PRIu64 " keys of ",
                best->entries - best->weak, best->entries);
  lp_heap_place(b, h, best->table);
  lp_buf_puts(b, ", a table with weak keys, are no objects but strings or the "
                 "like, which are never cleared: for these it keeps ");
  weak_share(b, h, least);
  return 1;
}

size_t lp_heap_weak_lines(LpWeakLine line[LP_WEAK_LINES], const LpHeap *h)
{
  LpWeakSum *s;
  size_t n, lines = 0;
  if (!lp_heap_keeps(h))
    return 0;
  s = lp_weak_tables(h, &n);
  lines += (size_t)weak_byvalues(&line[lines], h, s, n);
  lines += (size_t)weak_never(&line[lines], h, s, n);
  free(s);
  return lines;
}

/*
** --view=shared: memory that several objects keep together, by their holders.
*/

#include "heap_columns.h"
#include "heap_suspects.h"

/* A row. */
typedef struct Row {
  LpHeapRow r;
  LpSuspect group;
  uint64_t freed, holders;
} Row;

/* Append the shape of most of a group. */
static void row_shape(LpBuf *b, const void *view, const void *row)
{
  const Row *r = row;
  if (r->group.shape == LP_NONE)
    lp_shape_nameof(b, view, r->r.id);
  else
    lp_shape_name(b, view, r->group.shape);
}

/* Append the holders of a group. */
static void row_holders(LpBuf *b, const void *view, const void *row)
{
  lp_heap_holders(b, view, ((const Row *)row)->group.shared);
}

static const LpField row_freed = {
    LP_FIELD_NUMBER("freed", "freed", LP_UNIT_BYTES, Row, freed, .alone = 1)};
static const LpField row_nholders = {LP_FIELD_NUMBER(
    "holders", "holders", LP_UNIT_COUNT, Row, holders, .alone = 1)};
static const LpField row_shapefield = {
    LP_FIELD_TEXT("shape", "most of it", row_shape)};
static const LpField row_name = {
    LP_FIELD_TEXT("name", "kept together by", row_holders)};

size_t lp_heap_shared(const LpShared *group[LP_SHARED_MOST], const LpHeap *h,
                      const LpReportOptions *opt)
{
  size_t i, at, n = 0;
  for (i = 0; i < h->sharing.n; i++) {
    const LpShared *g = &h->sharing.group[i];
    if (!lp_heap_enough(h, opt, g->bytes))
      continue;
    for (at = n++; at > 0 && group[at - 1]->bytes < g->bytes; at--)
      group[at] = group[at - 1];
    group[at] = g;
  }
  return n;
}

/* The groups that were found. */
static void shared_table(LpTable *t, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  static const LpField *const list[] = {&lp_col_retained, &row_freed,
                                        &lp_col_objects,  &row_nholders,
                                        &row_shapefield,  &row_name};
  const LpHeap *h = subject->heap;
  LpColumns c = lp_heap_columns(t, h, list, LP_NFIELDS(list), 0);
  const LpShared *group[LP_SHARED_MOST];
  size_t i, n;
  if (!h || !lp_heap_cankeep(t, h))
    return;
  n = lp_heap_shared(group, h, opt);
  for (i = 0; i < n; i++) {
    const LpShared *g = group[i];
    Row r = {.group = lp_suspect_shared(h, g)};
    r.r = (LpHeapRow){.id = g->id[0], .retained = g->bytes, .objects = g->n};
    r.freed = g->freed;
    r.holders = g->nholder;
    lp_columns_row(&c, &r, NULL);
  }
}

const LpReport lp_report_heap_shared = {.view = "shared",
                                        .of = LP_OF_HEAP,
                                        .takes = LP_TAKES_ROWS | LP_TAKES_MIN |
                                                 LP_TAKES_HUMAN,
                                        .table = shared_table};

/*
** Tables of a heap dump that is joined with a recording: what each object keeps
** by who made it, what each site made by who keeps it, and whole stacks.
*/

#include <stdlib.h>

#include "heap_join.h"
#include "text.h"

#define MADE_TAKES (LP_TAKES_ROWS | LP_TAKES_MIN | LP_TAKES_HUMAN)
#define MADE_MS    1000000 /* Nanoseconds. */

/* -- Sums ------------------------------------------------------------------ */

/* The sum of a site or a keeper, by which groups are sorted. */
typedef struct Group {
  LpIdMap sums;
  uint64_t *bytes;
  size_t n, cap;
} Group;

/* The sum of a group, by its key. */
static uint64_t *group_of(Group *g, uint32_t key)
{
  uint32_t at = lp_idmap_add(&g->sums, key, (uint32_t)g->n);
  g->n += at == g->n;
  g->bytes = lp_grow(g->bytes, &g->cap, g->n, sizeof(*g->bytes));
  return &g->bytes[at];
}

/* Free the memory. */
static void group_close(Group *g)
{
  lp_idmap_free(&g->sums);
  free(g->bytes);
}

/* What rows are grouped and sorted by. */
typedef struct Order {
  int bysite;
  Group group;
} Order;

/* The group that a row belongs to. */
static uint32_t order_key(const Order *o, const LpMade *m)
{
  return o->bysite ? m->site : m->keeper;
}

/* Largest groups first, in these the largest rows. */
static int order_compare(const void *x, const void *y, void *ctx)
{
  const LpMade *a = x, *b = y;
  Order *o = ctx;
  uint64_t n = *group_of(&o->group, order_key(o, a));
  uint64_t m = *group_of(&o->group, order_key(o, b));
  if (n != m)
    return n > m ? -1 : 1;
  if (order_key(o, a) != order_key(o, b))
    return order_key(o, a) < order_key(o, b) ? -1 : 1;
  if (a->live.bytes != b->live.bytes)
    return a->live.bytes > b->live.bytes ? -1 : 1;
  if (a->site != b->site)
    return a->site < b->site ? -1 : 1;
  if (a->keeper != b->keeper)
    return a->keeper < b->keeper ? -1 : 1;
  return (a->node > b->node) - (a->node < b->node);
}

/* -- Rows ------------------------------------------------------------------ */

/* Put a text, which the table frees. */
static void made_string(LpTable *t, unsigned col, LpBuf *b)
{
  lp_table_string(t, col, b->s ? b->s : lp_strdup(""));
}

/* Put an age, if it is known. */
static void made_age(LpTable *t, unsigned col, uint64_t ms)
{
  if (ms != UINT64_MAX)
    lp_table_number(t, col, ms * MADE_MS);
}

/* The site and its callers, the innermost first. */
static void made_stack(LpBuf *b, const LpProfile *prof, const LpMade *m)
{
  const LpCalls *calls = &prof->origins.calls;
  uint32_t at = m->node;
  lp_join_site(b, prof, m->site);
  for (; at > LP_NODE_CUT; at = lp_calls_parent(calls, at)) {
    lp_buf_puts(b, " < ");
    lp_join_site(b, prof, calls->site[at]);
  }
  if (at == LP_NODE_CUT)
    lp_buf_puts(b, " < ...");
}

/* The columns, with those of the group first. */
static void made_columns(LpTable *t, int bysite, int stacks)
{
  lp_table_column(t, "group", bysite ? "made" : "kept", LP_UNIT_BYTES)->alone =
      1;
  lp_table_column(t, "bytes", "bytes", LP_UNIT_BYTES);
  lp_table_column(t, "bytes-percent", "%", LP_UNIT_PERCENT);
  lp_table_column(t, "objects", "objects", LP_UNIT_COUNT);
  lp_table_column(t, "oldest", "oldest (s)", LP_UNIT_NS)->alone = 1;
  lp_table_column(t, "newest", "newest (s)", LP_UNIT_NS)->alone = 1;
  if (bysite) {
    lp_table_column(t, "name", "made at", LP_UNIT_TEXT);
    lp_table_column(t, "keeper", "kept by", LP_UNIT_TEXT);
  } else {
    lp_table_column(t, "name", "kept by", LP_UNIT_TEXT);
    lp_table_column(t, stacks ? "stack" : "site", "made at", LP_UNIT_TEXT);
  }
}

/* Put a row. */
static void made_row(LpTable *t, const LpSubject *subject, Order *o,
                     const LpMade *m, int stacks)
{
  LpBuf keeper = {0}, site = {0};
  lp_join_keeper(&keeper, subject->join, m->keeper);
  if (stacks)
    made_stack(&site, subject->prof, m);
  else
    lp_join_site(&site, subject->prof, m->site);
  lp_table_row(t);
  lp_table_number(t, 0, *group_of(&o->group, order_key(o, m)));
  lp_table_number(t, 1, m->live.bytes);
  lp_table_percent(t, 2, m->live.bytes, lp_heap_bytes(subject->join->heap));
  lp_table_number(t, 3, m->live.n);
  made_age(t, 4, m->oldest);
  made_age(t, 5, m->newest);
  made_string(t, 6, o->bysite ? &site : &keeper);
  made_string(t, 7, o->bysite ? &keeper : &site);
}

/* A copy of all there is; without STACKS, callers are added up. The rows of a
** keeper's site are neighbours then.
*/
static LpMade *made_rows(const LpJoin *j, int stacks, size_t *n)
{
  LpMade *row = lp_alloc((j->nmade + 1) * sizeof(*row));
  size_t i, count = 0;
  LpIdMap at = {0};
  for (i = 0; i < j->nmade; i++) {
    const LpMade *m = &j->made[i];
    uint64_t key = (uint64_t)m->keeper << 32 | m->site;
    uint32_t new = (uint32_t)count;
    uint32_t one = stacks ? new : lp_idmap_add(&at, key, new);
    if (one == new)
      row[count++] = *m;
    else
      lp_made_merge(&row[one], m);
  }
  lp_idmap_free(&at);
  *n = count;
  return row;
}

/* Rows by keeper, or if BYSITE by site, with all callers if STACKS. */
static void made_table(LpTable *t, const LpSubject *subject,
                       const LpReportOptions *opt, int bysite, int stacks)
{
  const LpJoin *j = subject->join;
  Order o = {.bysite = bysite};
  LpMade *row;
  size_t i, n;
  made_columns(t, bysite, stacks);
  if (!j)
    return;
  row = made_rows(j, stacks, &n);
  for (i = 0; i < n; i++)
    *group_of(&o.group, order_key(&o, &row[i])) += row[i].live.bytes;
  qsort_r(row, n, sizeof(*row), order_compare, &o);
  for (i = 0; i < n; i++)
    if (lp_heap_enough(j->heap, opt, row[i].live.bytes))
      made_row(t, subject, &o, &row[i], stacks);
  group_close(&o.group);
  free(row);
}

/* -- Views ----------------------------------------------------------------- */

/* By what keeps it. */
static void keepers_table(LpTable *t, const LpSubject *subject,
                          const LpReportOptions *opt)
{
  made_table(t, subject, opt, 0, 0);
}

const LpReport lp_report_heap_keepers = {.view = "keepers",
                                         .of = LP_OF_JOINED,
                                         .takes = MADE_TAKES,
                                         .table = keepers_table};

/* By who made it. */
static void makers_table(LpTable *t, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  made_table(t, subject, opt, 1, 0);
}

const LpReport lp_report_heap_makers = {.view = "makers",
                                        .of = LP_OF_JOINED,
                                        .takes = MADE_TAKES,
                                        .table = makers_table};

/* By what keeps it, with all callers of who made it. */
static void stacks_table(LpTable *t, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  made_table(t, subject, opt, 0, 1);
}

const LpReport lp_report_heap_stacks = {.view = "stacks",
                                        .of = LP_OF_JOINED,
                                        .takes = MADE_TAKES,
                                        .table = stacks_table};

/*
** Tables of a heap dump that is joined with a recording: what each object keeps
** by who made it, what each site made by who keeps it, and whole stacks.
*/

#include <stdlib.h>

#include "heap_columns.h"
#include "heap_join.h"
#include "text.h"

#define MADE_TAKES                                                             \
  (LP_TAKES_ROWS | LP_TAKES_MIN | LP_TAKES_HUMAN | LP_TAKES_DIFF)
#define MADE_MS 1000000 /* Nanoseconds. */

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

/* A row. */
typedef struct Row {
  LpHeapRow r;
  uint64_t group;          /* Bytes of its group. */
  uint64_t oldest, newest; /* Ages, in nanoseconds. */
  const LpMade *m;
} Row;

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

/* Append the site. */
static void row_site(LpBuf *b, const void *view, const void *row)
{
  const LpSubject *subject = view;
  lp_join_site(b, subject->prof, ((const Row *)row)->m->site);
}

/* Append the site and its callers. */
static void row_stack(LpBuf *b, const void *view, const void *row)
{
  const LpSubject *subject = view;
  made_stack(b, subject->prof, ((const Row *)row)->m);
}

/* Append what keeps it. */
static void row_keeper(LpBuf *b, const void *view, const void *row)
{
  const LpSubject *subject = view;
  lp_join_keeper(b, subject->join, ((const Row *)row)->m->keeper);
}

/* Bytes of groups, and ages, cannot be added up. */
#define GROUP(title)                                                           \
  LP_FIELD_NUMBER("group", title, LP_UNIT_BYTES, Row, group, .alone = 1)
#define AGE(key, title, member)                                                \
  LP_FIELD_NUMBER(key, title, LP_UNIT_NS, Row, member, .alone = 1)

static const LpField made_kept = {GROUP("kept")};
static const LpField made_made = {GROUP("made")};
static const LpField made_oldest = {AGE("oldest", "oldest (s)", oldest)};
static const LpField made_newest = {AGE("newest", "newest (s)", newest)};
static const LpField made_at = {LP_FIELD_TEXT("name", "made at", row_site)};
static const LpField made_keeper = {
    LP_FIELD_TEXT("keeper", "kept by", row_keeper)};
static const LpField made_by = {LP_FIELD_TEXT("name", "kept by", row_keeper)};
static const LpField made_site = {LP_FIELD_TEXT("site", "made at", row_site)};
static const LpField made_stackfield = {
    LP_FIELD_TEXT("stack", "made at", row_stack)};

/* An age in nanoseconds. */
static uint64_t made_age(uint64_t ms)
{
  return ms == UINT64_MAX ? LP_UNKNOWN : ms * MADE_MS;
}

/* Add a row. */
static void made_row(const LpColumns *c, Order *o, const LpMade *m)
{
  Row r = {.group = *group_of(&o->group, order_key(o, m)),
           .r = {.bytes = m->live.bytes, .objects = m->live.n},
           .oldest = made_age(m->oldest),
           .newest = made_age(m->newest),
           .m = m};
  lp_columns_row(c, &r, NULL);
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

/* Rows by keeper, or if BYSITE by site, with all callers if STACKS. In a
** comparison they are of what was born since the base.
*/
static void made_table(LpTable *t, const LpSubject *subject,
                       const LpReportOptions *opt, int bysite, int stacks)
{
  const LpField *const list[] = {bysite ? &made_made : &made_kept,
                                 &lp_col_share,
                                 &lp_col_objects,
                                 &made_oldest,
                                 &made_newest,
                                 bysite ? &made_at : &made_by,
                                 bysite   ? &made_keeper
                                 : stacks ? &made_stackfield
                                          : &made_site};
  const LpJoin *j = subject->join;
  LpColumns c = {.t = t,
                 .field = list,
                 .n = LP_NFIELDS(list),
                 .view = subject,
                 .all = j && !j->fresh ? lp_heap_bytes(j->heap) : 0};
  Order o = {.bysite = bysite};
  LpMade *row;
  size_t i, n;
  lp_columns_add(&c);
  if (!j)
    return;
  if (j->fresh)
    lp_buf_puts(&t->note, ", of what was born since");
  for (i = 0; i < j->nmade && j->fresh; i++)
    c.all += j->made[i].live.bytes;
  row = made_rows(j, stacks, &n);
  for (i = 0; i < n; i++)
    *group_of(&o.group, order_key(&o, &row[i])) += row[i].live.bytes;
  qsort_r(row, n, sizeof(*row), order_compare, &o);
  for (i = 0; i < n; i++)
    if (lp_report_enough(opt, row[i].live.bytes, c.all))
      made_row(&c, &o, &row[i]);
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

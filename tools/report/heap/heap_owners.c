/*
** --view=owners, --path=OBJECT --all: all ways from the roots to objects, as a
** tree.
*/

#include <inttypes.h>
#include <stdlib.h>

#include "find.h"
#include "heap_columns.h"
#include "heap_report.h"
#include "owners.h"

#define OWNERS_SETS  3 /* That are named, */
#define OWNERS_STEPS 4 /* and references of one owner to an object. */

/* A row. */
typedef struct Row {
  LpHeapRow r;
  const LpOwners *all;
  const LpOwner *o;
  uint64_t held;
} Row;

/* Append the address of a row's only object. */
static void row_address(LpBuf *b, const void *view, const void *row)
{
  const Row *r = row;
  if (r->o->n == 1)
    lp_col_address.text(b, view, &r->r);
}

/* Append the references of FROM to an object; LP_NONE: none. */
static void row_steps(LpBuf *b, const LpHeap *h, uint32_t from, uint32_t id)
{
  const LpGraph *g = &h->dump.graph;
  const LpEdge *e = from == LP_NONE ? NULL : lp_graph_first(g, from);
  unsigned n = 0;
  for (; e; e = lp_graph_next(e)) {
    if (lp_edge_to(e) != id)
      continue;
    if (n++ >= OWNERS_STEPS)
      continue;
    lp_buf_puts(b, n > 1 ? ", " : "");
    lp_path_step(b, &h->dump, from, e);
  }
  if (n > OWNERS_STEPS)
    lp_buf_printf(b, " and %u more", n - OWNERS_STEPS);
  if (n)
    lp_buf_puts(b, "  ");
}

/* Append how a row is reached, and what it is. */
static void row_name(LpBuf *b, const void *view, const void *row)
{
  const LpHeap *h = view;
  const Row *r = row;
  const LpPaths *p = &r->all->paths;
  uint32_t id = r->o->id;
  lp_buf_printf(b, "%*s", (int)(2 * r->o->depth), "");
  if (r->o->n > 1) {
    lp_buf_printf(b, "%zu x ", r->o->n);
  } else if (r->o->last) {
    row_steps(b, h, r->o->from, id);
  } else {
    lp_path_step(b, &h->dump, p->from[id], &h->dump.graph.edge[p->edge[id]]);
    lp_buf_puts(b, "  ");
  }
  if (r->o->n > 1 && h->shapes.of[id] != LP_NONE)
    lp_shape_name(b, h, h->shapes.of[id]);
  else
    lp_shape_nameof(b, h, id);
}

static const LpField row_held = {
    LP_FIELD_NUMBER("objects", "objects", LP_UNIT_COUNT, Row, held, .alone = 1),
    .percent = "objects-percent"};
static const LpField row_addressfield = {
    LP_FIELD_TEXT("address", "address", row_address)};
static const LpField row_namefield = {
    LP_FIELD_TEXT("name", "all ways to them", row_name)};

/* Append what one owner is, by its number in bits. */
static void owners_one(LpBuf *b, const LpHeap *h, const LpOwners *o,
                       unsigned bit)
{
  const LpOwner *row;
  if (bit == LP_OWNERS_BITS - 1 || o->owner[bit] == LP_OWNERS_ROOT) {
    lp_buf_puts(b, bit == LP_OWNERS_BITS - 1 ? "others" : "the roots");
    return;
  }
  row = &o->row[o->owner[bit]];
  if (row->n > 1) {
    lp_buf_printf(b, "%zu x ", row->n);
    lp_shape_nameof(b, h, row->id);
  } else {
    lp_path_name(b, &h->dump, &o->paths, row->id, LP_HEAP_STEPS);
  }
}

/* Append which owners some of the objects have. */
static void owners_set(LpBuf *b, const LpHeap *h, const LpOwners *o,
                       const LpOwnersBy *by)
{
  uint64_t bits = by->bits;
  lp_buf_printf(b, "%" PRIu64 " by ", by->n);
  for (; bits; bits &= bits - 1) {
    owners_one(b, h, o, (unsigned)__builtin_ctzll(bits));
    if (bits & (bits - 1))
      lp_buf_puts(b, " and ");
  }
}

/* Append who has how many of the objects. */
static void owners_sets(LpBuf *b, const LpHeap *h, const LpOwners *o)
{
  uint64_t left = o->objects - o->alone;
  size_t i;
  lp_buf_printf(b, ", %" PRIu64, o->objects);
  for (i = 0; i < o->nby && i < OWNERS_SETS; i++) {
    lp_buf_puts(b, i ? "; " : ": ");
    owners_set(b, h, o, &o->by[i]);
    left -= o->by[i].n;
  }
  if (i < o->nby)
    lp_buf_printf(b, "; %" PRIu64 " by others", left);
  if (o->alone)
    lp_buf_printf(b, "; %" PRIu64 " only through others of them", o->alone);
}

/* All ways to what --path names. */
static void owners_table(LpTable *t, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  static const LpField *const list[] = {&row_held, &row_addressfield,
                                        &lp_col_depth, &row_namefield};
  const LpHeap *h = subject->heap;
  LpColumns c = lp_heap_columns(t, h, list, LP_NFIELDS(list), 0);
  LpOwners o;
  uint32_t *id;
  size_t n, i;
  if (!h || !opt->path)
    return;
  id = lp_heap_named(h, opt->path, &n);
  lp_owners_open(&o, h, id, n);
  c.all = o.objects;
  for (i = 0; i < o.n; i++) {
    Row r = {.r = lp_heap_row(h, o.row[i].id), .all = &o, .o = &o.row[i]};
    r.r.depth = o.row[i].depth;
    r.held = o.row[i].held;
    lp_columns_row(&c, &r, NULL);
  }
  if (n)
    owners_sets(&t->note, h, &o);
  lp_owners_close(&o);
  free(id);
}

const LpReport lp_report_heap_owners = {.view = "owners",
                                        .of = LP_OF_HEAP,
                                        .takes = LP_TAKES_PATH | LP_TAKES_ALL |
                                                 LP_TAKES_HUMAN,
                                        .table = owners_table};

/*
** Holders of what several objects keep together, by names.
*/

#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "freed.h"
#include "heap/heap_report.h"
#include "together.h"

/* -- Names ----------------------------------------------------------------- */

/* Append the name of a holder. Returns 0 if its path is cut. */
static int named_text(LpBuf *b, const LpHeap *h, const LpHolder *holder)
{
  int whole = lp_path_name(b, &h->dump, &h->paths, holder->id, LP_HEAP_STEPS);
  if (holder->edge != LP_NONE)
    lp_path_step(b, &h->dump, holder->id, &h->dump.graph.edge[holder->edge]);
  return whole;
}

/* The names of a holder; *CUT is set if its path is cut. */
static LpNamed named_of(const LpHeap *h, const LpHolder *holder, int *cut)
{
  LpHolder object = {holder->id, LP_NONE};
  LpBuf path = {0}, step = {0};
  lp_buf_puts(&path, "");
  lp_buf_puts(&step, "");
  *cut |= !named_text(&path, h, &object);
  if (holder->edge == LP_NONE) {
    lp_buf_free(&step);
    return (LpNamed){path.s, NULL};
  }
  lp_path_step(&step, &h->dump, holder->id, &h->dump.graph.edge[holder->edge]);
  return (LpNamed){path.s, step.s};
}

/* For qsort. */
static int named_before(const void *a, const void *b)
{
  const LpNamed *x = a, *y = b;
  int res = strcmp(x->path, y->path);
  return res ? res : strcmp(x->step ? x->step : "", y->step ? y->step : "");
}

LpTogether lp_together(const LpHeap *h, const LpShared *g)
{
  LpTogether t = {.n = g->nholder, .cut = g->nholder > LP_HELD_PARTS};
  size_t i;
  t.holder = lp_alloc((t.n + 1) * sizeof(*t.holder));
  for (i = 0; i < t.n; i++)
    t.holder[i] = named_of(h, &g->holder[i], &t.cut);
  qsort(t.holder, t.n, sizeof(*t.holder), named_before);
  return t;
}

void lp_together_close(LpTogether *t)
{
  size_t i;
  for (i = 0; i < t->n; i++) {
    free(t->holder[i].path);
    free(t->holder[i].step);
  }
  free(t->holder);
}

int lp_together_same(const LpTogether *a, const LpTogether *b)
{
  size_t i;
  for (i = 0; i < a->n && a->n == b->n; i++)
    if (named_before(&a->holder[i], &b->holder[i]) != 0)
      return 0;
  return a->n == b->n;
}

void lp_together_name(LpBuf *b, const LpHeap *h, const LpShared *g, size_t most)
{
  size_t shown = g->nholder > most + 1 ? most : g->nholder, i;
  for (i = 0; i < shown; i++) {
    if (i)
      lp_buf_puts(b, i + 1 == g->nholder ? " and " : ", ");
    named_text(b, h, &g->holder[i]);
  }
  if (shown < g->nholder)
    lp_buf_printf(b, " and %zu more", g->nholder - shown);
  lp_buf_puts(b, " together");
}

/* -- In a dump ------------------------------------------------------------- */

/* Adds a holder to the last part. */
static void held_add(LpHeldBy *h, uint32_t id, uint32_t edge)
{
  h->holder = lp_grow(h->holder, &h->cap, h->n + 1, sizeof(*h->holder));
  h->holder[h->n++] = (LpHeldPart){{id, edge}, h->parts - 1};
}

/* Adds the references of an object that have a name. */
static void held_edges(LpHeldBy *held, const LpHeap *h, uint32_t id,
                       const char *step)
{
  const LpGraph *g = &h->dump.graph;
  const LpEdge *e = lp_graph_first(g, id);
  LpBuf b = {0};
  for (; e; e = lp_graph_next(e)) {
    b.n = 0;
    lp_buf_puts(&b, "");
    lp_path_step(&b, &h->dump, id, e);
    if (strcmp(b.s, step) == 0)
      held_add(held, id, (uint32_t)(e - g->edge));
  }
  lp_buf_free(&b);
}

/* The holders of a group that are there. References of one object are a part.
 */
static LpHeldBy held_of(const LpHeap *h, const LpTogether *t)
{
  LpHeldBy held = {.parts = 0};
  size_t i, k, n;
  for (i = 0; i < t->n && !t->cut; i++) {
    const LpNamed *name = &t->holder[i];
    uint32_t *id = lp_heap_at(h, name->path, &n);
    if (!i || strcmp(name->path, name[-1].path) != 0)
      held.parts++;
    for (k = 0; k < n; k++) {
      if (name->step)
        held_edges(&held, h, id[k], name->step);
      else
        held_add(&held, id[k], LP_NONE);
    }
    free(id);
  }
  return held;
}

uint64_t *lp_together_bytes(const LpHeap *h, const LpTogether *t, size_t n)
{
  uint64_t *bytes = lp_zalloc(n + 1, sizeof(*bytes));
  LpHeldBy *held = lp_zalloc(n + 1, sizeof(*held));
  LpDomTree tree = lp_heap_tree(h);
  size_t i;
  for (i = 0; i < n; i++)
    held[i] = held_of(h, &t[i]);
  lp_held_exactly(&tree, held, n);
  for (i = 0; i < n; i++) {
    bytes[i] = held[i].bytes;
    free(held[i].holder);
  }
  free(held);
  return bytes;
}

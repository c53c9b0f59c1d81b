/*
** Tables with weak keys or values: what is in them, and what only such tables
** keep.
*/

#include <stdlib.h>

#include "mem.h"
#include "weak.h"

/* -- Entries --------------------------------------------------------------- */

/* How many of the N weak references from R on are of one entry: a key, perhaps
** with its value.
*/
static size_t entry_size(const LpWeak *r, size_t n)
{
  return n > 1 && lp_edge_kind(&r[0].edge) == LP_EDGE_KEY &&
                 lp_edge_kind(&r[1].edge) == LP_EDGE_FIELD &&
                 lp_edge_detail(&r[1].edge) == lp_edge_to(&r[0].edge)
             ? 2
             : 1;
}

/* Count the entry of the weak references from R on. */
static void entry_add(LpWeakSum *s, const LpHeap *h, const LpWeak *r, size_t n)
{
  size_t i;
  int held = 1, gone = 0;
  for (i = 0; i < n; i++) {
    uint32_t id = lp_edge_to(&r[i].edge);
    held &= lp_dominators_has(&h->dom, id);
    gone |= h->ephemerons.free && h->ephemerons.free[id];
  }
  s->weak++;
  s->held += (unsigned)held;
  s->by_values += (unsigned)(held && gone);
}

/* Count the entries of a table. */
static LpWeakSum table_sum(const LpHeap *h, const LpWeakTable *t)
{
  const LpDump *d = &h->dump;
  LpWeakSum s = {.table = t->id, .mode = t->mode, .entries = t->entries};
  size_t i = t->first, end = i, n;
  while (end < d->nweak && d->weak[end].from == t->id)
    end++;
  for (; i < end; i += n) {
    n = entry_size(&d->weak[i], end - i);
    entry_add(&s, h, &d->weak[i], n);
  }
  return s;
}

/* -- What would be free ---------------------------------------------------- */

/* Add what would be free to the table that leads to it: AT has their numbers,
** by object, plus 1.
*/
static void freed_add(const LpHeap *h, LpWeakSum *sum, const uint32_t *at)
{
  const uint8_t *gone = h->ephemerons.free;
  const LpDominators *dom = &h->dom;
  uint32_t *top = lp_alloc(h->dump.graph.n * sizeof(*top)), i;
  for (i = 0; i < dom->n; i++) {
    uint32_t id = dom->order[i];
    top[id] = gone[id] ? top[dom->parent[id]] : id;
    if (gone[id] && at[top[id]])
      sum[at[top[id]] - 1].freed += lp_graph_size(&h->dump.graph, id);
  }
  free(top);
}

/* Set what would be free without each of N tables. */
static void tables_freed(const LpHeap *h, LpWeakSum *sum, size_t n)
{
  uint32_t *at;
  size_t i;
  if (!h->ephemerons.free)
    return;
  at = lp_zalloc(h->dump.graph.n, sizeof(*at));
  for (i = 0; i < n; i++)
    if (sum[i].mode == LJM_TABLE_WEAKKEY)
      at[sum[i].table] = (uint32_t)i + 1;
  freed_add(h, sum, at);
  free(at);
}

/* -- All tables ------------------------------------------------------------ */

/* For qsort. */
static int sum_compare(const void *x, const void *y)
{
  const LpWeakSum *a = x, *b = y;
  if (a->freed != b->freed)
    return a->freed < b->freed ? 1 : -1;
  if (a->entries != b->entries)
    return a->entries < b->entries ? 1 : -1;
  return a->table < b->table ? -1 : 1;
}

/* Is a table in use, and has it more than its __mode, if it is its own
** metatable? The VM's own tables are, and some are empty in all programs.
*/
static int table_has(const LpHeap *h, const LpWeakTable *t)
{
  return lp_dominators_has(&h->dom, t->id) && t->entries &&
         (t->entries > 1 ||
          lp_dump_link(&h->dump, t->id, LP_EDGE_META) != t->id);
}

LpWeakSum *lp_weak_tables(const LpHeap *h, size_t *n)
{
  const LpDump *d = &h->dump;
  LpWeakSum *sum = lp_alloc((d->nweaktable + 1) * sizeof(*sum));
  size_t i;
  *n = 0;
  for (i = 0; i < d->nweaktable; i++)
    if (table_has(h, &d->weaktable[i]))
      sum[(*n)++] = table_sum(h, &d->weaktable[i]);
  tables_freed(h, sum, *n);
  qsort(sum, *n, sizeof(*sum), sum_compare);
  return sum;
}

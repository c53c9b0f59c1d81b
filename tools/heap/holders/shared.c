/*
** Memory that several objects keep together, in groups by their holders.
*/

#include <stdlib.h>
#include <string.h>

#include "cycles.h"
#include "freed.h"
#include "gather.h"
#include "sets.h"
#include "shared.h"

#define TOPS_MOST 64 /* Objects whose kids are looked at, */
#define WORK_MOST 16 /* and how often each object, at most on average. */

/* -- The holders of each kid ----------------------------------------------- */

/* The kids of an object. */
typedef struct Find {
  const LpDomTree *t;
  LpSiblings s;
  LpCycles c;
  LpSets sets;
  uint32_t *set;  /* By cycle: the kids that hold it. */
  uint32_t *last; /* By cycle: the last kid that was counted, + 1, */
  uint8_t *count; /* and how many were. */
} Find;

/* Calls FOUND for each reference of kids that are not shared, and of what they
** dominate, to a cycle; kid by kid.
*/
static void find_entries(Find *f,
                         void (*found)(Find *f, uint32_t kid, uint32_t cycle))
{
  const LpDomTree *t = f->t;
  uint32_t kid = 0, at = lp_siblings_next(&f->s, t, &kid, LP_NONE);
  for (; at != LP_NONE; at = lp_siblings_next(&f->s, t, &kid, at)) {
    const LpEdge *e = lp_graph_first(t->g, at);
    for (; e; e = lp_graph_next(e)) {
      uint32_t to = lp_siblings_edge(&f->s, t, at, e);
      if (to != LP_NONE)
        found(f, kid, f->c.of[to]);
    }
  }
}

/* Counts the kids that refer to a cycle: one after the other does. */
static void entry_count(Find *f, uint32_t kid, uint32_t cycle)
{
  if (f->last[cycle] == kid + 1)
    return;
  f->last[cycle] = kid + 1;
  f->count[cycle] += f->count[cycle] <= LP_SET_MOST;
}

/* Add a kid to the holders of a cycle; of one that has too many, none is. */
static void entry_add(Find *f, uint32_t kid, uint32_t cycle)
{
  f->set[cycle] =
      f->count[cycle] > LP_SET_MOST
          ? LP_SET_MANY
          : lp_sets_union(&f->sets, f->set[cycle], lp_sets_one(&f->sets, kid));
}

/* A cycle to which another one leads has its holders, too. */
static void find_sets(Find *f)
{
  const LpCycles *c = &f->c;
  const LpRefs *r = &c->refs;
  uint32_t at, k;
  f->last = lp_zalloc(c->n + 1, sizeof(*f->last));
  f->count = lp_zalloc(c->n + 1, sizeof(*f->count));
  find_entries(f, entry_count);
  free(f->last);
  f->set = lp_zalloc(c->n + 1, sizeof(*f->set));
  find_entries(f, entry_add);
  free(f->count);
  for (at = c->n; at-- > 0;) {
    for (k = r->first[at]; k < r->first[at + 1]; k++) {
      uint32_t *set = &f->set[r->to[k]];
      *set = lp_sets_union(&f->sets, *set, f->set[at]);
    }
  }
}

/* -- Sets that keep enough ------------------------------------------------- */

/* A number, of a set or of an object, and bytes. */
typedef struct Total {
  uint64_t bytes;
  uint32_t of;
} Total;

/* For qsort: most bytes first. */
static int total_before(const void *a, const void *b)
{
  const Total *x = a, *y = b;
  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return x->of < y->of ? -1 : x->of > y->of;
}

/* What the cycles of each set keep, most first. The caller frees the array. */
static Total *find_totals(const Find *f)
{
  Total *total = lp_zalloc(f->sets.sets.n, sizeof(*total));
  uint32_t at, set;
  for (set = 0; set < f->sets.sets.n; set++)
    total[set].of = set;
  for (at = 0; at < f->c.n; at++)
    total[f->set[at]].bytes += lp_cycles_bytes(&f->c, f->t, &f->s, at);
  total[LP_SET_MANY].bytes = 0;
  qsort(total, set, sizeof(*total), total_before);
  return total;
}

/* Finds the sets that keep LEAST bytes or more. The caller frees their `of`. */
static void find_large(const Find *f, uint64_t least, LpKidSets *out)
{
  Total *total = find_totals(f);
  LpIdMap number = {0}; /* Of sets. */
  uint32_t at;
  *out = (LpKidSets){.of = lp_alloc(((size_t)f->c.n + 1) * sizeof(uint32_t))};
  while (out->n < LP_SHARED_MOST && out->n < f->sets.sets.n &&
         total[out->n].bytes >= least) {
    lp_idmap_put(&number, total[out->n].of, (uint32_t)out->n);
    out->bytes[out->n] = total[out->n].bytes;
    out->n++;
  }
  for (at = 0; at < f->c.n; at++)
    out->of[at] = lp_idmap_get(&number, f->set[at]);
  lp_idmap_free(&number);
  free(total);
}

/* The groups of what TOP dominates. Returns how many objects that is. */
static size_t sharing_below(LpSharing *out, const LpDomTree *t, uint32_t top,
                            const uint8_t *direct, uint32_t *of, uint64_t least)
{
  size_t before = out->n, below;
  Find f = {.t = t};
  LpKidSets large;
  lp_siblings_open(&f.s, t, top, direct, of);
  lp_cycles_open(&f.c, t, &f.s);
  lp_sets_open(&f.sets);
  find_sets(&f);
  find_large(&f, least, &large);
  free(f.set);
  lp_sets_close(&f.sets);
  if (large.n)
    lp_gather(t, &f.s, &f.c, &large, least, out);
  free(large.of);
  lp_cycles_close(&f.c);
  if (out->n > before)
    lp_freed(t, &f.s, out->group + before, out->n - before);
  below = f.s.below;
  lp_siblings_close(&f.s, t);
  return below;
}

/* -- Where memory is shared ------------------------------------------------ */

/* Puts an object that dominates so many shared bytes into its place. Returns
** how many there are.
*/
static size_t tops_add(Total *top, size_t n, uint32_t id, uint64_t bytes)
{
  size_t at = n < TOPS_MOST ? n : TOPS_MOST - 1;
  if (n == TOPS_MOST && top[at].bytes >= bytes)
    return n;
  for (; at > 0 && top[at - 1].bytes < bytes; at--)
    top[at] = top[at - 1];
  top[at] = (Total){bytes, id};
  return n < TOPS_MOST ? n + 1 : n;
}

/* Finds the objects that dominate most shared bytes directly. */
static size_t tops_find(Total *top, const LpDomTree *t, const uint8_t *direct,
                        uint64_t least)
{
  uint64_t *sum = lp_zalloc(t->g->n, sizeof(*sum));
  uint32_t i;
  size_t n = 0;
  for (i = 1; i < t->dom->n; i++) {
    uint32_t id = t->dom->order[i];
    if (!direct[id])
      sum[t->dom->parent[id]] += t->dom->retained[id];
  }
  for (i = 0; i < t->dom->n; i++) {
    uint32_t id = t->dom->order[i];
    if (sum[id] && sum[id] >= least)
      n = tops_add(top, n, id, sum[id]);
  }
  free(sum);
  return n;
}

void lp_sharing_open(LpSharing *s, const LpDomTree *t, uint64_t least)
{
  uint8_t *direct = lp_siblings_direct(t);
  Total top[TOPS_MOST];
  size_t n = tops_find(top, t, direct, least), i, work = 0;
  uint32_t *of = lp_alloc(t->g->n * sizeof(*of));
  *s = (LpSharing){0};
  memset(of, 0xff, t->g->n * sizeof(*of));
  for (i = 0; i < n && s->n < LP_SHARED_MOST; i++) {
    if (work >= WORK_MOST * t->g->n)
      break;
    work += sharing_below(s, t, top[i].of, direct, of, least);
  }
  free(direct);
  free(of);
}

uint8_t *lp_sharing_of(const LpSharing *s, size_t n)
{
  uint8_t *of = lp_zalloc(n, 1);
  size_t i, k;
  for (i = 0; i < s->n; i++)
    for (k = 0; k < s->group[i].n; k++)
      of[s->group[i].id[k]] = (uint8_t)(i + 1);
  return of;
}

void lp_sharing_close(LpSharing *s)
{
  size_t i;
  for (i = 0; i < s->n; i++) {
    free(s->group[i].id);
    free(s->group[i].holder);
  }
  free(s->group);
  *s = (LpSharing){0};
}

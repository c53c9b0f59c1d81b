/*
** Keepers of what is new.
**
** They are found as leak suspects are: from the root down to where what is new
** branches out, or where a list of objects begins that look alike. Entries of a
** keeper are told with it, and what they keep.
*/

#include <stdlib.h>

#include "new_keepers.h"
#include "suspects.h"

#define NEW_FEW   5 /* Percent of what is new: less may be an entry. */
#define NEW_CHAIN 3 /* Objects of a list. */

enum { NEW_KEEPER, NEW_ENTRY }; /* Marks of objects. */

typedef struct Search {
  const LpHeap *h;
  uint64_t *sum;  /* By object: new bytes of it and of all that it dominates. */
  uint64_t least; /* Of a keeper. */
  LpIdMap mark;
} Search;

/* Sum up what is new. In samples, it is what these stand for. */
static void search_sum(Search *s, LpReplay *r)
{
  const LpHeap *h = s->h;
  LpScale *scale = lp_zalloc(1, sizeof(*scale));
  size_t i;
  lp_scale_open(scale, r->st.sample);
  s->sum = lp_zalloc(h->dump.graph.n, sizeof(*s->sum));
  for (i = 0; i < h->dump.nblock; i++) {
    const LpDumpBlock *b = &h->dump.block[i];
    const LpObjectAge *was = lp_replay_find(r, b->addr);
    if (was && lp_replay_isnew(r, was) && lp_dominators_has(&h->dom, b->id))
      s->sum[b->id] += lp_weigh(scale, b->size).bytes;
  }
  for (i = h->dom.n; i-- > 1;) {
    uint32_t id = h->dom.order[i];
    s->sum[h->dom.parent[id]] += s->sum[id];
  }
  s->least = s->sum[LP_GRAPH_ROOT] / 100 * LP_JOIN_PERCENT + 1;
  free(scale);
}

/* The object that has nearly all of what is new below another one, or LP_NONE:
** it branches out there.
*/
static uint32_t search_heir(const Search *s, uint32_t id)
{
  uint32_t kid = s->h->kids.first[id];
  while (kid != LP_NONE && s->sum[kid] <= s->sum[id] / 10 * 8)
    kid = s->h->kids.next[kid];
  return kid;
}

/* Do two objects look alike? A list of tables in another one need not. */
static int search_alike(const Search *s, uint32_t a, uint32_t b)
{
  const uint32_t *shape = s->h->shapes.of;
  return shape[a] == shape[b] && !lp_shape_isplain(s->h, shape[a]);
}

/* Does what is new branch out below an object, or is that the first one of a
** list?
*/
static int search_gathers(const Search *s, uint32_t id)
{
  uint32_t heir = search_heir(s, id);
  unsigned n = 1;
  for (; heir != LP_NONE && search_alike(s, id, heir); n++) {
    if (n + 1 == NEW_CHAIN)
      return 1;
    id = heir;
    heir = search_heir(s, id);
  }
  return n == 1 && heir == LP_NONE;
}

/* Is an object below a keeper told with that: an entry of a list, the next one
** of its kind, or what has a key without a name?
*/
static int search_isentry(const Search *s, uint32_t id)
{
  const LpHeap *h = s->h;
  uint32_t up = h->dom.parent[id];
  LpEdgeKind kind = lp_edge_kind(&h->dump.graph.edge[h->paths.edge[id]]);
  return search_alike(s, id, up) ||
         (h->paths.from[id] == up &&
          (kind == LP_EDGE_ITEM || kind == LP_EDGE_VALUE));
}

/* Entries of a keeper are marked. */
static void search_entries(Search *s, uint32_t id)
{
  uint32_t entry[LP_SUSPECT_ALIKE];
  size_t n = lp_suspect_entries(s->h, id, s->sum, s->least,
                                s->sum[LP_GRAPH_ROOT] / 100 * NEW_FEW, entry);
  while (n-- > 0)
    if (lp_idmap_get(&s->mark, entry[n]) == LP_NONE)
      lp_idmap_put(&s->mark, entry[n], NEW_ENTRY);
}

/* Look at an object, whose dominator was looked at. Returns whether it becomes
** a keeper.
*/
static int search_look(Search *s, uint32_t id)
{
  uint32_t mark = lp_idmap_get(&s->mark, id);
  uint32_t up = lp_idmap_get(&s->mark, s->h->dom.parent[id]);
  int found = 0;
  if (s->sum[id] < s->least || mark == NEW_ENTRY)
    return 0;
  if (mark == LP_NONE) {
    if (up == NEW_ENTRY || (up == NEW_KEEPER && search_isentry(s, id))) {
      lp_idmap_put(&s->mark, id, NEW_ENTRY);
      return 0;
    }
    found = search_gathers(s, id);
    if (!found)
      return 0;
    lp_idmap_put(&s->mark, id, NEW_KEEPER);
  }
  search_entries(s, id);
  return found;
}

/* Mark a keeper that there is already, or what several keep together. */
static void search_keeper(Search *s, const LpKeeper *k)
{
  size_t i;
  if (!k->shared)
    lp_idmap_put(&s->mark, k->id, NEW_KEEPER);
  for (i = 0; k->shared && i < k->shared->n; i++)
    if (lp_idmap_get(&s->mark, k->shared->id[i]) != NEW_KEEPER)
      lp_idmap_put(&s->mark, k->shared->id[i], NEW_ENTRY);
}

size_t lp_new_keepers(const LpHeap *h, LpReplay *r, LpKeeper *keeper, size_t n)
{
  Search s = {.h = h};
  size_t most = n + LP_NEW_KEEPERS;
  uint32_t i;
  search_sum(&s, r);
  for (i = 0; i < n; i++)
    search_keeper(&s, &keeper[i]);
  for (i = 1; i < h->dom.n && n < most; i++)
    if (search_look(&s, h->dom.order[i]))
      keeper[n++] = (LpKeeper){.id = h->dom.order[i]};
  lp_idmap_free(&s.mark);
  free(s.sum);
  return n;
}

/*
** Holders as precisely as possible.
**
** From a kid down, a holder is where the references to a set come from: one
** source that has many of them, or the object that dominates many small ones.
** Sources of little weight are no holders, and what they lead to is in no
** group: so a string that all use does not join what two tables have.
*/

#include <stdlib.h>

#include "narrow.h"

#define NARROW_SPLIT 8 /* An object is told instead of more below it. */
#define NARROW_EDGES 4 /* An object is told instead of more references. */

/* -- Who may be told ------------------------------------------------------- */

/* Puts a weight among the largest; what has no place there is returned. */
static uint64_t weight_put(uint64_t top[NARROW_EDGES], uint64_t weight)
{
  unsigned i;
  for (i = 0; i < NARROW_EDGES; i++) {
    uint64_t less = top[i];
    if (weight > less) {
      top[i] = weight;
      weight = less;
    }
  }
  return weight;
}

/* Is a source told, and not its few references that matter? So it is if these
** are most of what it has, or many small ones lead to the set.
*/
static int source_whole(const LpNarrow *w, uint32_t id)
{
  const LpLeads *l = w->leads;
  const LpEdge *e = lp_graph_first(l->t->g, id);
  uint64_t top[NARROW_EDGES] = {0}, rest = 0;
  uint32_t all = 0, n = 0;
  for (; e; e = lp_graph_next(e)) {
    uint32_t cycle = lp_leads_weighty(l, id, e);
    all++;
    if (cycle == LP_NONE)
      continue;
    n += l->weight[cycle] >= w->least;
    rest += weight_put(top, l->weight[cycle]);
  }
  return n >= all - n || rest >= w->least;
}

/* A new holder's bit. */
static uint64_t holder_new(LpNarrow *w, uint32_t id, int edges)
{
  if (w->nholder == LP_NARROW_MOST)
    return LP_NARROW_OTHER;
  w->holder[w->nholder] = (LpNarrowed){id, edges};
  return 1ull << w->nholder++;
}

/* Puts the heavy marks below one on the list of those to look at, of which
** there are not too many. Returns how many there are.
*/
static size_t narrow_heavy(LpNarrow *w, const LpMark *m)
{
  size_t before = w->nopen, n;
  uint32_t at = m->first;
  for (; at != LP_NONE; at = w->marks.mark[at].next) {
    if (w->marks.mark[at].weight < w->least)
      continue;
    w->open = lp_grow(w->open, &w->capopen, w->nopen + 1, sizeof(*w->open));
    w->open[w->nopen++] = at;
  }
  n = w->nopen - before;
  if (n > NARROW_SPLIT)
    w->nopen = before;
  return n;
}

/* Looks at a mark that is heavy enough. */
static void narrow_look(LpNarrow *w, uint32_t at)
{
  LpMark *m = &w->marks.mark[at];
  int heavy = m->own_weight >= w->least;
  size_t n;
  if (heavy && source_whole(w, m->id)) {
    m->all = m->own = holder_new(w, m->id, 0);
    return;
  }
  n = narrow_heavy(w, m);
  if (n > NARROW_SPLIT || (n == 0 && !heavy))
    m->all = m->own = holder_new(w, m->id, 0);
  else if (heavy)
    m->own = holder_new(w, m->id, 1);
}

/* Finds the holders, from the kids down. */
static void narrow_find(LpNarrow *w)
{
  size_t i;
  for (i = 0; i < w->marks.n; i++) {
    const LpMark *m = &w->marks.mark[i];
    if (m->above != LP_NONE || m->weight < w->least)
      continue;
    w->open = lp_grow(w->open, &w->capopen, w->nopen + 1, sizeof(*w->open));
    w->open[w->nopen++] = (uint32_t)i;
  }
  while (w->nopen)
    narrow_look(w, w->open[--w->nopen]);
}

/* -- Who holds what -------------------------------------------------------- */

/* The holder of which a mark is a part: stored on the way up. */
static uint64_t mark_holder(LpMarks *m, uint32_t at)
{
  uint64_t bits = LP_NARROW_OTHER;
  uint32_t up = at;
  while (up != LP_NONE && !m->mark[up].all)
    up = m->mark[up].above;
  if (up != LP_NONE)
    bits = m->mark[up].all;
  for (; at != up; at = m->mark[at].above)
    m->mark[at].all = bits;
  return bits;
}

/* What a source refers to has its holder. */
static void narrow_source(LpNarrow *w, uint32_t id)
{
  uint32_t at = lp_idmap_get(&w->marks.at, id);
  const LpEdge *e = lp_graph_first(w->leads->t->g, id);
  uint64_t bits;
  if (at == LP_NONE)
    return;
  bits = w->marks.mark[at].own;
  if (!bits)
    bits = mark_holder(&w->marks, at);
  for (; e; e = lp_graph_next(e)) {
    uint32_t cycle = lp_leads_weighty(w->leads, id, e);
    if (cycle != LP_NONE)
      w->bits[cycle] |= bits;
  }
}

/* So has what that leads to. */
static void narrow_bits(LpNarrow *w)
{
  const LpCycles *c = w->leads->c;
  const LpRefs *r = &c->refs;
  uint32_t at, k;
  size_t n;
  for (n = 0; n < w->list->n; n++)
    narrow_source(w, w->list->id[n]);
  for (at = c->n; at-- > 0;)
    for (k = r->first[at]; k < r->first[at + 1]; k++)
      w->bits[r->to[k]] |= w->bits[at];
}

void lp_narrow_open(LpNarrow *w, const LpLeads *l, unsigned set,
                    const LpSources *list, uint64_t least)
{
  *w = (LpNarrow){.leads = l, .set = set, .list = list, .least = least};
  w->bits = lp_zalloc(l->c->n + 1, sizeof(*w->bits));
  lp_marks_open(&w->marks, l, list);
  narrow_find(w);
  narrow_bits(w);
  lp_marks_close(&w->marks);
}

void lp_narrow_close(LpNarrow *w)
{
  free(w->bits);
  free(w->open);
  w->bits = NULL;
  w->open = NULL;
}

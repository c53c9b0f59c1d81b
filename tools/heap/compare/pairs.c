/*
** Two heaps side by side: groups of their dominator trees that stand for the
** same.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"

#define PAIR_STEPS 12 /* Of a path in a name. */

/* -- The heaps ------------------------------------------------------------- */

/* The numbers of the names of a heap's shapes. */
static uint32_t *pairing_names(const LpHeap *h, LpIntern *names)
{
  uint32_t *name = lp_alloc((h->shapes.keys.n + 1) * sizeof(*name)), i;
  LpBuf b = {0};
  for (i = 0; i < h->shapes.keys.n; i++) {
    b.n = 0;
    lp_shape_name(&b, h, i);
    name[i] = lp_intern(names, b.s, b.n);
  }
  lp_buf_free(&b);
  return name;
}

/* Are both dumps of one process? */
static int pairing_same(const LpDumpOrigin *a, const LpDumpOrigin *b)
{
  return a->pid && a->pid == b->pid && a->process_start &&
         a->process_start == b->process_start;
}

LpPairing lp_pairing(const LpHeap *now, const LpHeap *base)
{
  LpPairing g = {.h = {[LP_NOW] = now, [LP_BASE] = base}};
  LpIntern names = {0};
  if (!base)
    return g;
  g.same = pairing_same(&now->dump.origin, &base->dump.origin);
  g.name[LP_NOW] = pairing_names(now, &names);
  g.name[LP_BASE] = pairing_names(base, &names);
  lp_intern_free(&names);
  return g;
}

void lp_pairing_close(LpPairing *g)
{
  free(g->name[LP_NOW]);
  free(g->name[LP_BASE]);
  *g = (LpPairing){0};
}

/* The number of a shape's name; of one heap alone, that of the shape. */
static uint32_t pairing_name(const LpPairing *g, LpSide side, uint32_t shape)
{
  return g->name[side] && shape != LP_NONE ? g->name[side][shape] : shape;
}

/* -- One pair -------------------------------------------------------------- */

LpPair lp_pair_root(const LpPairing *g)
{
  LpPair p = {.g = {[LP_NOW] = lp_group_root(g->h[LP_NOW])}};
  if (g->h[LP_BASE])
    p.g[LP_BASE] = lp_group_root(g->h[LP_BASE]);
  return p;
}

void lp_pair_free(LpPair *p)
{
  lp_group_free(&p->g[LP_NOW]);
  lp_group_free(&p->g[LP_BASE]);
}

uint64_t lp_pair_retained(const LpPair *p)
{
  uint64_t now = p->g[LP_NOW].retained, base = p->g[LP_BASE].retained;
  return now > base ? now : base;
}

void lp_pair_absorb(LpPair *p, const LpPairing *g)
{
  lp_group_absorb(&p->g[LP_NOW], g->h[LP_NOW]);
  if (g->h[LP_BASE])
    lp_group_absorb(&p->g[LP_BASE], g->h[LP_BASE]);
}

/* -- What makes an object the same ----------------------------------------- */

/* Does a reference say which object it is, by a name or at least by a number? A
** key that is no string does not.
*/
static int key_isname(const LpGraph *g, const LpEdge *e)
{
  switch (lp_edge_kind(e)) {
  case LP_EDGE_FIELD:
    return g->type[lp_edge_detail(e)] == LJM_TYPE_STRING;
  case LP_EDGE_VALUE:
  case LP_EDGE_KEY:
  case LP_EDGE_CONSTANT:
    return 0;
  default:
    return 1;
  }
}

/* Append a reference with all that is known of its name: reports cut that. */
static void key_step(LpBuf *b, const LpDump *d, uint32_t from, const LpEdge *e)
{
  size_t n;
  const char *s = NULL;
  if (lp_edge_kind(e) == LP_EDGE_FIELD)
    s = lp_graph_textof(&d->graph, lp_edge_detail(e), &n);
  if (s)
    lp_buf_add(b, s, n);
  else
    lp_path_step(b, d, from, e);
}

/* Append the last step to an object, if that says which one it is. Of numbers
** it is told by NUMBERED whether they do. Returns 0 if it does not.
*/
static int key_name(LpBuf *b, const LpHeap *h, uint32_t id, int numbered)
{
  uint32_t from = h->paths.from[id];
  const LpEdge *e = &h->dump.graph.edge[h->paths.edge[id]];
  if (from != h->dom.parent[id])
    return lp_path_name(b, &h->dump, &h->paths, id, PAIR_STEPS);
  if (!key_isname(&h->dump.graph, e) ||
      (lp_edge_kind(e) == LP_EDGE_ITEM && !numbered))
    return 0;
  key_step(b, &h->dump, from, e);
  return 1;
}

/* Makes the key of an object that is no root: its type, and its last step if
** that has a name. In dumps of one process, others are the same where their
** address is, for the entries of a queue move. In those of two, entries of
** lists are the same by number, and what has no number is only itself.
*/
static void pair_key(LpBuf *b, const LpPairing *g, LpSide side, uint32_t id)
{
  const LpHeap *h = g->h[side];
  b->n = 0;
  lp_buf_printf(b, "%u ", h->dump.graph.type[id]);
  if (key_name(b, h, id, !g->same))
    return;
  b->n = 0;
  if (g->same)
    lp_buf_printf(b, "%u at %" PRIx64, h->dump.graph.type[id],
                  h->dump.graph.node[id].addr);
  else
    lp_buf_printf(b, "%u of %d", id, side);
}

int lp_pair_isone(const LpPairing *g, const LpPair *p)
{
  const LpGroup *now = &p->g[LP_NOW], *base = &p->g[LP_BASE];
  LpBuf a = {0}, b = {0};
  int same;
  if (now->n > 1 || base->n > 1)
    return 0;
  if (!now->n || !base->n || now->id[0] == LP_GRAPH_ROOT)
    return 1;
  pair_key(&a, g, LP_NOW, now->id[0]);
  pair_key(&b, g, LP_BASE, base->id[0]);
  same = a.n == b.n && memcmp(a.s, b.s, a.n) == 0;
  lp_buf_free(&a);
  lp_buf_free(&b);
  return same;
}

void lp_pair_name(LpBuf *b, const LpPairing *g, const LpPair *p)
{
  LpSide side = lp_pair_side(p);
  const LpGroup *group = &p->g[side];
  if (group->apart || group->shape == LP_NONE || !p->g[LP_NOW].n ||
      !p->g[LP_BASE].n || lp_pair_isone(g, p)) {
    lp_group_name(b, g->h[side], group);
    return;
  }
  lp_buf_printf(b, "%zu x ", group->n);
  lp_shape_name(b, g->h[side], group->shape);
}

/* -- Objects on their own -------------------------------------------------- */

/* Keys of objects that are by themselves, and in which heaps they were found.
 */
typedef struct Steps {
  LpIntern keys;
  uint8_t *in; /* Bits of sides. */
  size_t cap;
  LpBuf key; /* The one that is looked up. */
} Steps;

/* Free the memory. */
static void steps_close(Steps *s)
{
  lp_intern_free(&s->keys);
  lp_buf_free(&s->key);
  free(s->in);
}

/* The keys of the objects that one object keeps, of those that keep APART
 * bytes.
 */
static void steps_large(Steps *s, const LpPairing *g, LpSide side, uint32_t id,
                        uint64_t apart)
{
  const LpHeap *h = g->h[side];
  uint32_t kid = h->kids.first[id];
  for (; kid != LP_NONE; kid = h->kids.next[kid]) {
    uint32_t n = s->keys.n, at;
    if (h->dom.retained[kid] < apart)
      continue;
    pair_key(&s->key, g, side, kid);
    at = lp_intern(&s->keys, s->key.s, s->key.n);
    s->in = lp_grow(s->in, &s->cap, n + 1, 1);
    if (at == n)
      s->in[at] = 0;
    s->in[at] |= (uint8_t)(1 << side);
  }
}

/* The smaller objects with one of the keys. */
static void steps_small(Steps *s, const LpPairing *g, LpSide side, uint32_t id,
                        uint64_t apart, LpIdMap *also)
{
  const LpHeap *h = g->h[side];
  uint32_t kid = h->kids.first[id], at, lack = 0;
  for (at = 0; at < s->keys.n; at++)
    lack += !(s->in[at] >> side & 1);
  for (; kid != LP_NONE && lack; kid = h->kids.next[kid]) {
    if (h->dom.retained[kid] >= apart)
      continue;
    pair_key(&s->key, g, side, kid);
    at = lp_intern_find(&s->keys, s->key.s, s->key.n);
    if (at == LP_NONE || s->in[at] >> side & 1)
      continue;
    s->in[at] |= (uint8_t)(1 << side);
    lp_idmap_put(also, kid, 0);
    lack--;
  }
}

/* Objects that keep less than APART bytes but are by themselves, because they
** keep as much in the other heap: their numbers in each heap.
*/
static void pair_also(const LpPairing *g, const LpPair *p, uint64_t apart,
                      LpIdMap also[LP_NSIDE])
{
  Steps s = {.cap = 0};
  unsigned side;
  for (side = LP_NOW; side < LP_NSIDE; side++)
    steps_large(&s, g, (LpSide)side, p->g[side].id[0], apart);
  for (side = LP_NOW; side < LP_NSIDE; side++)
    steps_small(&s, g, (LpSide)side, p->g[side].id[0], apart, &also[side]);
  steps_close(&s);
}

/* -- Pairs below a pair ---------------------------------------------------- */

/* Pairs by what is the same in both heaps. */
typedef struct Below {
  LpPairs list;
  LpIntern keys; /* By number of the pair. */
} Below;

/* What two groups have to have in common; AGAIN: how many of this side have had
** the same.
*/
static void below_key(LpBuf *b, const LpPairing *g, const LpGroup *group,
                      LpSide side, unsigned again)
{
  b->n = 0;
  if (g->h[LP_BASE] && group->apart)
    pair_key(b, g, side, group->id[0]);
  else if (group->apart)
    lp_buf_printf(b, "%u", group->id[0]);
  else
    lp_buf_printf(b, "=%u", pairing_name(g, side, group->shape));
  if (again)
    lp_buf_printf(b, " no. %u", again);
}

/* Add the objects of a group to another one. */
static void group_join(LpGroup *to, LpGroup *from)
{
  size_t i;
  if (!to->n) {
    *to = *from;
  } else {
    to->id = lp_grow(to->id, &to->cap, to->n + from->n, sizeof(*to->id));
    for (i = 0; i < from->n; i++)
      to->id[to->n++] = from->id[i];
    to->retained += from->retained;
    to->bytes += from->bytes;
    free(from->id);
  }
  from->id = NULL;
}

/* The pair that a group of one side belongs to: groups of one shape are the
** same, but an object by itself is no other one.
*/
static LpGroup *below_of(Below *b, const LpPairing *g, const LpGroup *group,
                         LpSide side)
{
  LpGroup *to = NULL;
  LpBuf key = {0};
  unsigned again;
  for (again = 0; !to || (to->n && group->apart); again++) {
    uint32_t n = b->keys.n, at;
    below_key(&key, g, group, side, again);
    at = lp_intern(&b->keys, key.s, key.n);
    b->list.p = lp_grow(b->list.p, &b->list.cap, n + 1, sizeof(*b->list.p));
    if (at == n)
      b->list.p[b->list.n++] = (LpPair){0};
    to = &b->list.p[at].g[side];
  }
  lp_buf_free(&key);
  return to;
}

/* Add the groups of one side. */
static void below_add(Below *b, const LpPairing *g, LpGroups *groups,
                      LpSide side)
{
  size_t i;
  for (i = 0; i < groups->n; i++)
    group_join(below_of(b, g, &groups->g[i], side), &groups->g[i]);
  lp_groups_free(groups);
}

/* For qsort: what keeps most comes first; of two, what is there now, then the
** older object.
*/
static int pair_before(const void *a, const void *b)
{
  const LpPair *x = a, *y = b;
  uint64_t n = lp_pair_retained(x), m = lp_pair_retained(y);
  LpSide i = lp_pair_side(x), k = lp_pair_side(y);
  if (n != m)
    return n > m ? -1 : 1;
  if (i != k)
    return i == LP_NOW ? -1 : 1;
  return x->g[i].id[0] < y->g[k].id[0] ? -1 : x->g[i].id[0] > y->g[k].id[0];
}

/* Leave out the pairs that keep less. */
static void pairs_cut(LpPairs *s, uint64_t least)
{
  size_t i, kept = 0;
  for (i = 0; i < s->n; i++) {
    if (lp_pair_retained(&s->p[i]) >= least)
      s->p[kept++] = s->p[i];
    else
      lp_pair_free(&s->p[i]);
  }
  s->n = kept;
}

LpPairs lp_pairs_below(const LpPairing *g, const LpPair *p, uint64_t least,
                       uint64_t apart)
{
  LpIdMap also[LP_NSIDE] = {{0}};
  int both = p->g[LP_NOW].n && p->g[LP_BASE].n;
  Below b = {.list = {0}};
  unsigned side;
  if (both && p->g[LP_NOW].n == 1 && p->g[LP_BASE].n == 1)
    pair_also(g, p, apart, also);
  else if (both)
    apart = UINT64_MAX;
  for (side = LP_NOW; side < LP_NSIDE; side++) {
    LpGroups groups = {0};
    if (p->g[side].n)
      groups = lp_groups_below(g->h[side], &p->g[side],
                               g->h[LP_BASE] ? 0 : least, apart, &also[side]);
    below_add(&b, g, &groups, (LpSide)side);
    lp_idmap_free(&also[side]);
  }
  lp_intern_free(&b.keys);
  pairs_cut(&b.list, least);
  if (b.list.n)
    qsort(b.list.p, b.list.n, sizeof(*b.list.p), pair_before);
  return b.list;
}

void lp_pairs_free(LpPairs *s)
{
  size_t i;
  for (i = 0; i < s->n; i++)
    lp_pair_free(&s->p[i]);
  free(s->p);
  *s = (LpPairs){0};
}

/*
** The dominator tree as boxes to be drawn, or that of two heaps.
**
** The group that keeps most is expanded next, wherever in the tree it is. What
** is still to be expanded when there are enough boxes, and what is too small,
** becomes one box below each group: sums stay right.
*/

#include <stdlib.h>

#include "heap/heap_queue.h"
#include "heap/heap_report.h"
#include "heap_boxes.h"

#define BOX_PART  50000 /* A box keeps at least this part of all bytes. */
#define BOX_APART 200   /* That part of all bytes: an object has its own box; */
#define BOX_KIDS  25    /* or that part of what its dominator keeps. */
#define WAY_STEPS 48    /* Of a way that are new, before some are left out. */

/* A group that was not expanded yet. */
typedef struct Pending {
  LpPair pair;
  uint32_t parent; /* Of boxes. */
  int alone;       /* One object, before those like it were added. */
  uint64_t kept[LP_NSIDE];
} Pending;

/* Those groups: what keeps most comes first, and of two the older object. */
typedef struct Queue {
  LpQueue order;
  Pending *p;
  size_t n, cap;
} Queue;

/* -- The queue ------------------------------------------------------------- */

/* Add to the queue. Objects of the base have numbers behind those of now. */
static void queue_put(Queue *q, const LpBoxes *b, Pending p)
{
  LpSide side = lp_pair_side(&p.pair);
  LpWaiting w = {lp_pair_retained(&p.pair), p.pair.g[side].id[0],
                 (uint32_t)q->n};
  if (side == LP_BASE)
    w.id += b->heaps.h[LP_NOW]->dump.graph.n;
  q->p = lp_grow(q->p, &q->cap, q->n + 1, sizeof(*q->p));
  q->p[q->n++] = p;
  lp_queue_put(&q->order, w);
}

/* Take out the next one. The queue is not empty. */
static Pending queue_take(Queue *q)
{
  return q->p[lp_queue_take(&q->order).at];
}

/* -- Ways ------------------------------------------------------------------ */

/* Add a way, below FROM. Returns its number. */
static uint32_t way_new(LpBoxes *b, uint32_t from, uint32_t label,
                        uint64_t retained)
{
  b->way = lp_grow(b->way, &b->capway, b->nway + 1, sizeof(*b->way));
  b->way[b->nway] = (LpWay){from, label, retained};
  return (uint32_t)b->nway++;
}

/* One more step, to an object. */
static uint32_t way_step(LpBoxes *b, LpSide side, uint32_t from, uint32_t id)
{
  const LpHeap *h = b->heaps.h[side];
  LpBuf step = {0};
  uint32_t way;
  lp_path_step(&step, &h->dump, h->paths.from[id],
               &h->dump.graph.edge[h->paths.edge[id]]);
  way = way_new(b, from, lp_box_object(&b->names, h, id, &step),
                h->dom.retained[id]);
  lp_idmap_put(&b->ways[side], id, way);
  return way;
}

/* The way to an object. Ways share their beginnings. */
static uint32_t way_to(LpBoxes *b, LpSide side, uint32_t id)
{
  const LpPaths *paths = &b->heaps.h[side]->paths;
  uint32_t step[WAY_STEPS], n = 0, way = LP_NONE;
  for (; id != LP_GRAPH_ROOT && n < WAY_STEPS; id = paths->from[id]) {
    way = lp_idmap_get(&b->ways[side], id);
    if (way != LP_NONE)
      break;
    step[n++] = id;
  }
  if (way == LP_NONE && id != LP_GRAPH_ROOT)
    way = way_new(b, LP_NONE, lp_box_special(&b->names, "...", &(LpBuf){0}), 0);
  while (n > 0)
    way = way_step(b, side, way, step[--n]);
  return way;
}

/* -- Boxes ----------------------------------------------------------------- */

/* How many objects each one keeps alive. */
static uint32_t *boxes_count(const LpHeap *h)
{
  const LpDominators *d = &h->dom;
  uint32_t *kept = lp_zalloc(h->dump.graph.n, sizeof(*kept)), i;
  for (i = d->n; i-- > 0;) {
    uint32_t id = d->order[i];
    kept[id] += (h->dump.graph.flags[id] & LP_NODE_DEFINED) != 0;
    if (id != LP_GRAPH_ROOT)
      kept[d->parent[id]] += kept[id];
  }
  return kept;
}

/* Bytes of the larger heap. */
static uint64_t boxes_bytes(const LpBoxes *b)
{
  const LpHeap *base = b->heaps.h[LP_BASE];
  uint64_t now = lp_heap_bytes(b->heaps.h[LP_NOW]);
  return base && lp_heap_bytes(base) > now ? lp_heap_bytes(base) : now;
}

/* Add a box. Returns its number. */
static uint32_t boxes_add(LpBoxes *b, LpBox box)
{
  b->box = lp_grow(b->box, &b->cap, b->n + 1, sizeof(*b->box));
  b->box[b->n] = box;
  return (uint32_t)b->n++;
}

/* The number of what several objects keep that a pair is now, or LP_NONE. */
static uint32_t boxes_shared(const LpBoxes *b, const LpPair *p)
{
  const LpHeap *h = b->heaps.h[LP_NOW];
  const LpShared *shared = NULL;
  if (p->g[LP_NOW].n)
    shared = lp_group_shared(h, &p->g[LP_NOW], b->shared);
  return shared ? (uint32_t)(shared - h->sharing.group) : LP_NONE;
}

/* What a pair that has all its objects has in one of the heaps, in box AT. */
static LpBoxSide boxes_side(LpBoxes *b, const Pending *p, LpSide side,
                            uint32_t at)
{
  const LpGroup *g = &p->pair.g[side];
  LpBoxSide s = {
      .bytes = g->bytes, .retained = g->retained, .kept = p->kept[side]};
  size_t i;
  for (i = 0; i < g->n; i++) {
    s.objects +=
        (b->heaps.h[side]->dump.graph.flags[g->id[i]] & LP_NODE_DEFINED) != 0;
    b->in[side][g->id[i]] = at + 1;
  }
  return s;
}

/* The box of a pair that has all its objects. */
static uint32_t boxes_pair(LpBoxes *b, const Pending *p)
{
  LpBox box = {.parent = p->parent,
               .label = LP_NONE,
               .way = LP_NONE,
               .shared = boxes_shared(b, &p->pair)};
  LpSide side = lp_pair_side(&p->pair);
  const LpGroup *g = &p->pair.g[side];
  unsigned i;
  for (i = LP_NOW; i < LP_NSIDE; i++)
    box.of[i] = boxes_side(b, p, (LpSide)i, (uint32_t)b->n);
  if (g->id[0] != LP_GRAPH_ROOT) {
    box.label = lp_box_group(&b->names, b->heaps.h[side], g, p->alone);
    box.way = way_to(b, side, g->id[0]);
  }
  return boxes_add(b, box);
}

/* A pair that is to be expanded. */
static Pending boxes_pending(const LpBoxes *b, LpPair pair, uint32_t parent)
{
  Pending p = {
      .pair = pair, .parent = parent, .alone = lp_pair_isone(&b->heaps, &pair)};
  unsigned side;
  size_t i;
  for (side = LP_NOW; side < LP_NSIDE; side++)
    for (i = 0; i < pair.g[side].n; i++)
      p.kept[side] += b->kept[side][pair.g[side].id[i]];
  return p;
}

/* The pairs below a box wait for their turn. */
static void boxes_below(LpBoxes *b, Queue *q, const LpPair *pair, uint32_t at)
{
  uint64_t apart = boxes_bytes(b) / BOX_APART;
  LpPairs below;
  size_t i;
  if (apart > lp_pair_retained(pair) / BOX_KIDS)
    apart = lp_pair_retained(pair) / BOX_KIDS;
  below = lp_pairs_below(&b->heaps, pair, b->least, apart);
  for (i = 0; i < below.n; i++) {
    queue_put(q, b, boxes_pending(b, below.p[i], at));
    below.p[i] = (LpPair){0};
  }
  lp_pairs_free(&below);
}

/* Add a box for what has none, below another one, unless that is nothing. */
static void boxes_special(LpBoxes *b, uint32_t parent, const char *name,
                          const LpBoxSide of[LP_NSIDE])
{
  LpBox box = {.parent = parent, .way = LP_NONE, .shared = LP_NONE};
  uint64_t all = 0;
  unsigned i;
  for (i = LP_NOW; i < LP_NSIDE; i++) {
    box.of[i] = of[i];
    box.of[i].retained = of[i].bytes;
    box.of[i].kept = of[i].objects;
    all |= of[i].bytes | of[i].objects;
  }
  if (!all)
    return;
  box.label = lp_box_special(&b->names, name, &(LpBuf){0});
  boxes_add(b, box);
}

/* A box for what a group keeps that has none. */
static void boxes_rest(LpBoxes *b)
{
  size_t n = b->n, i;
  LpBoxSide(*rest)[LP_NSIDE] = lp_zalloc(n, sizeof(*rest));
  unsigned k;
  for (i = 0; i < n; i++) {
    for (k = LP_NOW; k < LP_NSIDE; k++) {
      const LpBoxSide *s = &b->box[i].of[k];
      rest[i][k].bytes += s->retained - s->bytes;
      rest[i][k].objects += s->kept - s->objects;
      if (!i)
        continue;
      rest[b->box[i].parent][k].bytes -= s->retained;
      rest[b->box[i].parent][k].objects -= s->kept;
    }
  }
  for (i = 0; i < n; i++)
    boxes_special(b, (uint32_t)i, "(others)", rest[i]);
  free(rest);
}

/* A box for what is not reached: NOW and BASE, which may be NULL. */
static void boxes_unreached(LpBoxes *b, const LpUnreached *now,
                            const LpUnreached *base, const char *name)
{
  LpBoxSide of[LP_NSIDE] = {
      {.bytes = now->all.bytes, .objects = now->all.objects}};
  if (base)
    of[LP_BASE] =
        (LpBoxSide){.bytes = base->all.bytes, .objects = base->all.objects};
  boxes_special(b, 0, name, of);
}

/* Is there room for another box? */
static int boxes_room(const LpBoxes *b)
{
  return b->n < LP_BOXES && b->nway < 2 * LP_BOXES &&
         b->names.cost < LP_BOXES_TEXT;
}

/* Expand pairs, those that keep most first, as long as there is room. */
static void boxes_expand(LpBoxes *b)
{
  Queue q = {0};
  queue_put(&q, b, boxes_pending(b, lp_pair_root(&b->heaps), 0));
  while (q.order.n) {
    Pending p = queue_take(&q);
    if (boxes_room(b)) {
      lp_pair_absorb(&p.pair, &b->heaps);
      boxes_below(b, &q, &p.pair, boxes_pair(b, &p));
    } else {
      b->full = 1;
    }
    lp_pair_free(&p.pair);
  }
  free(q.order.w);
  free(q.p);
}

void lp_boxes_open(LpBoxes *b, const LpHeap *now, const LpHeap *base,
                   const LpReportOptions *opt)
{
  unsigned side;
  *b = (LpBoxes){.heaps = lp_pairing(now, base),
                 .least = lp_heap_least(now, opt)};
  if (b->least < boxes_bytes(b) / BOX_PART)
    b->least = boxes_bytes(b) / BOX_PART;
  for (side = LP_NOW; side < LP_NSIDE && b->heaps.h[side]; side++) {
    const LpHeap *h = b->heaps.h[side];
    b->in[side] = lp_zalloc(h->dump.graph.n, sizeof(*b->in[side]));
    b->kept[side] = boxes_count(h);
  }
  b->shared = lp_sharing_of(&now->sharing, now->dump.graph.n);
  boxes_expand(b);
  boxes_rest(b);
  boxes_unreached(b, &now->unknown, base ? &base->unknown : NULL, "(unknown)");
  boxes_unreached(b, &now->garbage, base ? &base->garbage : NULL, "(garbage)");
}

uint32_t lp_boxes_find(const LpBoxes *b, LpSide side, uint32_t id)
{
  while (!b->in[side][id])
    id = b->heaps.h[side]->dom.parent[id];
  return b->in[side][id] - 1;
}

void lp_boxes_close(LpBoxes *b)
{
  unsigned side;
  for (side = LP_NOW; side < LP_NSIDE; side++) {
    free(b->kept[side]);
    free(b->in[side]);
    lp_idmap_free(&b->ways[side]);
  }
  free(b->box);
  free(b->way);
  free(b->shared);
  lp_box_names_free(&b->names);
  lp_pairing_close(&b->heaps);
}

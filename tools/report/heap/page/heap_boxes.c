/*
** The dominator tree as boxes to be drawn.
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
#define BOX_STEPS 6     /* Of a path in a name. */
#define WAY_STEPS 48    /* Of a way that are new, before some are left out. */

/* A group that was not expanded yet. */
typedef struct Pending {
  LpGroup g;
  uint32_t parent; /* Of boxes. */
  size_t heads;    /* Objects before those that look like them were added. */
  uint64_t kept;
} Pending;

/* Those groups: what keeps most comes first, and of two the older object. */
typedef struct Queue {
  LpQueue order;
  Pending *p;
  size_t n, cap;
} Queue;

/* -- The queue ------------------------------------------------------------- */

/* Add to the queue. */
static void queue_put(Queue *q, Pending p)
{
  LpWaiting w = {p.g.retained, p.g.id[0], (uint32_t)q->n};
  q->p = lp_grow(q->p, &q->cap, q->n + 1, sizeof(*q->p));
  q->p[q->n++] = p;
  lp_queue_put(&q->order, w);
}

/* Take out the next one. The queue is not empty. */
static Pending queue_take(Queue *q)
{
  return q->p[lp_queue_take(&q->order).at];
}

/* -- Names ----------------------------------------------------------------- */

/* Bytes that a character takes in a document. */
static size_t box_cost(unsigned char c)
{
  return c == '<' || c < ' ' || c >= 0x7f ? 6 : c == '"' || c == '\\' ? 2 : 1;
}

void lp_box_cut(LpBuf *b, size_t most)
{
  size_t i, cost = 0;
  for (i = 0; i < b->n && cost <= most - 3; i++)
    cost += box_cost((unsigned char)b->s[i]);
  if (cost <= most - 3)
    return;
  b->n = i - 1;
  while (b->n && ((unsigned char)b->s[b->n] & 0xc0) == 0x80)
    b->n--;
  lp_buf_puts(b, "...");
}

/* The number of a text, which is cut and freed. */
static uint32_t box_text(LpBoxes *b, LpBuf *text)
{
  uint32_t n = b->texts.n, id;
  size_t i;
  lp_box_cut(text, LP_BOX_NAME);
  id = lp_intern(&b->texts, text->n ? text->s : "", text->n);
  for (i = 0; id == n && i < text->n; i++)
    b->cost += box_cost((unsigned char)text->s[i]);
  lp_buf_free(text);
  return id;
}

/* The number of the shape of an object. */
static uint32_t box_kind(LpBoxes *b, uint32_t id)
{
  const LpHeap *h = b->h;
  LpBoxKind k = {.type = h->dump.graph.type[id]};
  LpBuf name = {0};
  if (h->shapes.of[id] == LP_NONE)
    lp_path_object(&name, &h->dump, id);
  else
    lp_shape_name(&name, h, h->shapes.of[id]);
  k.name = box_text(b, &name);
  return lp_intern(&b->kinds, &k, sizeof(k));
}

/* What a kind of box stands for. */
static const LpBoxKind *box_kindof(const LpBoxes *b, uint32_t kind)
{
  size_t n;
  return lp_intern_get(&b->kinds, kind, &n);
}

/* The label of an object that is reached by a step. */
static uint32_t box_object(LpBoxes *b, uint32_t id, LpBuf *step)
{
  LpBoxLabel l = {.kind = box_kind(b, id)};
  LpBuf name = {0};
  lp_shape_nameof(&name, b->h, id);
  l.name = box_text(b, &name);
  l.step = box_text(b, step);
  return lp_intern(&b->labels, &l, sizeof(l));
}

/* The label of a group. A list is reached by its first object. */
static uint32_t box_label(LpBoxes *b, const LpGroup *g, size_t heads)
{
  LpBuf step = {0};
  LpBoxLabel l;
  if (heads == 1)
    lp_group_step(&step, b->h, g->id[0], BOX_STEPS);
  if (g->n == 1)
    return box_object(b, g->id[0], &step);
  l.kind = box_kind(b, g->id[0]);
  l.name = box_kindof(b, l.kind)->name;
  l.step = box_text(b, &step);
  return lp_intern(&b->labels, &l, sizeof(l));
}

/* The label of what is no group of objects. */
static uint32_t box_special(LpBoxes *b, const char *text)
{
  LpBuf name = {0}, step = {0};
  LpBoxKind k = {.type = 0};
  LpBoxLabel l;
  lp_buf_puts(&name, text);
  k.name = l.name = box_text(b, &name);
  l.kind = lp_intern(&b->kinds, &k, sizeof(k));
  l.step = box_text(b, &step);
  return lp_intern(&b->labels, &l, sizeof(l));
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
static uint32_t way_step(LpBoxes *b, uint32_t from, uint32_t id)
{
  const LpHeap *h = b->h;
  LpBuf step = {0};
  uint32_t way;
  lp_path_step(&step, &h->dump, h->paths.from[id],
               &h->dump.graph.edge[h->paths.edge[id]]);
  way = way_new(b, from, box_object(b, id, &step), h->dom.retained[id]);
  lp_idmap_put(&b->ways, id, way);
  return way;
}

/* The way to an object. Ways share their beginnings. */
static uint32_t way_to(LpBoxes *b, uint32_t id)
{
  uint32_t step[WAY_STEPS], n = 0, way = LP_NONE;
  for (; id != LP_GRAPH_ROOT && n < WAY_STEPS; id = b->h->paths.from[id]) {
    way = lp_idmap_get(&b->ways, id);
    if (way != LP_NONE)
      break;
    step[n++] = id;
  }
  if (way == LP_NONE && id != LP_GRAPH_ROOT)
    way = way_new(b, LP_NONE, box_special(b, "..."), 0);
  while (n > 0)
    way = way_step(b, way, step[--n]);
  return way;
}

/* -- Boxes ----------------------------------------------------------------- */

/* How many objects each one keeps alive. */
static void boxes_count(LpBoxes *b)
{
  const LpDominators *d = &b->h->dom;
  uint32_t i;
  b->kept = lp_zalloc(b->h->dump.graph.n, sizeof(*b->kept));
  for (i = d->n; i-- > 0;) {
    uint32_t id = d->order[i];
    b->kept[id] += (b->h->dump.graph.flags[id] & LP_NODE_DEFINED) != 0;
    if (id != LP_GRAPH_ROOT)
      b->kept[d->parent[id]] += b->kept[id];
  }
}

/* Add a box. Returns its number. */
static uint32_t boxes_add(LpBoxes *b, LpBox box)
{
  b->box = lp_grow(b->box, &b->cap, b->n + 1, sizeof(*b->box));
  b->box[b->n] = box;
  return (uint32_t)b->n++;
}

/* The box of a group that has all its objects. */
static uint32_t boxes_group(LpBoxes *b, const Pending *p)
{
  LpBox box = {.parent = p->parent,
               .label = LP_NONE,
               .way = LP_NONE,
               .shared = LP_NONE,
               .bytes = p->g.bytes,
               .retained = p->g.retained,
               .kept = p->kept};
  const LpShared *shared = lp_group_shared(b->h, &p->g, b->shared);
  uint32_t at;
  size_t i;
  if (shared)
    box.shared = (uint32_t)(shared - b->h->sharing.group);
  for (i = 0; i < p->g.n; i++)
    box.objects += (b->h->dump.graph.flags[p->g.id[i]] & LP_NODE_DEFINED) != 0;
  if (p->g.id[0] != LP_GRAPH_ROOT) {
    box.label = box_label(b, &p->g, p->heads);
    box.way = way_to(b, p->g.id[0]);
  }
  at = boxes_add(b, box);
  for (i = 0; i < p->g.n; i++)
    b->in[p->g.id[i]] = at + 1;
  return at;
}

/* The groups below a box wait for their turn. */
static void boxes_below(LpBoxes *b, Queue *q, const LpGroup *g, uint32_t at)
{
  uint64_t apart = lp_heap_bytes(b->h) / BOX_APART;
  LpGroups below;
  size_t i, k;
  if (apart > g->retained / BOX_KIDS)
    apart = g->retained / BOX_KIDS;
  below = lp_groups_below(b->h, g, b->least, apart);
  for (i = 0; i < below.n; i++) {
    Pending p = {.g = below.g[i], .parent = at, .heads = below.g[i].n};
    for (k = 0; k < p.g.n; k++)
      p.kept += b->kept[p.g.id[k]];
    below.g[i].id = NULL;
    queue_put(q, p);
  }
  lp_groups_free(&below);
}

/* A box for what a group keeps that has none. */
static void boxes_rest(LpBoxes *b)
{
  size_t n = b->n, i;
  LpBox *rest = lp_zalloc(n, sizeof(*rest));
  uint32_t label = box_special(b, "(others)");
  for (i = 0; i < n; i++) {
    rest[i].parent = (uint32_t)i;
    rest[i].label = label;
    rest[i].way = LP_NONE;
    rest[i].shared = LP_NONE;
    rest[i].bytes += b->box[i].retained - b->box[i].bytes;
    rest[i].objects += b->box[i].kept - b->box[i].objects;
    if (!i)
      continue;
    rest[b->box[i].parent].bytes -= b->box[i].retained;
    rest[b->box[i].parent].objects -= b->box[i].kept;
  }
  for (i = 0; i < n; i++) {
    rest[i].retained = rest[i].bytes;
    rest[i].kept = rest[i].objects;
    if (rest[i].bytes || rest[i].objects)
      boxes_add(b, rest[i]);
  }
  free(rest);
}

/* A box for what is not reached. */
static void boxes_unreached(LpBoxes *b, const LpUnreached *u, const char *name)
{
  LpBox box = {.way = LP_NONE, .shared = LP_NONE};
  box.bytes = box.retained = u->all.bytes;
  box.objects = box.kept = u->all.objects;
  if (!box.bytes && !box.objects)
    return;
  box.label = box_special(b, name);
  boxes_add(b, box);
}

/* Is there room for another box? */
static int boxes_room(const LpBoxes *b)
{
  return b->n < LP_BOXES && b->nway < 2 * LP_BOXES && b->cost < LP_BOXES_TEXT;
}

void lp_boxes_open(LpBoxes *b, const LpHeap *h, const LpReportOptions *opt)
{
  Pending p = {.g = lp_group_root(h)};
  Queue q = {0};
  *b = (LpBoxes){.h = h, .least = lp_heap_least(h, opt)};
  if (b->least < lp_heap_bytes(h) / BOX_PART)
    b->least = lp_heap_bytes(h) / BOX_PART;
  b->in = lp_zalloc(h->dump.graph.n, sizeof(*b->in));
  b->shared = lp_sharing_of(&h->sharing, h->dump.graph.n);
  boxes_count(b);
  p.kept = b->kept[LP_GRAPH_ROOT];
  queue_put(&q, p);
  while (q.order.n) {
    p = queue_take(&q);
    if (boxes_room(b)) {
      lp_group_absorb(&p.g, h);
      boxes_below(b, &q, &p.g, boxes_group(b, &p));
    } else {
      b->full = 1;
    }
    lp_group_free(&p.g);
  }
  free(q.order.w);
  free(q.p);
  boxes_rest(b);
  boxes_unreached(b, &h->unknown, "(unknown)");
  boxes_unreached(b, &h->garbage, "(garbage)");
}

uint32_t lp_boxes_find(const LpBoxes *b, uint32_t id)
{
  while (!b->in[id])
    id = b->h->dom.parent[id];
  return b->in[id] - 1;
}

void lp_boxes_close(LpBoxes *b)
{
  free(b->box);
  free(b->way);
  free(b->kept);
  free(b->in);
  free(b->shared);
  lp_intern_free(&b->texts);
  lp_intern_free(&b->kinds);
  lp_intern_free(&b->labels);
  lp_idmap_free(&b->ways);
}

/*
** Retainers: what refers to the objects of boxes.
*/

#include <stdlib.h>

#include "heap_retainers.h"

#define RETAINER_APART                                                         \
  4 /* So many references that look alike have own rows.                       \
     */
#define RETAINER_KINDS 4096   /* Of a box that are told apart, */
#define RETAINER_ALL   750000 /* and of all. */

_Static_assert(LP_BOXES < 1 << 14, "find_key has 14 bits for a box");

/* A reference. */
typedef struct Reference {
  uint32_t from; /* The object that has it, and */
  uint32_t edge; /* its number among those of the graph. */
} Reference;

/* References that look alike. */
typedef struct Kind {
  uint32_t box;
  uint32_t from;
  uint32_t within;
  uint64_t n;
  int several; /* More than one object has them. */
  Reference first[RETAINER_APART];
} Kind;

/* What is found in one of the heaps. */
typedef struct Find {
  const LpBoxes *b;
  LpSide side;
  uint32_t *at;     /* By box: its place in pre-order, */
  uint32_t *behind; /* and that behind all below it. */
  Kind *kind;
  size_t n, cap;
  LpIdMap ids;     /* What they have in common -> number in kind. */
  uint32_t *kinds; /* By box: how many it has, */
  uint64_t *more;  /* and its references of further kinds. */
  uint64_t key;    /* The last one, */
  uint32_t last;   /* and its kind. */
} Find;

/* -- Boxes ----------------------------------------------------------------- */

/* The order of boxes in which what is below one follows it. */
static void find_order(Find *f)
{
  const LpBoxes *b = f->b;
  uint32_t *next = lp_zalloc(b->n, sizeof(*next)), i;
  f->at = lp_zalloc(b->n, sizeof(*f->at));
  f->behind = lp_zalloc(b->n, sizeof(*f->behind)); /* First, how many. */
  for (i = (uint32_t)b->n; i-- > 0;) {
    f->behind[i]++;
    if (i)
      f->behind[b->box[i].parent] += f->behind[i];
  }
  for (i = 0; i < b->n; i++) {
    uint32_t up = b->box[i].parent, n = f->behind[i];
    if (i) {
      f->at[i] = next[up];
      next[up] += n;
    }
    f->behind[i] = f->at[i] + n;
    next[i] = f->at[i] + 1;
  }
  free(next);
}

/* Is a box another one, or below it? */
static int find_isbelow(const Find *f, uint32_t box, uint32_t top)
{
  return f->at[box] >= f->at[top] && f->at[box] < f->behind[top];
}

/* Are the retainers of a box in this heap? */
static int find_isside(const Find *f, uint32_t box)
{
  const LpBoxes *b = f->b;
  LpSide side =
      b->heaps.h[LP_BASE] && !b->box[box].of[LP_NOW].objects ? LP_BASE : LP_NOW;
  return side == f->side;
}

/* -- References ------------------------------------------------------------ */

/* What references that look alike have in common: 14 bits for each box, 29 for
** the shape or type of the objects that have them, 4 for what they are, and one
** that tells objects of a box from those that they keep.
*/
static uint64_t find_key(const Find *f, const Kind *k, const LpEdge *e)
{
  const LpHeap *h = f->b->heaps.h[f->side];
  uint32_t id = k->first[0].from, shape = h->shapes.of[id];
  if (shape == LP_NONE)
    shape = (1u << 28) | h->dump.graph.type[id];
  return (uint64_t)k->box << 48 | (uint64_t)k->from << 34 |
         (uint64_t)shape << 5 | (uint64_t)lp_edge_kind(e) << 1 | k->within;
}

/* The kind of references that one is of, which is new or has some already; NULL
** if its box has too many kinds.
*/
static Kind *find_kind(Find *f, const Kind *new, uint64_t key)
{
  uint32_t at = f->n && key == f->key ? f->last : lp_idmap_get(&f->ids, key);
  if (at == LP_NONE) {
    if (f->kinds[new->box] == RETAINER_KINDS || f->n == RETAINER_ALL)
      return NULL;
    f->kinds[new->box]++;
    at = (uint32_t)f->n;
    lp_idmap_put(&f->ids, key, at);
    f->kind = lp_grow(f->kind, &f->cap, f->n + 1, sizeof(*f->kind));
    f->kind[f->n++] = *new;
  }
  f->key = key;
  f->last = at;
  return &f->kind[at];
}

/* Count a reference of an object, which is in a box or WITHIN it. */
static void find_reference(Find *f, uint32_t from, uint32_t box,
                           const LpEdge *e)
{
  const LpGraph *g = &f->b->heaps.h[f->side]->dump.graph;
  const uint32_t *in = f->b->in[f->side];
  uint32_t to = in[lp_edge_to(e)];
  Reference r = {from, (uint32_t)(e - g->edge)};
  Kind new = {.box = to - 1, .from = box, .within = !in[from], .first = {r}};
  Kind *k;
  if (!to || !find_isside(f, to - 1) || find_isbelow(f, box, to - 1))
    return;
  k = find_kind(f, &new, find_key(f, &new, e));
  if (!k) {
    f->more[to - 1]++;
    return;
  }
  if (k->n < RETAINER_APART)
    k->first[k->n] = r;
  k->several |= k->first[0].from != from;
  k->n++;
}

/* Count all references of objects that are reached. */
static void find_references(Find *f)
{
  const LpHeap *h = f->b->heaps.h[f->side];
  const uint32_t *in = f->b->in[f->side];
  uint32_t *box = lp_alloc(h->dump.graph.n * sizeof(*box)), i;
  for (i = 0; i < h->dom.n; i++) {
    uint32_t id = h->dom.order[i];
    const LpEdge *e = lp_graph_first(&h->dump.graph, id);
    box[id] = in[id] ? in[id] - 1 : box[h->dom.parent[id]];
    for (; e; e = lp_graph_next(e))
      find_reference(f, id, box[id], e);
  }
  free(box);
}

/* For qsort: by box, then most references, then those of what keeps most. */
static int kind_before(const void *a, const void *b)
{
  const Kind *x = a, *y = b;
  if (x->box != y->box)
    return x->box < y->box ? -1 : 1;
  if (x->n != y->n)
    return x->n > y->n ? -1 : 1;
  if (x->from != y->from)
    return x->from < y->from ? -1 : 1;
  return x->first[0].edge < y->first[0].edge
             ? -1
             : x->first[0].edge > y->first[0].edge;
}

/* Find what refers to the boxes in one of the heaps. */
static Find find_open(const LpBoxes *b, LpSide side)
{
  Find f = {.b = b, .side = side};
  f.kinds = lp_zalloc(b->n, sizeof(*f.kinds));
  f.more = lp_zalloc(b->n, sizeof(*f.more));
  find_order(&f);
  find_references(&f);
  if (f.n)
    qsort(f.kind, f.n, sizeof(*f.kind), kind_before);
  return f;
}

static void find_close(Find *f)
{
  free(f->at);
  free(f->behind);
  free(f->kind);
  free(f->kinds);
  free(f->more);
  lp_idmap_free(&f->ids);
}

/* -- Rows ------------------------------------------------------------------ */

/* The label of a reference, and if SEVERAL objects have such a one, what they
** are. An upvalue has the name that a function gives it.
*/
static uint32_t row_label(LpBoxes *b, LpSide side, Reference r, int several)
{
  const LpHeap *h = b->heaps.h[side];
  LpBuf step = {0};
  if (h->dump.graph.type[r.from] == LJM_TYPE_UPVALUE)
    r = (Reference){h->paths.from[r.from], h->paths.edge[r.from]};
  lp_path_step(&step, &h->dump, r.from, &h->dump.graph.edge[r.edge]);
  if (r.from == LP_GRAPH_ROOT)
    return lp_box_special(&b->names, "a root", &step);
  return several ? lp_box_object(&b->names, h, r.from, &step)
                 : lp_box_path(&b->names, h, r.from, &step);
}

/* Add a row. */
static void row_add(LpRetainers *all, LpRetainer row)
{
  all->row = lp_grow(all->row, &all->cap, all->n + 1, sizeof(*all->row));
  all->row[all->n++] = row;
}

/* The rows of a kind, of which there are MOST. Returns how many references have
** none.
*/
static uint64_t rows_kind(LpRetainers *all, LpBoxes *b, LpSide side,
                          const Kind *k, size_t most)
{
  LpRetainer row = {.box = k->box, .from = k->from, .n = 1};
  uint64_t i;
  if (!most)
    return k->n;
  if (k->n > RETAINER_APART) {
    row.n = k->n;
    row.label = row_label(b, side, k->first[0], k->several);
    row_add(all, row);
    return 0;
  }
  for (i = 0; i < k->n && i < most; i++) {
    row.label = row_label(b, side, k->first[i], 0);
    row_add(all, row);
  }
  return k->n - i;
}

/* The rows of a box. The kinds from *AT on are of it, if it has any, and of
** boxes behind it; *AT becomes the first one of those.
*/
static void rows_box(LpRetainers *all, LpBoxes *b, const Find *f, uint32_t box,
                     size_t *at)
{
  uint64_t more = f->more[box];
  size_t from = all->n;
  for (; *at < f->n && f->kind[*at].box == box; ++*at)
    more += rows_kind(all, b, f->side, &f->kind[*at],
                      LP_RETAINERS_ROWS - (all->n - from));
  if (more)
    row_add(all, (LpRetainer){
                     .box = box, .from = LP_NONE, .label = LP_NONE, .n = more});
}

LpRetainers lp_retainers(LpBoxes *b)
{
  LpRetainers all = {.n = 0};
  Find f[LP_NSIDE] = {0};
  size_t cost = b->names.cost, at[LP_NSIDE] = {0};
  unsigned side;
  for (side = LP_NOW; side < LP_NSIDE && b->heaps.h[side]; side++)
    f[side] = find_open(b, (LpSide)side);
  for (; all.boxes < b->n && all.n + LP_RETAINERS_ROWS < LP_RETAINERS &&
         b->names.cost < cost + LP_RETAINERS_TEXT;
       all.boxes++)
    for (side = LP_NOW; side < LP_NSIDE && b->heaps.h[side]; side++)
      rows_box(&all, b, &f[side], all.boxes, &at[side]);
  for (side = LP_NOW; side < LP_NSIDE; side++)
    find_close(&f[side]);
  return all;
}

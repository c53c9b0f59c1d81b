/*
** All that refers to some objects, merged into a tree from the roots.
*/

#include <stdlib.h>
#include <string.h>

#include "owners.h"

#define OWNERS_DEEP  40 /* Rows below each other. */
#define OWNERS_APART 4  /* Objects of one shape with rows of their own. */

/* A reference to one of the objects. */
typedef struct Pair {
  uint32_t from, to;
} Pair;

/* A row that is still to be written: the objects that it is of. */
typedef struct Line {
  uint32_t *id;
  size_t n, cap;
  unsigned depth;
  uint32_t shape;
  int last;      /* They are those looked for, */
  uint32_t from; /* which only this object refers to; LP_NONE: several. */
  uint64_t held;
} Line;

typedef struct Find {
  LpOwners *o;
  const LpHeap *h;
  uint8_t *is; /* By object: it is looked for. */
  Pair *pair;  /* Those of one owner beside each other. */
  size_t npair, cappair;
  uint32_t *first; /* By object: its first pair, or LP_NONE. */
  uint32_t *kid;  /* By object: one to which its way is the shortest one that */
  uint32_t *next; /* leads to an owner, and the next one; LP_NONE. */
  uint32_t
      *seen; /* By object that is looked for: the last count that had it. */
  uint32_t count;
  Line *line; /* The next one last. */
  size_t nline, capline;
  uint8_t *bit; /* By object: the number of its row among owners, + 1. */
} Find;

/* -- Who refers to them ---------------------------------------------------- */

/* Is an object new to the count, which begins anew with a higher `count`? */
static int count_new(Find *f, uint32_t id)
{
  int new = f->seen[id] != f->count;
  f->seen[id] = f->count;
  return new;
}

/* Adds the references of an owner. */
static void find_pairs(Find *f, uint32_t from)
{
  const LpEdge *e = lp_graph_first(&f->h->dump.graph, from);
  f->count++;
  for (; e; e = lp_graph_next(e)) {
    uint32_t to = lp_edge_to(e);
    if (!f->is[to] || !count_new(f, to))
      continue;
    if (f->first[from] == LP_NONE)
      f->first[from] = (uint32_t)f->npair;
    f->pair = lp_grow(f->pair, &f->cappair, f->npair + 1, sizeof(*f->pair));
    f->pair[f->npair++] = (Pair){from, to};
  }
}

/* The objects on the way to an owner get their place in the tree. */
static void find_way(Find *f, uint32_t id)
{
  while (id != LP_GRAPH_ROOT && f->next[id] == id) {
    uint32_t from = f->o->paths.from[id];
    f->next[id] = f->kid[from];
    f->kid[from] = id;
    id = from;
  }
}

/* Finds the owners, and the ways to them. */
static void find_owners(Find *f)
{
  const LpDominators *d = &f->h->dom;
  uint32_t i;
  for (i = 0; i < f->h->dump.graph.n; i++)
    f->next[i] = i; /* It has no place yet. */
  for (i = 0; i < d->n; i++) {
    uint32_t id = d->order[i];
    if (f->is[id] || (id != LP_GRAPH_ROOT && f->o->paths.from[id] == LP_NONE))
      continue;
    find_pairs(f, id);
    if (f->first[id] != LP_NONE)
      find_way(f, id);
  }
}

/* -- Lines ----------------------------------------------------------------- */

static void line_add(Line *l, uint32_t id)
{
  l->id = lp_grow(l->id, &l->cap, l->n + 1, sizeof(*l->id));
  l->id[l->n++] = id;
}

/* Counts what is reached through an object of the tree. */
static uint64_t held_below(Find *f, uint32_t top)
{
  uint64_t n = 0;
  uint32_t at = top;
  for (;;) {
    size_t i = f->first[at];
    for (; i < f->npair && f->pair[i].from == at; i++)
      n += (uint64_t)count_new(f, f->pair[i].to);
    if (f->kid[at] != LP_NONE) {
      at = f->kid[at];
      continue;
    }
    while (at != top && f->next[at] == LP_NONE)
      at = f->o->paths.from[at];
    if (at == top)
      return n;
    at = f->next[at];
  }
}

/* Counts what is reached through a line. */
static void line_held(Find *f, Line *l)
{
  size_t i;
  f->count++;
  l->held = l->last ? l->n : 0;
  for (i = 0; i < l->n && !l->last; i++)
    l->held += held_below(f, l->id[i]);
}

/* For qsort: the objects themselves first, then what leads to most. */
static int line_before(const void *a, const void *b)
{
  const Line *x = a, *y = b;
  if (x->last != y->last)
    return x->last ? -1 : 1;
  if (x->held != y->held)
    return x->held > y->held ? -1 : 1;
  return x->id[0] < y->id[0] ? -1 : x->id[0] > y->id[0];
}

/* Does a line take in an object below it: a list? */
static int line_takes(const Find *f, const Line *l, uint32_t id)
{
  return l->shape != LP_NONE && f->h->shapes.of[id] == l->shape &&
         !lp_shape_isplain(f->h, l->shape);
}

/* Lines below one, by shape. */
typedef struct Below {
  Line *l;
  size_t n, cap;
  LpIdMap shapes; /* Shape, and whether it is of those looked for -> number. */
} Below;

static void below_add(Below *b, const Find *f, uint32_t id, unsigned depth,
                      int last)
{
  uint32_t shape = f->h->shapes.of[id];
  uint64_t key = (uint64_t)shape << 1 | (unsigned)last;
  uint32_t at = lp_idmap_add(&b->shapes, key, (uint32_t)b->n);
  b->l = lp_grow(b->l, &b->cap, b->n + 1, sizeof(*b->l));
  if (at == b->n)
    b->l[b->n++] = (Line){.depth = depth, .shape = shape, .last = last};
  line_add(&b->l[at], id);
}

/* A few objects of one shape get lines of their own. */
static void below_part(Below *b)
{
  size_t i, k, n = b->n;
  for (i = 0; i < n; i++) {
    Line l = b->l[i];
    if (l.last || l.n > OWNERS_APART)
      continue;
    for (k = 1; k < l.n; k++) {
      Line one = {.depth = l.depth, .shape = l.shape};
      line_add(&one, l.id[k]);
      b->l = lp_grow(b->l, &b->cap, b->n + 1, sizeof(*b->l));
      b->l[b->n++] = one;
    }
    b->l[i].n = 1;
  }
}

/* The lines below one wait for their turn. */
static void below_wait(Find *f, Below *b)
{
  size_t i;
  for (i = 0; i < b->n; i++)
    line_held(f, &b->l[i]);
  if (b->n)
    qsort(b->l, b->n, sizeof(*b->l), line_before);
  for (i = b->n; i-- > 0;) {
    f->line = lp_grow(f->line, &f->capline, f->nline + 1, sizeof(*f->line));
    f->line[f->nline++] = b->l[i];
  }
  free(b->l);
  lp_idmap_free(&b->shapes);
}

/* Finds the lines below one, which takes in what looks like it. */
static void line_expand(Find *f, Line *l, unsigned depth)
{
  Below b = {0};
  size_t i, k;
  uint32_t kid;
  for (i = 0; i < l->n; i++) {
    for (kid = f->kid[l->id[i]]; kid != LP_NONE; kid = f->next[kid]) {
      if (line_takes(f, l, kid))
        line_add(l, kid);
      else
        below_add(&b, f, kid, depth, 0);
    }
  }
  if (l->n == 1)
    below_part(&b);
  f->count++;
  for (i = 0; i < l->n; i++)
    for (k = f->first[l->id[i]]; k < f->npair && f->pair[k].from == l->id[i];
         k++)
      if (count_new(f, f->pair[k].to))
        below_add(&b, f, f->pair[k].to, depth, 1);
  for (i = 0; i < b.n; i++)
    b.l[i].from = l->n == 1 ? l->id[0] : LP_NONE;
  below_wait(f, &b);
}

/* -- Rows ------------------------------------------------------------------ */

/* Is any object of a line an owner? */
static int line_owns(const Find *f, const Line *l)
{
  size_t i;
  for (i = 0; i < l->n; i++)
    if (f->first[l->id[i]] != LP_NONE)
      return 1;
  return 0;
}

/* The objects of an owner's row get its number. */
static void row_owner(Find *f, const Line *l, size_t row)
{
  LpOwners *o = f->o;
  size_t i;
  if (l->last || !line_owns(f, l))
    return;
  if (o->nowner < LP_OWNERS_BITS)
    o->owner[o->nowner++] = row;
  for (i = 0; i < l->n; i++)
    f->bit[l->id[i]] = (uint8_t)o->nowner;
}

/* Writes the rows, from the roots on. */
static void rows_write(Find *f)
{
  LpOwners *o = f->o;
  Line root = {.shape = LP_NONE};
  line_add(&root, LP_GRAPH_ROOT);
  line_expand(f, &root, 0);
  row_owner(f, &root, LP_OWNERS_ROOT);
  free(root.id);
  while (f->nline) {
    Line l = f->line[--f->nline];
    if (o->n < LP_OWNERS_ROWS && l.depth < OWNERS_DEEP) {
      if (!l.last)
        line_expand(f, &l, l.depth + 1);
      row_owner(f, &l, o->n);
      o->row = lp_grow(o->row, &o->cap, o->n + 1, sizeof(*o->row));
      o->row[o->n++] = (LpOwner){l.depth, l.id[0], l.n, l.held, l.last, l.from};
    } else {
      o->full = 1;
    }
    free(l.id);
  }
  free(f->line);
}

/* -- Who has the same owners ----------------------------------------------- */

/* For qsort: most objects first. */
static int by_before(const void *a, const void *b)
{
  const LpOwnersBy *x = a, *y = b;
  if (x->n != y->n)
    return x->n > y->n ? -1 : 1;
  return x->bits < y->bits ? -1 : x->bits > y->bits;
}

/* Counts the objects by the rows that refer to them. */
static void by_count(Find *f, const uint32_t *id, size_t n)
{
  LpOwners *o = f->o;
  uint64_t *bits = lp_zalloc(n + 1, sizeof(*bits));
  LpIdMap sets = {0};
  size_t i;
  for (i = 0; i < n; i++)
    f->seen[id[i]] = (uint32_t)i;
  for (i = 0; i < f->npair; i++) {
    unsigned bit = f->bit[f->pair[i].from];
    bits[f->seen[f->pair[i].to]] |= 1ull
                                    << (bit ? bit - 1 : LP_OWNERS_BITS - 1);
  }
  for (i = 0; i < n; i++) {
    uint32_t at;
    if (f->seen[id[i]] != i) /* It was named twice. */
      continue;
    o->objects++;
    if (!bits[i]) {
      o->alone += (uint64_t)lp_dominators_has(&f->h->dom, id[i]);
      continue;
    }
    at = lp_idmap_add(&sets, bits[i], (uint32_t)o->nby);
    o->by = lp_grow(o->by, &o->capby, o->nby + 1, sizeof(*o->by));
    if (at == o->nby)
      o->by[o->nby++] = (LpOwnersBy){bits[i], 0};
    o->by[at].n++;
  }
  if (o->nby)
    qsort(o->by, o->nby, sizeof(*o->by), by_before);
  lp_idmap_free(&sets);
  free(bits);
}

void lp_owners_open(LpOwners *o, const LpHeap *h, const uint32_t *id, size_t n)
{
  size_t room = h->dump.graph.n * sizeof(uint32_t), i;
  Find f = {.o = o, .h = h};
  *o = (LpOwners){0};
  f.is = lp_zalloc(h->dump.graph.n, 1);
  f.bit = lp_zalloc(h->dump.graph.n, 1);
  f.seen = lp_zalloc(h->dump.graph.n, sizeof(*f.seen));
  f.first = lp_alloc(room);
  f.kid = lp_alloc(room);
  f.next = lp_alloc(room);
  memset(f.first, 0xff, room);
  memset(f.kid, 0xff, room);
  for (i = 0; i < n; i++)
    f.is[id[i]] = 1;
  lp_paths(&h->dump.graph, f.is, &o->paths);
  find_owners(&f);
  rows_write(&f);
  by_count(&f, id, n);
  free(f.is);
  free(f.bit);
  free(f.seen);
  free(f.first);
  free(f.kid);
  free(f.next);
  free(f.pair);
}

void lp_owners_close(LpOwners *o)
{
  lp_paths_free(&o->paths);
  free(o->row);
  free(o->by);
  *o = (LpOwners){0};
}

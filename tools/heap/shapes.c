/*
** Shapes: groups of objects that look alike.
*/

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "ctype_name.h"

#define SHAPE_KEYS    12 /* Tables with more string keys are maps. */
#define SHAPE_SHOWN   5  /* Keys in a name. */
#define SHAPE_PATTERN 24 /* Bytes of a string that count. */

/* Flags of a table, besides the types of its values. */
#define SHAPE_OBJECTS (1u << 16) /* It has keys that are objects. */
#define SHAPE_EMPTY   (1u << 17) /* It has nothing. */

/* Kinds of tables, in keys. */
enum { TABLE_KEYS, TABLE_MAP, TABLE_CLASS, TABLE_META };

/* While shapes are found. */
typedef struct Sort {
  const LpHeap *h;
  LpIdMap metas;   /* Metatable -> number in kinds. */
  LpIntern kinds;  /* Names of metatables, or the keys of those without one. */
  LpBuf key, meta; /* Of a shape; of a metatable. */
} Sort;

/* -- Keys of shapes -------------------------------------------------------- */

/* Add a number to the key of a shape. */
static void shape_put(LpBuf *b, uint32_t n)
{
  lp_buf_add(b, &n, sizeof(n));
}

/* For qsort: numbers in order. */
static int shape_compare(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* The keys of a table that are strings, at most N of them; how many there are
** is returned. *ITEMS: which types of values it has, and SHAPE_*. Weak keys are
** no references, but their values have them.
*/
static size_t shape_keys(const LpHeap *h, uint32_t id, uint32_t *key, size_t n,
                         unsigned *items)
{
  const LpGraph *g = &h->dump.graph;
  const LpEdge *e = lp_graph_first(g, id);
  size_t found = 0;
  int fields = 0;
  *items = g->flags[id] & LP_NODE_EMPTY ? SHAPE_EMPTY : 0;
  for (; e; e = lp_graph_next(e)) {
    uint32_t to = lp_edge_to(e);
    if (lp_edge_kind(e) == LP_EDGE_ITEM || lp_edge_kind(e) == LP_EDGE_FIELD ||
        lp_edge_kind(e) == LP_EDGE_VALUE)
      *items |= 1u << g->type[to];
    fields |= lp_edge_kind(e) == LP_EDGE_FIELD;
    if (lp_edge_kind(e) != LP_EDGE_KEY)
      continue;
    if (g->type[to] != LJM_TYPE_STRING) {
      *items |= SHAPE_OBJECTS;
      continue;
    }
    if (found < n)
      key[found] = to;
    found++;
  }
  if (fields && !found)
    *items |= SHAPE_OBJECTS;
  return found;
}

/* Appends the name of a metatable: its __name, what the program calls it, or
** where it is.
*/
static int shape_class(LpBuf *b, const LpHeap *h, uint32_t meta)
{
  uint32_t name = lp_dump_field(&h->dump, meta, "__name");
  size_t n, before = b->n;
  const char *s = NULL;
  if (name != LP_NONE)
    s = lp_graph_textof(&h->dump.graph, name, &n);
  if (!s && lp_identifiers_add(b, &h->dump, meta))
    return 1;
  lp_buf_puts(b, " ");
  if (s)
    lp_graph_quote(b, s, n);
  else if (!lp_path_last(b, &h->dump, &h->paths, meta))
    b->n = before;
  if (b->s)
    b->s[b->n] = '\0';
  return b->n != before;
}

/* Packs what kind of metatable it is: its name, behind an N; of one without a
** name the keys.
*/
static void shape_metakey(LpBuf *b, const LpHeap *h, uint32_t meta)
{
  uint32_t key[SHAPE_KEYS];
  unsigned items;
  size_t i, n;
  b->n = 0;
  lp_buf_puts(b, "N");
  if (shape_class(b, h, meta))
    return;
  b->s[0] = 'K';
  n = shape_keys(h, meta, key, SHAPE_KEYS, &items);
  shape_put(b, n > SHAPE_KEYS);
  n = n < SHAPE_KEYS ? n : SHAPE_KEYS;
  qsort(key, n, sizeof(*key), shape_compare);
  for (i = 0; i < n; i++)
    shape_put(b, key[i]);
}

/* The number of the kind of a metatable. */
static uint32_t shape_meta(Sort *s, uint32_t meta)
{
  uint32_t kind = lp_idmap_get(&s->metas, meta);
  if (kind != LP_NONE)
    return kind;
  shape_metakey(&s->meta, s->h, meta);
  kind = lp_intern(&s->kinds, s->meta.s, s->meta.n);
  lp_idmap_put(&s->metas, meta, kind);
  return kind;
}

/* A table by its metatable, if that has a name; else by the kind of that, and
** by its keys, if these are few; else by the types of its values.
*/
static void shape_table(Sort *s, uint32_t id)
{
  const LpHeap *h = s->h;
  uint32_t key[SHAPE_KEYS], meta = lp_dump_link(&h->dump, id, LP_EDGE_META);
  uint32_t kind = meta == LP_NONE ? LP_NONE : shape_meta(s, meta);
  unsigned items;
  size_t i, n;
  if (kind != LP_NONE &&
      *(const char *)lp_intern_get(&s->kinds, kind, &n) == 'N') {
    shape_put(&s->key, TABLE_CLASS);
    shape_put(&s->key, kind);
    return;
  }
  n = shape_keys(h, id, key, SHAPE_KEYS, &items);
  if (n > 0 && n <= SHAPE_KEYS)
    shape_put(&s->key, kind == LP_NONE ? TABLE_KEYS : TABLE_META);
  else
    shape_put(&s->key, kind == LP_NONE ? TABLE_MAP : TABLE_META);
  if (kind != LP_NONE)
    shape_put(&s->key, kind);
  if (n == 0 || n > SHAPE_KEYS) {
    shape_put(&s->key, n > 0);
    shape_put(&s->key, items);
    return;
  }
  qsort(key, n, sizeof(*key), shape_compare);
  for (i = 0; i < n; i++)
    shape_put(&s->key, key[i]);
}

/* A string by its beginning, in which digits are alike. */
static void shape_string(LpBuf *b, const LpGraph *g, uint32_t id)
{
  size_t n, i;
  const char *s = lp_graph_textof(g, id, &n);
  for (i = 0; s && i < n && b->n < SHAPE_PATTERN; i++) {
    char c = isdigit((unsigned char)s[i]) ? '#' : s[i];
    if (c != '#' || b->n == 0 || b->s[b->n - 1] != '#')
      lp_buf_add(b, &c, 1);
  }
}

/* The prototype of the outermost Lua function of a thread, or of the one that
** it is to begin with; LP_NONE if there is none.
*/
static uint32_t shape_thread(const LpHeap *h, uint32_t id)
{
  const LpGraph *g = &h->dump.graph;
  const LpEdge *e = lp_graph_first(g, id);
  uint32_t proto = LP_NONE, first = LP_NONE;
  int frames = 0;
  for (; e; e = lp_graph_next(e)) {
    LpEdgeKind kind = lp_edge_kind(e);
    uint32_t to = lp_edge_to(e), pt = LP_NONE;
    if (g->type[to] == LJM_TYPE_FUNCTION)
      pt = lp_dump_link(&h->dump, to, LP_EDGE_PROTO);
    frames += kind == LP_EDGE_FRAME;
    if (kind == LP_EDGE_FRAME && pt != LP_NONE)
      proto = pt;
    else if (kind == LP_EDGE_SLOT && first == LP_NONE)
      first = pt;
  }
  return frames ? proto : first;
}

/* Cdata by its type and its finalizer, if it has one. */
static void shape_cdata(Sort *s, uint32_t id)
{
  const LpDump *d = &s->h->dump;
  uint32_t finalizer = lp_idmap_get(&s->h->finalizers, id);
  shape_put(&s->key, lp_idmap_get(&d->number, id));
  if (finalizer != LP_NONE)
    lp_finalizers_name(&s->key, d, finalizer);
}

/* Packs what makes the shape of an object. */
static void shape_key(Sort *s, uint32_t id)
{
  const LpHeap *h = s->h;
  const LpGraph *g = &h->dump.graph;
  LpBuf *b = &s->key;
  uint32_t meta;
  b->n = 0;
  switch (g->type[id]) {
  case LJM_TYPE_STRING:
    shape_string(b, g, id);
    break;
  case LJM_TYPE_FUNCTION:
    shape_put(b, lp_dump_link(&h->dump, id, LP_EDGE_PROTO));
    break;
  case LJM_TYPE_THREAD:
    shape_put(b, shape_thread(h, id));
    break;
  case LJM_TYPE_CDATA:
    shape_cdata(s, id);
    break;
  case LJM_TYPE_TABLE:
    shape_table(s, id);
    break;
  case LJM_TYPE_USERDATA:
    meta = lp_dump_link(&h->dump, id, LP_EDGE_META);
    shape_put(b, meta == LP_NONE ? LP_NONE : shape_meta(s, meta));
    break;
  default:
    break;
  }
  lp_buf_add(b, &g->type[id], 1);
}

int lp_shape_isplain(const LpHeap *h, uint32_t shape)
{
  size_t n;
  const char *key;
  uint32_t kind = TABLE_MAP;
  if (shape == LP_NONE)
    return 1;
  key = lp_intern_get(&h->shapes.keys, shape, &n);
  if (h->shapes.shape[shape].type == LJM_TYPE_TABLE)
    memcpy(&kind, key, sizeof(kind));
  return kind == TABLE_MAP;
}

int lp_shape_ismap(const LpHeap *h, uint32_t id)
{
  uint32_t key[1];
  unsigned items;
  size_t n;
  if (h->dump.graph.type[id] != LJM_TYPE_TABLE)
    return 0;
  n = shape_keys(h, id, key, 0, &items);
  return n == 0 || n > SHAPE_KEYS;
}

/* -- Figures --------------------------------------------------------------- */

/* How often each shape is on the way from the root. */
typedef struct ShapeWalk {
  LpShapes *s;
  uint32_t *open;
} ShapeWalk;

/* The walk leaves an object: no other one of its shape is below it any more. */
static void walk_leave(ShapeWalk *w, uint32_t id)
{
  uint32_t shape = w->s->of[id];
  if (shape != LP_NONE)
    w->open[shape]--;
}

/* The next object of the dominator tree behind AT, each before those that it
** dominates; LP_NONE at the end.
*/
static uint32_t walk_next(ShapeWalk *w, const LpHeap *h, uint32_t at)
{
  if (h->kids.first[at] != LP_NONE)
    return h->kids.first[at];
  for (;;) {
    walk_leave(w, at);
    if (at == LP_GRAPH_ROOT)
      return LP_NONE;
    if (h->kids.next[at] != LP_NONE)
      return h->kids.next[at];
    at = h->dom.parent[at];
  }
}

/* Adds up what objects retain by shape. An object below another one of its
** shape does not count.
*/
static void shapes_retained(LpShapes *s, const LpHeap *h)
{
  ShapeWalk w = {s, lp_zalloc(s->keys.n + 1, sizeof(uint32_t))};
  uint32_t id = LP_GRAPH_ROOT;
  while ((id = walk_next(&w, h, id)) != LP_NONE) {
    uint32_t shape = s->of[id];
    if (shape != LP_NONE && w.open[shape]++ == 0)
      s->shape[shape].retained += h->dom.retained[id];
  }
  free(w.open);
}

int lp_shape_counts(const LpHeap *h, uint32_t id)
{
  return !lp_heap_keeps(h) || lp_dominators_has(&h->dom, id);
}

/* Add an object to its shape. */
static void shapes_add(LpShapes *s, Sort *sort, uint32_t id)
{
  const LpHeap *h = sort->h;
  uint32_t n = s->keys.n, shape;
  shape_key(sort, id);
  shape = lp_intern(&s->keys, sort->key.s, sort->key.n);
  if (shape == n) {
    s->shape = lp_grow(s->shape, &s->cap, n + 1, sizeof(*s->shape));
    s->shape[shape] = (LpShapeSum){.one = id, .type = h->dump.graph.type[id]};
  }
  s->of[id] = shape;
  if (!lp_shape_counts(h, id))
    return;
  s->shape[shape].objects++;
  s->shape[shape].bytes += lp_graph_size(&h->dump.graph, id);
}

void lp_shapes_open(LpShapes *s, const LpHeap *h)
{
  const LpGraph *g = &h->dump.graph;
  Sort sort = {.h = h};
  uint32_t id;
  memset(s, 0, sizeof(*s));
  s->of = lp_alloc(g->n * sizeof(*s->of));
  memset(s->of, 0xff, g->n * sizeof(*s->of));
  for (id = 1; id < g->n; id++)
    if ((g->flags[id] & LP_NODE_DEFINED) && !(g->flags[id] & LP_NODE_GARBAGE))
      shapes_add(s, &sort, id);
  shapes_retained(s, h);
  lp_idmap_free(&sort.metas);
  lp_intern_free(&sort.kinds);
  lp_buf_free(&sort.key);
  lp_buf_free(&sort.meta);
}

void lp_shapes_close(LpShapes *s)
{
  lp_intern_free(&s->keys);
  free(s->shape);
  free(s->of);
  memset(s, 0, sizeof(*s));
}

/* -- Names ----------------------------------------------------------------- */

/* For qsort_r: strings by their texts. */
static int shape_bytext(const void *a, const void *b, void *ctx)
{
  const LpGraph *g = ctx;
  size_t n, m;
  const char *s = lp_graph_textof(g, *(const uint32_t *)a, &n);
  const char *t = lp_graph_textof(g, *(const uint32_t *)b, &m);
  int d = s && t ? memcmp(s, t, n < m ? n : m) : 0;
  return d ? d : (n > m) - (n < m);
}

/* Appends the first keys of a table: {id, name}. */
static void shape_fields(LpBuf *b, const LpHeap *h, uint32_t id)
{
  LpGraph *g = (LpGraph *)&h->dump.graph;
  uint32_t key[SHAPE_KEYS];
  unsigned items;
  size_t i, n = shape_keys(h, id, key, SHAPE_KEYS, &items), all = n;
  n = n < SHAPE_KEYS ? n : SHAPE_KEYS;
  qsort_r(key, n, sizeof(*key), shape_bytext, g);
  lp_buf_puts(b, " {");
  for (i = 0; i < n && i < SHAPE_SHOWN; i++) {
    size_t len;
    const char *s = lp_graph_textof(g, key[i], &len);
    lp_buf_puts(b, i ? ", " : "");
    lp_graph_quote(b, s ? s : "?", s ? len : 1);
  }
  lp_buf_puts(b, all > SHAPE_SHOWN ? ", ...}" : "}");
}

/* Appends types of values: "strings, userdata". Returns 0 if there are none. */
static int shape_types(LpBuf *b, unsigned items)
{
  unsigned type, any = 0;
  for (type = 0; type < 16; type++) {
    int mass = type == LJM_TYPE_CDATA || type == LJM_TYPE_USERDATA;
    if (items & 1u << type)
      lp_buf_printf(b, "%s %s%s", any++ ? "," : "", lp_path_type(type),
                    mass ? "" : "s");
  }
  return any > 0;
}

/* Appends what is in a table that is a list or a map. Plain values are no
** objects: numbers, booleans, light userdata.
*/
static void shape_map(LpBuf *b, int hasnames, unsigned items)
{
  if (items & SHAPE_EMPTY)
    lp_buf_puts(b, ", empty");
  else if (hasnames || (items & SHAPE_OBJECTS))
    lp_buf_puts(b, ", map of");
  else
    lp_buf_puts(b, items ? ", list of" : " of plain values");
  if (!shape_types(b, items) && (hasnames || (items & SHAPE_OBJECTS)))
    lp_buf_puts(b, hasnames ? " names" : " objects");
}

/* Append what tables like this one are: a class, fields, or what a map has. */
static void shape_tablename(LpBuf *b, const LpHeap *h, uint32_t id)
{
  uint32_t meta = lp_dump_link(&h->dump, id, LP_EDGE_META);
  uint32_t key[1];
  unsigned items;
  size_t n;
  if (meta != LP_NONE && shape_class(b, h, meta))
    return;
  n = shape_keys(h, id, key, 0, &items);
  if (n > 0 && n <= SHAPE_KEYS) {
    shape_fields(b, h, id);
    return;
  }
  shape_map(b, n > 0, items);
  if (meta == LP_NONE)
    return;
  lp_buf_puts(b, ", with metatable");
  shape_fields(b, h, meta);
}

/* Append the type of cdata like this one, and its finalizer. */
static void shape_cdataname(LpBuf *b, const LpHeap *h, uint32_t id)
{
  uint32_t finalizer = lp_idmap_get(&h->finalizers, id);
  lp_ctype_name(b, &h->dump, lp_idmap_get(&h->dump.number, id));
  if (finalizer == LP_NONE)
    return;
  lp_buf_puts(b, ", finalizer");
  lp_finalizers_name(b, &h->dump, finalizer);
}

/* Append the beginning that strings of a shape have in common. */
static void shape_stringname(LpBuf *b, const LpHeap *h, uint32_t shape)
{
  size_t n;
  const char *s = lp_intern_get(&h->shapes.keys, shape, &n);
  lp_buf_puts(b, " \"");
  lp_graph_quote(b, s, n - 1); /* Without the type. */
  lp_buf_puts(b, n - 1 >= SHAPE_PATTERN ? "...\"" : "\"");
}

void lp_shape_name(LpBuf *b, const LpHeap *h, uint32_t shape)
{
  uint32_t id = h->shapes.shape[shape].one, to;
  unsigned type = h->shapes.shape[shape].type;
  switch (type) {
  case LJM_TYPE_FUNCTION:
    if (lp_dump_link(&h->dump, id, LP_EDGE_PROTO) == LP_NONE)
      lp_buf_puts(b, "function in C"); /* All of them. */
    else
      lp_path_object(b, &h->dump, id);
    return;
  case LJM_TYPE_THREAD:
    to = shape_thread(h, id);
    lp_buf_puts(b, "thread");
    if (to != LP_NONE) {
      lp_identifiers_add(b, &h->dump, to);
      lp_path_proto(b, &h->dump, to);
    }
    return;
  default:
    lp_buf_puts(b, lp_path_type(type));
    break;
  }
  if (type == LJM_TYPE_STRING)
    shape_stringname(b, h, shape);
  else if (type == LJM_TYPE_TABLE)
    shape_tablename(b, h, id);
  else if (type == LJM_TYPE_CDATA)
    shape_cdataname(b, h, id);
  else if (type == LJM_TYPE_USERDATA &&
           (to = lp_dump_link(&h->dump, id, LP_EDGE_META)) != LP_NONE)
    shape_class(b, h, to);
}

void lp_shape_nameof(LpBuf *b, const LpHeap *h, uint32_t id)
{
  uint32_t shape = id < h->dump.graph.n ? h->shapes.of[id] : LP_NONE;
  if (shape == LP_NONE || h->dump.graph.type[id] == LJM_TYPE_STRING ||
      h->dump.graph.type[id] == LJM_TYPE_FUNCTION)
    lp_path_object(b, &h->dump, id);
  else
    lp_shape_name(b, h, shape);
}

/*
** Whether what a dump calls unreachable is what the VM frees, object by object.
** Between two dumps there was one full collection.
**
**   reach [-r] DUMP DUMP...
**
** A dump does not say which finalizers have run before it. With -r that may
** have happened before the first one: then nothing is said of what unreachable
** userdata with finalizers refer to. From the second one on all is known.
*/

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "ljm_block.h"
#include "mem.h"

#define MAYBE 2

/* A dump, with what the graph does not say. The graph comes first: a sink's
** ctx is both.
*/
typedef struct Heap {
  LpDump dump;
  void (*object)(void *ctx, const LpObject *o);
  LpIdMap fin;    /* Cdata with a finalizer, by address. */
  uint8_t *alive; /* By number: is it expected to survive? MAYBE: see main(). */
  uint8_t mark;   /* What heap_reach() sets there. */
  uint32_t *todo;
  size_t ntodo;
} Heap;

static void heap_object(void *ctx, const LpObject *o)
{
  Heap *h = ctx;
  h->object(ctx, o);
  if (o->type == LJM_TYPE_CDATA && (o->flags & LJM_CDATA_FINALIZER)) {
    lp_idmap_room(&h->fin);
    lp_idmap_put(&h->fin, o->addr, 1);
  }
}

static uint8_t *slurp(const char *name, size_t *n)
{
  FILE *f = fopen(name, "rb");
  uint8_t *p;
  if (!f || fseek(f, 0, SEEK_END) != 0)
    return NULL;
  *n = (size_t)ftell(f);
  rewind(f);
  p = lp_alloc(*n + 64);
  *n = fread(p, 1, *n, f);
  fclose(f);
  return p;
}

/* Reads a dump. Returns 0 if it is not whole. */
static int heap_read(Heap *h, const char *name)
{
  LpHeapSink sink;
  LpHeapItems it = {.sink = &sink};
  size_t n = 0, at = 0;
  uint8_t *p = slurp(name, &n);
  memset(h, 0, sizeof(*h));
  lp_dump_open(&h->dump, &sink);
  h->object = sink.object;
  sink.object = heap_object;
  while (p && at + 4 < n && memcmp(p + at, "ljb\x10", 4) != 0)
    at++;
  while (p && at + LJM_BLOCK_HEADER < n) {
    uint32_t len = ljm_block_length(p + at);
    if (lp_heap_block(&it, p + at + LJM_BLOCK_HEADER, len) != len)
      break;
    at += LJM_BLOCK_HEADER + len;
  }
  free(p);
  lp_dump_seal(&h->dump);
  h->alive = lp_zalloc(h->dump.graph.n, 1);
  h->todo = lp_alloc(h->dump.graph.n * sizeof(*h->todo));
  if (!h->dump.ended)
    fprintf(stderr, "%s: not whole: %s\n", name, it.bad ? it.bad : "cut");
  return h->dump.ended;
}

static void heap_free(Heap *h)
{
  lp_dump_close(&h->dump);
  lp_idmap_free(&h->fin);
  free(h->alive);
  free(h->todo);
}

/* -- What survives --------------------------------------------------------- */

static void heap_reach(Heap *h, uint32_t id)
{
  if (h->alive[id])
    return;
  h->alive[id] = h->mark;
  h->todo[h->ntodo++] = id;
}

/* Everything that what is to be looked at refers to, however far. */
static void heap_spread(Heap *h)
{
  const LpGraph *g = &h->dump.graph;
  while (h->ntodo) {
    const LpEdge *e = lp_graph_first(g, h->todo[--h->ntodo]);
    for (; e; e = lp_graph_next(e))
      heap_reach(h, lp_edge_to(e));
  }
}

/* The object behind a string key of a table, or LP_NONE. */
static uint32_t heap_field(const Heap *h, uint32_t id, const char *name)
{
  const LpGraph *g = &h->dump.graph;
  const LpEdge *e;
  for (e = lp_graph_first(g, id); e; e = lp_graph_next(e)) {
    size_t n;
    const char *s = lp_edge_kind(e) == LP_EDGE_FIELD
                        ? lp_graph_textof(g, lp_edge_detail(e), &n)
                        : NULL;
    if (s && n == strlen(name) && memcmp(s, name, n) == 0)
      return lp_edge_to(e);
  }
  return LP_NONE;
}

/* Has a userdata a finalizer? */
static int heap_finalizable(const Heap *h, uint32_t id)
{
  const LpGraph *g = &h->dump.graph;
  const LpEdge *e;
  for (e = lp_graph_first(g, id); e; e = lp_graph_next(e))
    if (lp_edge_kind(e) == LP_EDGE_META)
      return heap_field(h, lp_edge_to(e), "__gc") != LP_NONE;
  return 0;
}

/* By Lua's rules, finalizers of what is unreachable run now; what they may
** refer to survives once more. DONE has userdata whose finalizers have run.
*/
static void heap_resurrect(Heap *h, LpIdMap *done)
{
  const LpGraph *g = &h->dump.graph;
  uint32_t id;
  size_t n = 0;
  for (id = 1; id < g->n; id++) {
    if (h->alive[id] || !(g->flags[id] & LP_NODE_DEFINED))
      continue;
    if (g->type[id] != LJM_TYPE_USERDATA || (g->flags[id] & LP_NODE_GARBAGE) ||
        !heap_finalizable(h, id) ||
        (done->nslot && lp_idmap_get(done, g->node[id].addr) != LP_NONE))
      continue;
    lp_idmap_room(done);
    lp_idmap_put(done, g->node[id].addr, 1);
    h->todo[n++] = id;
    h->alive[id] = h->mark;
  }
  h->ntodo = n;
  heap_spread(h);
}

/* Cdata are resurrected when they are swept: their finalizers' table has kept
** what these refer to, and weak tables have lost them.
*/
static void heap_cdata(Heap *h)
{
  const LpGraph *g = &h->dump.graph;
  uint32_t id;
  for (id = 1; id < g->n && h->fin.nslot; id++)
    if (g->type[id] == LJM_TYPE_CDATA &&
        lp_idmap_get(&h->fin, g->node[id].addr) != LP_NONE)
      h->alive[id] = 1;
}

/* Strings in weak tables whose keys were resurrected. */
static void heap_both(Heap *h)
{
  const LpDump *d = &h->dump;
  size_t i;
  for (i = 0; i < d->nstring; i++)
    if (!h->alive[d->string[i].value] && h->alive[d->string[i].table] &&
        h->alive[d->string[i].key])
      h->alive[d->string[i].value] = h->mark;
}

/* Userdata that wait for their finalizers have been told so already. */
static void heap_waiting(const Heap *h, LpIdMap *done)
{
  const LpGraph *g = &h->dump.graph;
  const LpEdge *e;
  for (e = lp_graph_first(g, LP_GRAPH_ROOT); e; e = lp_graph_next(e)) {
    size_t n;
    const char *s = lp_intern_get(&g->names, lp_edge_detail(e), &n);
    if (n == strlen("awaits its finalizer") &&
        memcmp(s, "awaits its finalizer", n) == 0) {
      lp_idmap_room(done);
      lp_idmap_put(done, g->node[lp_edge_to(e)].addr, 1);
    }
  }
}

static void heap_survivors(Heap *h, LpIdMap *done, uint8_t resurrected)
{
  heap_waiting(h, done);
  h->mark = 1;
  heap_reach(h, LP_GRAPH_ROOT);
  heap_spread(h);
  h->mark = resurrected;
  heap_resurrect(h, done);
  heap_both(h);
  heap_cdata(h);
}

/* -- Comparison ------------------------------------------------------------ */

/* Is an object of the one in the other? */
static int heap_has(Heap *h, const LpGraph *g, uint32_t id)
{
  LpGraph *next = &h->dump.graph;
  uint32_t to = lp_live_get(&next->ids, g->node[id].addr);
  return to != LP_NONE && (next->flags[to] & LP_NODE_DEFINED) &&
         next->type[to] == g->type[id];
}

/* How many objects are not where they should be; says which. */
static size_t heap_compare(const Heap *a, Heap *b, size_t *freed)
{
  const LpGraph *g = &a->dump.graph;
  size_t wrong = 0;
  uint32_t id;
  for (id = 1; id < g->n; id++) {
    int has;
    if (!(g->flags[id] & LP_NODE_DEFINED))
      continue;
    has = heap_has(b, g, id);
    *freed += !has;
    if (a->alive[id] == MAYBE || has == a->alive[id])
      continue;
    if (wrong++ < 5) {
      size_t n = 0;
      const char *s = lp_graph_textof(g, id, &n);
      fprintf(stderr, "object %#" PRIx64 " of type %d %.*s%s: %s\n",
              g->node[id].addr, g->type[id], (int)n, s ? s : "",
              g->flags[id] & LP_NODE_GARBAGE ? ", garbage" : "",
              has ? "unreachable, but was kept" : "reachable, but was freed");
    }
  }
  return wrong;
}

int main(int argc, char **argv)
{
  int ran = argc > 1 && strcmp(argv[1], "-r") == 0;
  Heap h[2];
  LpIdMap done = {0};
  size_t wrong = 0, freed = 0;
  int i;
  if (argc < ran + 3 || !heap_read(&h[1], argv[ran + 1]))
    return 2;
  for (i = ran + 2; i < argc; i++) {
    size_t bad;
    h[0] = h[1];
    heap_survivors(&h[0], &done, ran && i == 3 ? MAYBE : 1);
    if (!heap_read(&h[1], argv[i]))
      return 2;
    bad = heap_compare(&h[0], &h[1], &freed);
    if (bad)
      fprintf(stderr, "%s to %s: %zu wrong\n", argv[i - 1], argv[i], bad);
    wrong += bad;
    heap_free(&h[0]);
  }
  printf("%zu\n", freed);
  heap_free(&h[1]);
  lp_idmap_free(&done);
  return wrong != 0;
}

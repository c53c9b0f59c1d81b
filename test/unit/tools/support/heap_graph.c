/*
** Small heaps whose figures are known, for tests.
*/

#include <string.h>

#include "heap_graph.h"

void graph_open(CraftHeap *h, const char *root)
{
  craft_heap_open(h, 64);
  craft_heap_root(h, GRAPH_AT(1), root);
  craft_string_of(h, GRAPH_AT(GRAPH_ID), 8, 0, 2, "id", 2);
  craft_string_of(h, GRAPH_AT(GRAPH_OTHER), 8, 0, 5, "other", 5);
}

void graph_table(CraftHeap *h, unsigned i, uint64_t size, unsigned id,
                 unsigned other)
{
  CraftTable t = {.addr = GRAPH_AT(i), .size = size, .nodes = 2};
  craft_table_of(h, &t);
  if (id)
    craft_field(h, GRAPH_AT(GRAPH_ID), GRAPH_AT(id));
  if (other)
    craft_field(h, GRAPH_AT(GRAPH_OTHER), GRAPH_AT(other));
}

void graph_list(CraftHeap *h, unsigned i, uint64_t size, unsigned first,
                unsigned n)
{
  CraftTable t = {.addr = GRAPH_AT(i), .size = size, .slots = n + 1};
  unsigned k;
  craft_table_of(h, &t);
  for (k = 0; k < n; k++)
    craft_item(h, 0, GRAPH_AT(first + k));
}

void graph_record(CraftHeap *h, unsigned i, uint64_t size)
{
  CraftTable t = {.addr = GRAPH_AT(i), .size = size, .nodes = 1};
  craft_table_of(h, &t);
  craft_node(h, LJM_VALUE_REF, GRAPH_AT(GRAPH_ID), LJM_VALUE_TRUE, 0);
}

/* The dump was read, and is not needed any more. */
static HeapRun graph_end(CraftHeap *h, HeapRun r)
{
  craft_heap_close(h);
  ck_assert_int_eq(r.status, 0);
  return r;
}

HeapRun graph_read(CraftHeap *h)
{
  craft_heap_end(h);
  return graph_end(h, heap_read(h));
}

unsigned graph_below(uint64_t *state, unsigned n)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(*state >> 33) % n;
}

HeapRun graph_random(uint64_t *state, unsigned n)
{
  CraftHeap h;
  unsigned i;
  graph_open(&h, "t");
  for (i = 1; i <= n; i++) {
    if (graph_below(state, 3)) {
      unsigned id = 1 + graph_below(state, n);
      graph_table(&h, i, 48, id, 1 + graph_below(state, n));
    } else {
      graph_list(&h, i, 48, 1 + graph_below(state, n - 3), 3);
    }
  }
  craft_heap_end(&h);
  return graph_end(&h, heap_read_bytes(h.c.out.s, h.c.out.n, 1));
}

HeapRun graph_joinable(CraftHeap *h)
{
  craft_heap_end(h);
  return graph_end(h, heap_read_joinable(h));
}

const char *graph_shape(HeapRun *r, uint32_t shape)
{
  r->text.n = 0;
  lp_shape_name(&r->text, r->heap, shape);
  return r->text.s;
}

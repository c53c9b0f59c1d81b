/*
** All ways to objects: small heaps whose rows are known, and random ones beside
** brute force.
*/

#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "heap_graph.h"
#include "owners.h"
#include "suites.h"

/* -- Known heaps ----------------------------------------------------------- */

/* The rows, as DEPTH:HELD:N of each, those of the objects themselves with a *.
 */
static void rows(const LpOwners *o, const char *want)
{
  LpBuf b = {0};
  size_t i;
  for (i = 0; i < o->n; i++)
    lp_buf_printf(&b, "%s%u:%u:%u%s", i ? " " : "", o->row[i].depth,
                  (unsigned)o->row[i].held, (unsigned)o->row[i].n,
                  o->row[i].last ? "*" : "");
  ck_assert_str_eq(b.s, want);
  lp_buf_free(&b);
}

/* The owners of what a text names. */
static LpOwners owners(const HeapRun *r, const char *text)
{
  LpOwners o;
  size_t n;
  uint32_t *id = lp_heap_named(r->heap, text, &n);
  ck_assert_uint_gt(n, 0);
  lp_owners_open(&o, r->heap, id, n);
  ck_assert_uint_eq(o.objects, n);
  free(id);
  return o;
}

/*
** A list and an index, of which each has some that the other one has not:
**
**   1 --id-----> 2 --> 1000 .. 1029: {id}
**     --other--> 3 --> 1010 .. 1044
*/
START_TEST(test_two)
{
  CraftHeap h;
  LpOwners o;
  HeapRun r;
  unsigned i;
  graph_open(&h, "t");
  graph_table(&h, 1, 48, 2, 3);
  graph_list(&h, 2, 80, 1000, 30);
  graph_list(&h, 3, 40, 1010, 35);
  for (i = 0; i < 45; i++)
    graph_record(&h, 1000 + i, 64);
  r = graph_read(&h);
  o = owners(&r, "table {id}");
  rows(&o, "0:45:1 1:35:1 2:35:35* 1:30:1 2:30:30*");
  ck_assert_uint_eq(o.row[1].id, heap_id(&r, GRAPH_AT(3)));
  ck_assert_uint_eq(o.nowner, 2);
  ck_assert_uint_eq(o.nby, 3);
  ck_assert_uint_eq(o.by[0].n, 20);
  ck_assert_uint_eq(o.by[0].bits, o.by[1].bits | o.by[2].bits);
  ck_assert_uint_eq(o.by[1].n, 15);
  ck_assert_uint_eq(o.by[2].n, 10);
  ck_assert_uint_eq(o.alone, 0);
  lp_owners_close(&o);
  /* One object, by two ways. */
  o = owners(&r, "t.id[20]");
  rows(&o, "0:1:1 1:1:1 2:1:1* 1:1:1 2:1:1*");
  ck_assert_uint_eq(o.row[2].from, o.row[1].id);
  ck_assert_uint_eq(o.row[4].from, o.row[3].id);
  lp_owners_close(&o);
  /* The root itself. */
  o = owners(&r, "t");
  rows(&o, "0:1:1*");
  ck_assert_uint_eq(o.owner[0], LP_OWNERS_ROOT);
  lp_owners_close(&o);
  heap_run_close(&r);
}
END_TEST

/*
** A list whose links are alike is one row, and what each of them has, too. What
** is looked for is not passed: the objects behind the first one of a ring only
** others of them have.
**
**   1 --id-----> 1000 --other--> 1001 ... 1009, each --id--> 1100 .. 1109: {id}
**     --other--> 2 --> 1200 --other--> 1201 --other--> 1202 --other--> 1200
*/
START_TEST(test_list)
{
  CraftHeap h;
  LpOwners o;
  HeapRun r;
  unsigned i;
  graph_open(&h, "t");
  graph_table(&h, 1, 48, 1000, 2);
  for (i = 0; i < 10; i++) {
    graph_table(&h, 1000 + i, 48, 1100 + i, i < 9 ? 1001 + i : 1);
    graph_record(&h, 1100 + i, 64);
  }
  graph_list(&h, 2, 40, 1200, 1);
  for (i = 0; i < 3; i++)
    graph_table(&h, 1200 + i, 32, 0, 1200 + (i + 1) % 3);
  r = graph_read(&h);
  o = owners(&r, "table {id}");
  rows(&o, "0:10:11 1:10:10*"); /* The first table has the links' shape. */
  ck_assert_uint_eq(o.nby, 1);
  lp_owners_close(&o);
  o = owners(&r, "table {other}");
  rows(&o, "0:1:1 1:1:1 2:1:1*");
  ck_assert_uint_eq(o.alone, 2);
  lp_owners_close(&o);
  heap_run_close(&r);
}
END_TEST

/* -- Brute force ----------------------------------------------------------- */

#define OBJECTS 30
#define HEAPS   5000

/* Is an object reached from the root, if those that are looked for are not
** passed?
*/
static uint8_t *reached_of(const HeapRun *r, const uint8_t *is)
{
  const LpGraph *g = &r->heap->dump.graph;
  uint8_t *seen = calloc(g->n, 1);
  int more = 1;
  seen[LP_GRAPH_ROOT] = 1;
  while (more) {
    uint32_t i;
    for (i = 0, more = 0; i < g->n; i++) {
      const LpEdge *e = lp_graph_first(g, i);
      for (; e && seen[i] && !is[i]; e = lp_graph_next(e)) {
        more |= !seen[lp_edge_to(e)];
        seen[lp_edge_to(e)] = 1;
      }
    }
  }
  return seen;
}

/* Is a row of one object on the way to an owner of ID? */
static int leads(const HeapRun *r, const LpOwners *o, const uint8_t *is,
                 const uint8_t *seen, uint32_t row, uint32_t id)
{
  const LpGraph *g = &r->heap->dump.graph;
  uint32_t i;
  for (i = 1; i < g->n; i++) {
    const LpEdge *e = is[i] || !seen[i] ? NULL : lp_graph_first(g, i);
    for (; e; e = lp_graph_next(e)) {
      uint32_t at = i;
      while (lp_edge_to(e) == id && at != LP_GRAPH_ROOT && at != row)
        at = o->paths.from[at];
      if (lp_edge_to(e) == id && at == row)
        return 1;
    }
  }
  return 0;
}

/* Each row of one object leads to as many as it says; those that have owners
** are in `by`, and the others are alone.
*/
static unsigned check(const HeapRun *r, const LpOwners *o, const uint8_t *is,
                      const uint32_t *id, size_t n)
{
  uint8_t *seen = reached_of(r, is);
  uint64_t by = 0, owned = 0, reached = 0;
  unsigned checked = 0;
  size_t i, k;
  for (i = 0; i < n; i++) {
    owned += seen[id[i]];
    reached += lp_dominators_has(&r->heap->dom, id[i]) != 0;
  }
  for (i = 0; i < o->nby; i++)
    by += o->by[i].n;
  ck_assert_uint_eq(by, owned);
  ck_assert_uint_eq(o->alone, reached - owned);
  for (k = 0; k < o->n; k++) {
    uint64_t held = 0;
    if (o->row[k].n > 1 || o->row[k].last)
      continue;
    for (i = 0; i < n; i++)
      held += (uint64_t)leads(r, o, is, seen, o->row[k].id, id[i]);
    ck_assert_uint_eq(o->row[k].held, held);
    checked++;
  }
  free(seen);
  return checked;
}

START_TEST(as_brute_force)
{
  unsigned number, rows_checked = 0;
  for (number = 0; number < HEAPS; number++) {
    uint64_t state = number;
    HeapRun r = graph_random(&state, OBJECTS);
    uint8_t *is = calloc(r.heap->dump.graph.n, 1);
    uint32_t id[4];
    LpOwners o;
    size_t n = 0;
    heap_check(&r);
    while (n < 1 + number % 4) {
      uint32_t one =
          heap_id(&r, GRAPH_AT(2 + graph_below(&state, OBJECTS - 1)));
      if (!is[one])
        id[n++] = one;
      is[one] = 1;
    }
    lp_owners_open(&o, r.heap, id, n);
    ck_assert_uint_eq(o.objects, n);
    rows_checked += check(&r, &o, is, id, n);
    lp_owners_close(&o);
    free(is);
    heap_run_close(&r);
  }
  ck_assert_uint_gt(rows_checked, HEAPS);
}
END_TEST

Suite *suite_owners(void)
{
  const TTest *tests[] = {test_two, test_list, as_brute_force, NULL};
  return suite_of("owners", tests);
}

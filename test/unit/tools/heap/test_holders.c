/*
** Memory that several objects keep together, against brute force, and small
** heaps whose holders are known.
*/

#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "heap_graph.h"
#include "random_heap.h"
#include "sets.h"
#include "shared.h"
#include "suites.h"

/* -- Brute force ----------------------------------------------------------- */

typedef struct Random {
  RandomHeap h;
  LpGraph g;
  LpDominators d;
  LpKids kids;
  LpDomTree tree;
} Random;

static void random_open(Random *r, uint64_t number)
{
  random_heap(&r->h, number);
  random_graph(&r->h, &r->g);
  lp_dominators(&r->g, &r->d);
  lp_kids_open(&r->kids, &r->d, r->g.n);
  r->tree = (LpDomTree){&r->g, &r->d, &r->kids};
}

static void random_close(Random *r)
{
  lp_kids_free(&r->kids);
  lp_dominators_free(&r->d);
  lp_graph_close(&r->g);
}

/* Does its dominator refer to an object? */
static int is_direct(const Random *r, unsigned object, unsigned top)
{
  return r->h.ref[top][object] > 0;
}

/* The kids of TOP through which a shared one is reached: all others to which
** TOP refers are taken away. One bit each.
*/
static uint64_t holders_of(Random *r, unsigned top, unsigned object)
{
  uint64_t bits = 0;
  unsigned i, k;
  for (i = 1; i < r->h.n; i++) {
    unsigned char seen[RANDOM_OBJECTS] = {0};
    RandomCut cut = {0};
    if (r->d.parent[random_id(&r->g, i)] != random_id(&r->g, top) ||
        !is_direct(r, i, top))
      continue;
    for (k = 1; k < r->h.n; k++)
      cut.object[k] = k != i && is_direct(r, k, top) &&
                      r->d.parent[random_id(&r->g, k)] == random_id(&r->g, top);
    random_reach(&r->h, top, &cut, seen);
    bits |= seen[object] ? 1ull << i : 0;
  }
  return bits;
}

/* Groups by brute force: the holders and the bytes of each. */
typedef struct Wanted {
  uint64_t holders, bytes;
  unsigned top, n;
} Wanted;

static unsigned wanted_find(Random *r, Wanted *w)
{
  unsigned i, k, n = 0;
  for (i = 1; i < r->h.n; i++) {
    uint32_t id = random_id(&r->g, i);
    uint32_t parent = r->d.parent[id];
    unsigned top;
    uint64_t bits;
    if (parent == LP_NONE)
      continue;
    top = random_object(&r->g, parent);
    if (is_direct(r, i, top))
      continue;
    bits = holders_of(r, top, i);
    ck_assert_int_ge(__builtin_popcountll(bits), 2);
    for (k = 0; k < n && (w[k].top != top || w[k].holders != bits); k++)
      ;
    if (k == n)
      w[n++] = (Wanted){.top = top, .holders = bits};
    w[k].bytes += r->d.retained[id];
    w[k].n++;
  }
  return n;
}

/* The kid of TOP that is or dominates an object. */
static unsigned kid_of(Random *r, unsigned top, uint32_t id)
{
  while (r->d.parent[id] != random_id(&r->g, top))
    id = r->d.parent[id];
  return random_object(&r->g, id);
}

/* Takes a holder away. */
static void cut_holder(const Random *r, RandomCut *cut, const LpHolder *h)
{
  unsigned from = random_object(&r->g, h->id);
  if (h->edge == LP_NONE)
    cut->object[from] = 1;
  else
    cut->ref[from][random_object(&r->g, lp_edge_to(&r->g.edge[h->edge]))]++;
}

/* Is an object reached? */
static int is_seen(const Random *r, const unsigned char *seen, uint32_t id)
{
  return seen[random_object(&r->g, id)];
}

/* Without its holders nothing of the group is reached, and `freed` is right;
** with any one of them that can be reached, all is, or something with one
** reference.
*/
static void check_freed(Random *r, const LpShared *s)
{
  RandomCut all = {0};
  unsigned char before[RANDOM_OBJECTS] = {0}, seen[RANDOM_OBJECTS] = {0};
  uint64_t freed = 0;
  size_t i, k, found;
  for (i = 0; i < s->nholder; i++)
    cut_holder(r, &all, &s->holder[i]);
  random_reach(&r->h, 0, NULL, before);
  random_reach(&r->h, 0, &all, seen);
  for (i = 0; i < s->n; i++)
    ck_assert_int_eq(is_seen(r, seen, s->id[i]), 0);
  for (i = 1; i < r->h.n; i++)
    freed += before[i] && !seen[i] ? random_size((unsigned)i) : 0;
  ck_assert_uint_eq(s->freed, freed);
  for (i = 0; i < s->nholder; i++) {
    RandomCut but = {0};
    for (k = 0; k < s->nholder; k++)
      if (k != i)
        cut_holder(r, &but, &s->holder[k]);
    memset(seen, 0, sizeof(seen));
    random_reach(&r->h, 0, &but, seen);
    for (k = found = 0; k < s->n; k++)
      found += (size_t)is_seen(r, seen, s->id[k]);
    if (is_seen(r, seen, s->holder[i].id))
      ck_assert_uint_ge(found, s->holder[i].edge == LP_NONE ? s->n : 1);
  }
}

/* A group is a part of one that is wanted. */
static void check_group(Random *r, const LpShared *s, Wanted *w, unsigned n)
{
  unsigned top = random_object(&r->g, s->top), k;
  uint64_t bits = 0, most = 0, bytes = 0;
  size_t i;
  for (i = 0; i < s->nholder; i++)
    bits |= 1ull << kid_of(r, top, s->holder[i].id);
  for (i = 0; i < s->n; i++) {
    ck_assert_uint_eq(holders_of(r, top, random_object(&r->g, s->id[i])), bits);
    bytes += r->d.retained[s->id[i]];
    if (r->d.retained[s->id[i]] > most)
      most = r->d.retained[s->id[i]];
  }
  ck_assert_uint_eq(r->d.retained[s->id[0]], most);
  for (k = 0; k < n && (w[k].top != top || w[k].holders != bits); k++)
    ;
  ck_assert_uint_lt(k, n);
  ck_assert_uint_eq(s->bytes, bytes);
  ck_assert_uint_le(s->bytes, w[k].bytes);
  ck_assert_uint_le(s->n, w[k].n);
  w[k].bytes -= s->bytes; /* No object twice. */
  w[k].n -= (unsigned)s->n;
  for (i = 1; i < s->nholder; i++)
    ck_assert_uint_ge(lp_holder_keeps(&r->tree, &s->holder[i - 1]),
                      lp_holder_keeps(&r->tree, &s->holder[i]));
  check_freed(r, s);
}

/* All groups are found, or with a limit those that keep enough. */
START_TEST(as_brute_force)
{
  unsigned number, n, k, groups = 0, edges = 0;
  size_t i, j;
  for (number = 0; number < RANDOM_HEAPS; number++) {
    uint64_t least = number % 3 ? 1 : 300;
    Wanted w[RANDOM_OBJECTS];
    LpSharing s;
    Random r;
    random_open(&r, number);
    n = wanted_find(&r, w);
    lp_sharing_open(&s, &r.tree, least);
    for (i = 0; i < s.n; i++) {
      ck_assert_uint_ge(s.group[i].bytes, least);
      check_group(&r, &s.group[i], w, n);
      for (j = 0; j < s.group[i].nholder; j++)
        edges += s.group[i].holder[j].edge != LP_NONE;
    }
    for (k = 0; least == 1 && k < n; k++)
      ck_assert_uint_eq(w[k].n, 0);
    groups += (unsigned)s.n;
    lp_sharing_close(&s);
    random_close(&r);
  }
  ck_assert_uint_gt(groups, RANDOM_HEAPS / 2);
  ck_assert_uint_gt(edges, RANDOM_HEAPS / 10);
}
END_TEST

/* -- Sets ------------------------------------------------------------------ */

START_TEST(sets)
{
  uint32_t n[LP_SET_MOST], all = LP_SET_EMPTY, i;
  LpSets s;
  lp_sets_open(&s);
  for (i = LP_SET_MOST; i-- > 0;)
    all = lp_sets_union(&s, all, lp_sets_one(&s, 7 * i));
  ck_assert_uint_eq(lp_sets_get(&s, all, n), LP_SET_MOST);
  for (i = 0; i < LP_SET_MOST; i++)
    ck_assert_uint_eq(n[i], 7 * i);
  ck_assert_uint_eq(lp_sets_union(&s, all, lp_sets_one(&s, 14)), all);
  ck_assert_uint_eq(lp_sets_union(&s, lp_sets_one(&s, 3), all), LP_SET_MANY);
  ck_assert_uint_eq(lp_sets_union(&s, LP_SET_MANY, lp_sets_one(&s, 3)),
                    LP_SET_MANY);
  ck_assert_uint_eq(lp_sets_union(&s, LP_SET_EMPTY, all), all);
  ck_assert_uint_eq(lp_sets_get(&s, LP_SET_MANY, n), 0);
  lp_sets_close(&s);
}
END_TEST

/* -- Known heaps ----------------------------------------------------------- */

/*
** A list and an index have the same objects, and each other ones of its own:
**
**   1 --id-----> 2 --> 1000 .. 1029: {id} (64 each)
**     --other--> 3 --> 1010 .. 1039
*/
static void two_open(CraftHeap *h)
{
  unsigned i;
  graph_open(h, "t");
  graph_table(h, 1, 48, 2, 3);
  graph_list(h, 2, 80, 1000, 30);
  graph_list(h, 3, 40, 1010, 30);
  for (i = 0; i < 40; i++)
    graph_record(h, 1000 + i, 64);
}

START_TEST(test_two)
{
  const LpShared *s;
  LpDomTree tree;
  CraftHeap h;
  HeapRun r;
  two_open(&h);
  r = graph_read(&h);
  tree = lp_heap_tree(r.heap);
  ck_assert_uint_eq(r.heap->sharing.n, 1);
  s = r.heap->sharing.group;
  ck_assert_uint_eq(s->top, heap_id(&r, GRAPH_AT(1)));
  ck_assert_uint_eq(s->n, 20);
  ck_assert_uint_eq(s->bytes, 20 * 64);
  ck_assert_uint_eq(s->nholder, 2);
  ck_assert_uint_eq(s->holder[0].id, heap_id(&r, GRAPH_AT(2)));
  ck_assert_uint_eq(s->holder[1].id, heap_id(&r, GRAPH_AT(3)));
  ck_assert_uint_eq(lp_holder_keeps(&tree, &s->holder[0]), 80 + 10 * 64);
  ck_assert_uint_eq(lp_holder_keeps(&tree, &s->holder[1]), 40 + 10 * 64);
  ck_assert_uint_eq(s->freed, 80 + 40 + 40 * 64);
  heap_run_close(&r);
}
END_TEST

/* What the objects at a path keep, alone and together with others. */
static LpFound keeps(const HeapRun *r, const char *path, uint64_t retained,
                     uint64_t shared)
{
  LpFound f = lp_heap_find(r->heap, path);
  ck_assert_uint_eq(f.retained, retained);
  ck_assert_uint_eq(f.shared, shared);
  return f;
}

/* The same heap: each holder, what is held, what has both; and a pattern of a
** holder and some of what it holds, of which no byte counts twice.
*/
START_TEST(test_find)
{
  const uint64_t list = 80 + 10 * 64, index = 40 + 10 * 64, both = 20 * 64;
  const uint64_t all = 48 + 2 * 8 + list + index + both; /* With its keys. */
  const LpShared *s;
  CraftHeap h;
  HeapRun r;
  two_open(&h);
  r = graph_read(&h);
  s = r.heap->sharing.group;
  ck_assert_ptr_eq(keeps(&r, "t.id", list, list + both).group, s);
  ck_assert_ptr_eq(keeps(&r, "t.other", index, index + both).group, s);
  ck_assert_ptr_null(keeps(&r, "t", all, all).group);
  ck_assert_ptr_eq(
      keeps(&r, "t.*[]r]", index + list - 80 + both, index + list - 80 + both)
          .group,
      s);
  /* t.other, t.id[10] and, of what both have, t.id[20] and t.id[30]. */
  ck_assert_ptr_eq(
      keeps(&r, "t.*[0r]*", index + 3 * 64, index + 64 + both).group, s);
  heap_run_close(&r);
}
END_TEST

/*
** Many small sessions in a list hold what a list has, and one name that is used
** elsewhere: the list of sessions is told, and the name is in no group.
**
**   1 --id-----> 2 --> 1000 .. 1019: {id = 1100 .. 1119} --> 1200 (10)
**     --other--> 3 --> 1100 .. 1119 (64 each), and 4 --> 1200
*/
START_TEST(test_sessions)
{
  const LpShared *s;
  CraftHeap h;
  HeapRun r;
  unsigned i;
  graph_open(&h, "t");
  graph_table(&h, 1, 48, 2, 3);
  graph_list(&h, 2, 80, 1000, 20);
  graph_table(&h, 3, 48, 4, 5);
  graph_list(&h, 4, 80, 1100, 20);
  graph_table(&h, 5, 16, 1200, 0);
  for (i = 0; i < 20; i++) {
    graph_table(&h, 1000 + i, 16, 1100 + i, 1200);
    graph_record(&h, 1100 + i, 64);
  }
  graph_record(&h, 1200, 10);
  r = graph_read(&h);
  ck_assert_uint_eq(r.heap->sharing.n, 1);
  s = r.heap->sharing.group;
  ck_assert_uint_eq(s->n, 20);
  ck_assert_uint_eq(s->bytes, 20 * 64);
  ck_assert_uint_eq(s->nholder, 2);
  ck_assert_uint_eq(s->holder[0].id, heap_id(&r, GRAPH_AT(2)));
  ck_assert_uint_eq(s->holder[1].id, heap_id(&r, GRAPH_AT(4)));
  ck_assert_uint_eq(s->freed, 80 + 20 * 16 + 80 + 20 * 64);
  heap_run_close(&r);
}
END_TEST

/* What more objects share than a set has room for has no holders. */
START_TEST(test_many)
{
  CraftHeap h;
  HeapRun r;
  unsigned i;
  graph_open(&h, "t");
  graph_list(&h, 1, 48, 1000, LP_SET_MOST + 1);
  for (i = 0; i <= LP_SET_MOST; i++)
    graph_table(&h, 1000 + i, 16, 2, 0);
  graph_record(&h, 2, 10000);
  r = graph_read(&h);
  ck_assert_uint_eq(r.heap->sharing.n, 0);
  heap_run_close(&r);
}
END_TEST

Suite *suite_holders(void)
{
  const TTest *tests[] = {as_brute_force, sets,      test_two, test_find,
                          test_sessions,  test_many, NULL};
  return suite_of("holders", tests);
}

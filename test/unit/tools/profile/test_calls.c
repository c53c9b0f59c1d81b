/*
** The call tree against a naive one.
*/

#include <stdlib.h>

#include "craft.h"
#include "mem.h"
#include "sampled.h"
#include "suites.h"
#include "walk.h"

#define NSTEPS 200000

/* ck_assert, for where there are millions: check notes each of them. */
#define must(cond)                                                             \
  do {                                                                         \
    if (!(cond))                                                               \
      ck_abort_msg("%s", #cond);                                               \
  } while (0)

/* As a list of nodes, found by parent and site. */
typedef struct Naive {
  uint32_t (*node)[2]; /* Parent, site. */
  size_t nodes;
  uint32_t n;
  LpIdMap ids;
} Naive;

static uint32_t naive_node(Naive *t, uint32_t parent, uint32_t site)
{
  uint64_t key = (uint64_t)parent << 32 | site;
  uint32_t id = lp_idmap_get(&t->ids, key);
  if (id != LP_NONE)
    return id;
  t->node = lp_grow(t->node, &t->nodes, t->n + 1u, sizeof(t->node[0]));
  t->node[t->n][0] = parent;
  t->node[t->n][1] = site;
  lp_idmap_put(&t->ids, key, t->n);
  return t->n++;
}

/* The walk is at a stack: all of it, and no less in common than there is. */
static void same_walk(const LpWalk *w, const Naive *t, uint32_t node,
                      const uint32_t *before, uint32_t nbefore)
{
  uint32_t i = w->n;
  for (; node; node = t->node[node][0])
    must(i && w->node[--i] == node);
  must(!i);
  must(w->same <= w->n && w->same <= nbefore);
  for (i = 0; i < w->same; i++)
    must(w->node[i] == before[i]);
  must(i == w->n || i == nbefore || w->node[i] != before[i]);
}

/* Calls and returns, and jumps to where stacks were before: with so many SITES,
** branches are few or many. Each step has its number in both trees.
*/
static void compare(uint32_t sites)
{
  LpCalls c;
  LpWalk w = {0};
  Naive t = {0};
  uint32_t at = 0, i, *before = NULL, nbefore = 0;
  size_t room = 0;
  lp_calls_open(&c, 0);
  naive_node(&t, 0, UINT32_MAX);
  for (i = 0; i < NSTEPS; i++) {
    uint64_t what = craft_random(8);
    if (what < 5) {
      uint32_t site = (uint32_t)craft_random(sites),
               id = lp_calls_node(&c, at, site);
      must(id == naive_node(&t, at, site));
      must(c.site[id] == site);
      at = id;
    } else if (what < 7) {
      must(lp_calls_parent(&c, at) == t.node[at][0]);
      at = t.node[at][0];
    } else {
      at = (uint32_t)craft_random(t.n);
    }
    lp_walk_to(&w, &c, at);
    same_walk(&w, &t, at, before, nbefore);
    before = lp_grow(before, &room, w.n, sizeof(uint32_t));
    for (nbefore = 0; nbefore < w.n; nbefore++)
      before[nbefore] = w.node[nbefore];
  }
  ck_assert_uint_eq(c.n, t.n);
  for (i = 0; i < t.n; i++)
    must(lp_calls_parent(&c, i) == t.node[i][0]);
  lp_calls_close(&c);
  lp_walk_free(&w);
  lp_idmap_free(&t.ids);
  free(t.node);
  free(before);
}

/* Bytes that a tree takes. */
static size_t calls_bytes(const LpCalls *c)
{
  return c->nodes * sizeof(c->site[0]) + c->words * sizeof(c->word[0]) +
         c->runs * sizeof(c->parent[0]) + c->edges.nslot * sizeof(LpIdSlot);
}

/* Stacks that part at once and never meet again: a node takes its site, half as
** much to grow, and little else.
*/
START_TEST(test_deep)
{
  LpCalls c;
  uint32_t i, k;
  lp_calls_open(&c, 0);
  for (i = 0; i < 20000; i++) {
    uint32_t at = 0;
    for (k = 0; k < 120; k++)
      at = lp_calls_node(&c, at, (uint32_t)craft_random(24));
  }
  ck_assert_uint_gt(c.n, 20000 * 110);
  ck_assert_uint_le(calls_bytes(&c), c.n * (size_t)7);
  lp_calls_close(&c);
}
END_TEST

/* Stacks have numbers in the order in which they were met. */
START_TEST(test_sampled)
{
  LpSampled s = {0};
  ck_assert_uint_eq(lp_sampled_add(&s, 7, 2), 0);
  ck_assert_uint_eq(lp_sampled_add(&s, 1u << 31, 1), 1);
  ck_assert_uint_eq(lp_sampled_add(&s, 7, 3), 0);
  ck_assert_uint_eq(s.n, 2);
  ck_assert_uint_eq(s.node[1], 1u << 31);
  ck_assert_uint_eq(s.samples[0], 5);
  ck_assert_uint_eq(s.samples[1], 1);
  lp_sampled_free(&s);
}
END_TEST

/* Branches are few. */
START_TEST(test_chains)
{
  compare(1000);
}
END_TEST

/* Branches are many. */
START_TEST(test_bushes)
{
  compare(3);
}
END_TEST

Suite *suite_calls(void)
{
  const TTest *tests[] = {test_chains, test_bushes, test_deep, test_sampled,
                          NULL};
  return suite_of("calls", tests);
}

/*
** A call tree: each node is a site, called by its parent.
**
** Stacks that differ far out are long chains without branches. So the first
** child of a node that is made right behind it is known by its number, the next
** one, and costs the four bytes of its site. All other nodes begin a run: their
** parents are in an array, and they are found by a hash table.
*/

#ifndef LP_CALLS_H
#define LP_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "idmap.h"

#define LP_CALLS_WORD 64 /* Nodes of an LpCallsWord. */

/* Of so many nodes, those that begin a run, and how many did before them. */
typedef struct LpCallsWord {
  uint64_t first;
  uint32_t before;
} LpCallsWord;

typedef struct LpCalls {
  uint32_t *site; /* By node, */
  size_t nodes;   /* room, */
  uint32_t n;     /* for so many. The root is 0. */
  LpCallsWord *word;
  size_t words;     /* Room. */
  uint32_t *parent; /* By run: of its first node, */
  size_t runs;      /* room, */
  uint32_t nrun;    /* for so many. */
  LpIdMap edges;    /* First nodes of runs, by parent and site. */
} LpCalls;

/* Make the root, whose parent is itself. The caller frees the tree with
** lp_calls_close.
*/
void lp_calls_open(LpCalls *c, uint32_t site);

/* Free the memory. */
void lp_calls_close(LpCalls *c);

/* As lp_calls_node, for a node that is new or begins a run. */
uint32_t lp_calls_far(LpCalls *c, uint32_t parent, uint32_t site);

/* The parent of a node that begins a run. */
static inline uint32_t lp_calls_run(const LpCalls *c, uint32_t node)
{
  const LpCallsWord *w = &c->word[node / LP_CALLS_WORD];
  uint64_t before = w->first & ((UINT64_C(1) << node % LP_CALLS_WORD) - 1);
  return c->parent[w->before + (unsigned)__builtin_popcountll(before)];
}

/* Does a node begin a run? */
static inline int lp_calls_first(const LpCalls *c, uint32_t node)
{
  return c->word[node / LP_CALLS_WORD].first >> node % LP_CALLS_WORD & 1;
}

/* The parent of a node: always a smaller number, but of the root itself. */
static inline uint32_t lp_calls_parent(const LpCalls *c, uint32_t node)
{
  return lp_calls_first(c, node) ? lp_calls_run(c, node) : node - 1;
}

/* The node of SITE, called by PARENT; made if there is none. Returns UINT32_MAX
** if there are too many.
*/
static inline uint32_t lp_calls_node(LpCalls *c, uint32_t parent, uint32_t site)
{
  uint32_t next = parent + 1;
  if (next < c->n && c->site[next] == site && !lp_calls_first(c, next))
    return next;
  return lp_calls_far(c, parent, site);
}

#endif

/*
** A call tree: each node is a site, called by its parent.
*/

#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "mem.h"

/* A new node, which begins a run unless it is the next one of its parent. */
static uint32_t calls_new(LpCalls *c, uint32_t parent, uint32_t site)
{
  uint32_t id = c->n++;
  LpCallsWord *w;
  c->site = lp_grow(c->site, &c->nodes, c->n, sizeof(uint32_t));
  c->site[id] = site;
  c->word =
      lp_grow(c->word, &c->words, id / LP_CALLS_WORD + 1, sizeof(LpCallsWord));
  w = &c->word[id / LP_CALLS_WORD];
  if (id % LP_CALLS_WORD == 0)
    w->before = c->nrun;
  if (id && id == parent + 1)
    return id;
  w->first |= UINT64_C(1) << id % LP_CALLS_WORD;
  c->parent = lp_grow(c->parent, &c->runs, c->nrun + 1u, sizeof(uint32_t));
  c->parent[c->nrun++] = parent;
  return id;
}

uint32_t lp_calls_far(LpCalls *c, uint32_t parent, uint32_t site)
{
  uint64_t key = (uint64_t)parent << 32 | site;
  uint32_t id = lp_idmap_get(&c->edges, key);
  if (id != LP_NONE)
    return id;
  if (c->n == UINT32_MAX)
    return UINT32_MAX;
  if (c->n != parent + 1)
    lp_idmap_put(&c->edges, key, c->n);
  return calls_new(c, parent, site);
}

void lp_calls_open(LpCalls *c, uint32_t site)
{
  memset(c, 0, sizeof(*c));
  calls_new(c, 0, site);
}

void lp_calls_close(LpCalls *c)
{
  free(c->site);
  free(c->word);
  free(c->parent);
  lp_idmap_free(&c->edges);
  memset(c, 0, sizeof(*c));
}

/*
** Where objects come from: call tree, origins, what is counted for each.
*/

#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "mem.h"
#include "origin.h"

#define ORIGIN_NODES (UINT32_MAX - 1) /* No more nodes than this. */

/* Append a node. */
static uint32_t origins_append(LpOrigins *o, uint32_t parent, uint32_t site)
{
  o->node = lp_grow(o->node, &o->nodes, (size_t)o->nnode + 1, sizeof(LpNode));
  o->node[o->nnode] = (LpNode){parent, site};
  return o->nnode++;
}

/* The node of SITE, called by PARENT. */
uint32_t lp_origins_node(LpOrigins *o, uint32_t parent, uint32_t site)
{
  uint64_t key = (uint64_t)parent << 32 | site;
  uint32_t id = lp_idmap_get(&o->edges, key);
  if (id != LP_NONE)
    return id;
  if (o->nnode == ORIGIN_NODES)
    return LP_NODE_CUT;
  id = origins_append(o, parent, site);
  lp_idmap_put(&o->edges, key, id);
  return id;
}

/* Append an origin and remember its number. */
uint32_t lp_origins_new(LpOrigins *o, uint32_t node, uint32_t site,
                        uint32_t type)
{
  uint32_t bare = lp_origins_bare(site, type), id = o->n;
  if (id > LP_LIVE_MAX)
    return LP_ORIGIN_LOST;
  o->cell = lp_grow(o->cell, &o->cells, (size_t)id + 1, sizeof(LpCell));
  o->callers =
      lp_grow(o->callers, &o->ncallers, (size_t)id + 1, sizeof(uint32_t));
  o->cell[id] = (LpCell){.site = site, .type = type};
  o->callers[id] = node;
  if (node == LP_NODE_ROOT) {
    o->bare = lp_grow(o->bare, &o->nbare, (size_t)bare + 1, sizeof(uint32_t));
    o->bare[bare] = id + 1;
  } else {
    lp_idmap_put(&o->ids, (uint64_t)node << 32 | bare, id);
  }
  return o->n++;
}

/* Make room for the parts of every origin. */
void lp_origins_parts(LpOrigins *o)
{
  o->part = lp_grow(o->part, &o->nparts, o->cells, sizeof(o->part[0]));
}

/* What is counted for an origin. */
LpFigures lp_origins_figures(const LpOrigins *o, uint32_t origin)
{
  LpFigures f;
  memset(&f, 0, sizeof(f));
  memcpy(f.n, o->cell[origin].n, sizeof(f.n));
  if (origin < o->nparts)
    memcpy(f.part, o->part[origin], sizeof(f.part));
  return f;
}

/* The root, the node of cut stacks; no objects. */
void lp_origins_open(LpOrigins *o)
{
  memset(o, 0, sizeof(*o));
  origins_append(o, LP_NODE_ROOT, LP_SITE_UNKNOWN);
  lp_origins_node(o, LP_NODE_ROOT, LP_SITE_CUT);
  lp_origins_new(o, LP_NODE_ROOT, LP_SITE_BEFORE, LJM_TYPE_UNKNOWN);
  lp_origins_new(o, LP_NODE_ROOT, LP_SITE_LOST, LJM_TYPE_UNKNOWN);
}

/* Give the memory back. */
void lp_origins_close(LpOrigins *o)
{
  lp_idmap_free(&o->edges);
  lp_idmap_free(&o->ids);
  free(o->node);
  free(o->bare);
  free(o->cell);
  free(o->callers);
  free(o->part);
}

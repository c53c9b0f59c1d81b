/*
** Where objects come from: call tree, origins, what is counted for each.
**
** A node of the tree is a list of callers: the node of all but the innermost,
** and that one's site. An origin is what a live object is known by: callers,
** site, type.
*/

#ifndef LP_ORIGIN_H
#define LP_ORIGIN_H

#include <stddef.h>
#include <stdint.h>

#include "figures.h"
#include "idmap.h"
#include "record.h"

/* Origins that are always there. */
enum {
  LP_ORIGIN_BEFORE, /* Objects older than the recording. */
  LP_ORIGIN_LOST    /* In place of origins that there is no number for. */
};

typedef struct LpNode {
  uint32_t parent; /* Always a smaller number; of the root, itself. */
  uint32_t site;
} LpNode;

/* An origin, and what is counted for it: as large as a line of cache. */
typedef struct LpCell {
  uint64_t n[LP_NCOUNT];
  uint32_t site;
  uint32_t type;
} LpCell;

typedef struct LpOrigins {
  LpIdMap edges; /* Nodes, by parent and site. */
  LpNode *node;
  size_t nodes; /* Room. */
  uint32_t nnode;
  LpIdMap ids;    /* Origins with callers, by all three. */
  uint32_t *bare; /* Those without, by site and type: number + 1. */
  size_t nbare;
  LpCell *cell;      /* By origin, */
  size_t cells;      /* room, */
  uint32_t *callers; /* nodes, */
  size_t ncallers;
  uint64_t (
      *part)[LP_NCOUNT]; /* and of samples what is beyond whole numbers, */
  size_t nparts;         /* for so many. */
  uint32_t n;
} LpOrigins;

void lp_origins_open(LpOrigins *o);
void lp_origins_close(LpOrigins *o);
uint32_t lp_origins_node(LpOrigins *o, uint32_t parent, uint32_t site);
uint32_t lp_origins_new(LpOrigins *o, uint32_t node, uint32_t site,
                        uint32_t type);
void lp_origins_parts(LpOrigins *o);
LpFigures lp_origins_figures(const LpOrigins *o, uint32_t origin);

/* A key of site, at most LP_SITE_MAX, and type. */
static inline uint32_t lp_origins_bare(uint32_t site, uint32_t type)
{
  return site << 4 | type;
}

/* The number of an origin. */
static inline uint32_t lp_origins_get(LpOrigins *o, uint32_t node,
                                      uint32_t site, uint32_t type)
{
  uint32_t bare = lp_origins_bare(site, type), id;
  if (node == LP_NODE_ROOT) {
    if (bare < o->nbare && o->bare[bare])
      return o->bare[bare] - 1;
  } else {
    id = lp_idmap_get(&o->ids, (uint64_t)node << 32 | bare);
    if (id != LP_NONE)
      return id;
  }
  return lp_origins_new(o, node, site, type);
}

#endif

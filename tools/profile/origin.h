/*
** Call tree and origins of objects, with the counters of each.
**
** A node of the tree is a list of callers, or a whole stack of a CPU profile.
** An origin is what a live object is known by: callers, site, type.
**
** Programs walk their call trees in order, and origins are numbered in the
** order of their first visit. So the first ORIGIN_NEAR origins of a node are in
** a list, whose elements most often are in the cache; only the rest is in a
** hash table, which scatters them.
*/

#ifndef LP_ORIGIN_H
#define LP_ORIGIN_H

#include <stddef.h>
#include <stdint.h>

#include "calls.h"
#include "figures.h"
#include "idmap.h"
#include "record.h"
#include "weight.h"

#define LP_ORIGIN_MAX ((1u << 30) - 2) /* The largest origin number. */

/* Origins that are always there. */
enum {
  LP_ORIGIN_BEFORE, /* Objects older than the recording. */
  LP_ORIGIN_LOST    /* In place of origins that there is no number for. */
};

/* An origin, and what is counted for it: as large as a line of cache. */
typedef struct LpCell {
  uint64_t n[LP_NCELL];
  uint32_t what; /* Site and type. */
  uint32_t next; /* The next one of the same node, or 0. */
} LpCell;

typedef struct LpOrigins {
  LpCalls calls;
  uint32_t *first; /* By node: of its origins the first one made, or 0, */
  size_t nfirst;   /* for so many: others have none. */
  LpIdMap ids;     /* Origins that are in no list, by all three. */
  uint32_t *bare;  /* Those without, by site and type: number + 1. */
  size_t nbare;
  LpCell *cell;      /* By origin, */
  size_t cells;      /* room, */
  uint32_t *callers; /* nodes, */
  size_t ncallers;
  uint64_t (*part)[LP_NCELL]; /* of samples what is beyond whole numbers, */
  size_t nparts;              /* for so many, */
  LpExtra *extra;             /* what is counted beside, */
  size_t nextra;              /* for so many. */
  uint32_t n;
} LpOrigins;

/* Start with the nodes and origins that always exist. */
void lp_origins_open(LpOrigins *o);

/* Free the memory. */
void lp_origins_close(LpOrigins *o);

/* As lp_origins_get, for an origin that is new or in the hash table. Returns
** LP_ORIGIN_LOST after LP_ORIGIN_MAX origins.
*/
uint32_t lp_origins_far(LpOrigins *o, uint32_t node, uint32_t what);

/* Make room for the fractions of every origin. */
void lp_origins_parts(LpOrigins *o);

/* Make room for the extra counters of every origin. */
void lp_origins_extra(LpOrigins *o);

/* Add V to two extra counters of an origin: objects to COUNT, bytes
** to BYTES.
*/
void lp_origins_beside(LpOrigins *o, uint32_t origin, int count, int bytes,
                       const LpWeight *v);

/* Add the bytes of V to one extra counter of an origin. */
void lp_origins_bytes(LpOrigins *o, uint32_t origin, int bytes,
                      const LpWeight *v);

/* All counters of an origin. */
LpFigures lp_origins_figures(const LpOrigins *o, uint32_t origin);

/* The live objects and bytes of an origin, modulo 2^64. */
LpWeight lp_origins_live(const LpOrigins *o, uint32_t origin);

/* A key of site, at most LP_SITE_MAX, and type. */
static inline uint32_t lp_origins_what(uint32_t site, uint32_t type)
{
  return site << 4 | type;
}

/* The site of an origin. */
static inline uint32_t lp_cell_site(const LpCell *c)
{
  return c->what >> 4;
}

/* The type of an origin, LJM_TYPE_*. */
static inline uint32_t lp_cell_type(const LpCell *c)
{
  return c->what & 15;
}

/* The node of SITE, called by PARENT. If there are too many, it is the one of
** callers that are not recorded.
*/
static inline uint32_t lp_origins_node(LpOrigins *o, uint32_t parent,
                                       uint32_t site)
{
  uint32_t id = lp_calls_node(&o->calls, parent, site);
  return id == UINT32_MAX ? LP_NODE_CUT : id;
}

/* The number of an origin. */
static inline uint32_t lp_origins_get(LpOrigins *o, uint32_t node,
                                      uint32_t site, uint32_t type)
{
  uint32_t what = lp_origins_what(site, type), id;
  if (node == LP_NODE_ROOT)
    return what < o->nbare && o->bare[what] ? o->bare[what] - 1
                                            : lp_origins_far(o, node, what);
  for (id = node < o->nfirst ? o->first[node] : 0; id; id = o->cell[id].next)
    if (o->cell[id].what == what)
      return id;
  return lp_origins_far(o, node, what);
}

#endif

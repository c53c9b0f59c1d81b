/*
** Call tree and origins of objects, with the counters of each.
*/

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "origin.h"

#define ORIGIN_NEAR  4                /* No list is longer. */
#define ORIGIN_NODES (UINT32_MAX - 1) /* No more nodes than this. */

/* A new node. */
static uint32_t origins_node(LpOrigins *o, uint32_t parent, uint32_t site)
{
  o->node = lp_grow(o->node, &o->nodes, (size_t)o->nnode + 1, sizeof(LpNode));
  o->node[o->nnode] = (LpNode){.parent = parent, .site = site};
  return o->nnode++;
}

uint32_t lp_origins_far_node(LpOrigins *o, uint32_t parent, uint32_t site)
{
  uint64_t key = (uint64_t)parent << 32 | site;
  uint32_t *end = &o->node[parent].child, near = 0, id = LP_NONE;
  for (; *end; end = &o->node[*end].next)
    near++;
  if (near == ORIGIN_NEAR)
    id = lp_idmap_get(&o->edges, key);
  if (id != LP_NONE)
    return id;
  if (o->nnode == ORIGIN_NODES)
    return LP_NODE_CUT;
  if (near == ORIGIN_NEAR)
    lp_idmap_put(&o->edges, key, o->nnode);
  else
    *end = o->nnode;
  return origins_node(o, parent, site);
}

/* A new origin. */
static uint32_t origins_new(LpOrigins *o, uint32_t node, uint32_t what)
{
  size_t n = (size_t)o->n + 1;
  o->cell = lp_grow_lines(o->cell, &o->cells, n, sizeof(LpCell));
  o->callers = lp_grow(o->callers, &o->ncallers, n, sizeof(uint32_t));
  o->cell[o->n] = (LpCell){.what = what};
  o->callers[o->n] = node;
  return o->n++;
}

/* The same, of an origin without callers. */
static uint32_t origins_bare(LpOrigins *o, uint32_t what)
{
  o->bare = lp_grow(o->bare, &o->nbare, (size_t)what + 1, sizeof(uint32_t));
  o->bare[what] = o->n + 1;
  return origins_new(o, LP_NODE_ROOT, what);
}

uint32_t lp_origins_far(LpOrigins *o, uint32_t node, uint32_t what)
{
  uint64_t key = (uint64_t)node << 32 | what;
  uint32_t *end = &o->node[node].origin, near = 0, id = LP_NONE;
  for (; *end; end = &o->cell[*end].next)
    near++;
  if (near == ORIGIN_NEAR)
    id = lp_idmap_get(&o->ids, key);
  if (id != LP_NONE)
    return id;
  if (o->n > LP_ORIGIN_MAX)
    return LP_ORIGIN_LOST;
  if (node == LP_NODE_ROOT)
    return origins_bare(o, what);
  if (near == ORIGIN_NEAR)
    lp_idmap_put(&o->ids, key, o->n);
  else
    *end = o->n;
  return origins_new(o, node, what);
}

uint32_t lp_origins_sample(LpOrigins *o, uint32_t node, uint64_t count)
{
  if (node == LP_NODE_ROOT)
    node = lp_origins_node(o, LP_NODE_ROOT, LP_SITE_UNKNOWN);
  o->samples =
      lp_grow(o->samples, &o->nsamples, (size_t)node + 1, sizeof(uint64_t));
  o->samples[node] += count;
  return node;
}

void lp_origins_parts(LpOrigins *o)
{
  o->part = lp_grow(o->part, &o->nparts, o->cells, sizeof(o->part[0]));
}

void lp_origins_extra(LpOrigins *o)
{
  o->extra = lp_grow(o->extra, &o->nextra, o->cells, sizeof(LpExtra));
}

void lp_origins_bytes(LpOrigins *o, uint32_t origin, int bytes,
                      const LpWeight *v)
{
  LpExtra *x;
  if (origin >= o->nextra)
    lp_origins_extra(o);
  x = &o->extra[origin];
  bytes -= LP_NCELL;
  lp_parts_add(&x->n[bytes], &x->part[bytes], v->bytes, v->bytespart);
}

void lp_origins_beside(LpOrigins *o, uint32_t origin, int count, int bytes,
                       const LpWeight *v)
{
  LpExtra *x;
  lp_origins_bytes(o, origin, bytes, v);
  x = &o->extra[origin];
  count -= LP_NCELL;
  lp_parts_add(&x->n[count], &x->part[count], v->n, v->npart);
}

LpFigures lp_origins_figures(const LpOrigins *o, uint32_t origin)
{
  LpFigures f;
  memset(&f, 0, sizeof(f));
  memcpy(f.n, o->cell[origin].n, sizeof(o->cell[origin].n));
  if (origin < o->nparts)
    memcpy(f.part, o->part[origin], sizeof(o->part[origin]));
  if (origin < o->nextra) {
    const LpExtra *e = &o->extra[origin];
    memcpy(f.n + LP_NCELL, e->n, sizeof(e->n));
    memcpy(f.part + LP_NCELL, e->part, sizeof(e->part));
  }
  return f;
}

LpWeight lp_origins_live(const LpOrigins *o, uint32_t origin)
{
  static const uint64_t none[LP_NCELL];
  const uint64_t *n = o->cell[origin].n;
  const uint64_t *part = origin < o->nparts ? o->part[origin] : none;
  LpWeight w = {n[LP_ALLOCS], part[LP_ALLOCS], n[LP_ALLOC_BYTES],
                part[LP_ALLOC_BYTES]};
  lp_parts_add(&w.n, &w.npart, n[LP_REALLOCS], part[LP_REALLOCS]);
  lp_parts_sub(&w.n, &w.npart, n[LP_FREES], part[LP_FREES]);
  lp_parts_sub(&w.n, &w.npart, n[LP_MOVES], part[LP_MOVES]);
  lp_parts_add(&w.bytes, &w.bytespart, n[LP_REALLOC_BYTES],
               part[LP_REALLOC_BYTES]);
  lp_parts_sub(&w.bytes, &w.bytespart, n[LP_LEFT_BYTES], part[LP_LEFT_BYTES]);
  return w;
}

void lp_origins_open(LpOrigins *o)
{
  memset(o, 0, sizeof(*o));
  origins_node(o, LP_NODE_ROOT, LP_SITE_UNKNOWN);
  lp_origins_node(o, LP_NODE_ROOT, LP_SITE_CUT);
  origins_bare(o, lp_origins_what(LP_SITE_BEFORE, LJM_TYPE_UNKNOWN));
  origins_bare(o, lp_origins_what(LP_SITE_LOST, LJM_TYPE_UNKNOWN));
}

void lp_origins_close(LpOrigins *o)
{
  lp_idmap_free(&o->edges);
  lp_idmap_free(&o->ids);
  free(o->node);
  free(o->bare);
  free(o->cell);
  free(o->callers);
  free(o->part);
  free(o->extra);
  free(o->samples);
}

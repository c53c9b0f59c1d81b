/*
** Call tree and origins of objects, with the counters of each.
*/

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "origin.h"

#define ORIGIN_NEAR 4 /* No list is longer. */

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
  uint32_t *end, near = 0, id = LP_NONE;
  o->first = lp_grow(o->first, &o->nfirst, (size_t)node + 1, sizeof(uint32_t));
  end = &o->first[node];
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
  lp_calls_open(&o->calls, LP_SITE_UNKNOWN);
  lp_origins_node(o, LP_NODE_ROOT, LP_SITE_CUT);
  origins_bare(o, lp_origins_what(LP_SITE_BEFORE, LJM_TYPE_UNKNOWN));
  origins_bare(o, lp_origins_what(LP_SITE_LOST, LJM_TYPE_UNKNOWN));
}

void lp_origins_close(LpOrigins *o)
{
  lp_calls_close(&o->calls);
  lp_idmap_free(&o->ids);
  free(o->first);
  free(o->bare);
  free(o->cell);
  free(o->callers);
  free(o->part);
  free(o->extra);
}

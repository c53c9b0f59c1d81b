/*
** Sets of few numbers.
*/

#include <string.h>

#include "mem.h"
#include "sets.h"

#define SETS_MOST (1u << 18) /* Different ones; further ones are "many". */

void lp_sets_open(LpSets *s)
{
  *s = (LpSets){0};
  lp_intern(&s->sets, "", 0);
  lp_intern(&s->sets, "m", 1); /* No set has this length. */
}

void lp_sets_close(LpSets *s)
{
  lp_intern_free(&s->sets);
  lp_idmap_free(&s->unions);
}

size_t lp_sets_get(const LpSets *s, uint32_t set, uint32_t n[LP_SET_MOST])
{
  size_t bytes;
  const void *p = lp_intern_get(&s->sets, set, &bytes);
  if (set == LP_SET_MANY)
    return 0;
  memcpy(n, p, bytes);
  return bytes / sizeof(*n);
}

/* The number of a set of N numbers in order. */
static uint32_t sets_add(LpSets *s, const uint32_t *id, size_t n)
{
  if (n > LP_SET_MOST || s->sets.n >= SETS_MOST)
    return LP_SET_MANY;
  return lp_intern(&s->sets, id, n * sizeof(*id));
}

uint32_t lp_sets_one(LpSets *s, uint32_t n)
{
  return sets_add(s, &n, 1);
}

/* Merges two sets. */
static uint32_t sets_merge(LpSets *s, uint32_t a, uint32_t b)
{
  uint32_t x[LP_SET_MOST], y[LP_SET_MOST], both[2 * LP_SET_MOST];
  size_t nx = lp_sets_get(s, a, x), ny = lp_sets_get(s, b, y);
  size_t i = 0, k = 0, n = 0;
  while (i < nx || k < ny) {
    if (k == ny || (i < nx && x[i] < y[k])) {
      both[n++] = x[i++];
    } else {
      i += i < nx && x[i] == y[k];
      both[n++] = y[k++];
    }
  }
  return sets_add(s, both, n);
}

uint32_t lp_sets_union(LpSets *s, uint32_t a, uint32_t b)
{
  uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
  uint32_t set;
  if (a == b || b == LP_SET_EMPTY)
    return a;
  if (a == LP_SET_EMPTY)
    return b;
  if (a == LP_SET_MANY || b == LP_SET_MANY)
    return LP_SET_MANY;
  set = lp_idmap_get(&s->unions, key);
  if (set == LP_NONE) {
    set = sets_merge(s, a, b);
    lp_idmap_put(&s->unions, key, set);
  }
  return set;
}

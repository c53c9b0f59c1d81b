/*
** Interned byte strings: equal strings have the same number.
*/

#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "mem.h"

uint64_t lp_hash_bytes(const void *s, size_t n)
{
  const char *p = s;
  uint64_t h = lp_hash(n + 1), v;
  for (; n > 8; n -= 8, p += 8) {
    memcpy(&v, p, 8);
    h = lp_hash(h ^ h >> 32 ^ v);
  }
  v = 0;
  if (n)
    memcpy(&v, p, n);
  h = lp_hash(h ^ h >> 32 ^ v);
  return lp_hash(h ^ h >> 32);
}

const void *lp_intern_get(const LpIntern *t, uint32_t id, size_t *n)
{
  *n = t->at[id + 1] - t->at[id];
  return t->bytes + t->at[id];
}

/* What is looked up, and where. */
typedef struct Lookup {
  const LpIntern *t;
  const void *s;
  size_t n;
} Lookup;

/* Is it the string with this number? */
static int intern_same(const void *of, uint32_t id)
{
  const Lookup *l = of;
  size_t n;
  const void *have = lp_intern_get(l->t, id, &n);
  return n == l->n && (n == 0 || memcmp(have, l->s, n) == 0);
}

/* Append N bytes as a new number. */
static uint32_t intern_append(LpIntern *t, const void *s, size_t n)
{
  size_t end = t->n ? t->at[t->n] : 0;
  t->at = lp_grow(t->at, &t->nat, (size_t)t->n + 2, sizeof(size_t));
  t->bytes = lp_grow(t->bytes, &t->nbytes, end + n + 1, 1);
  if (n)
    memcpy(t->bytes + end, s, n);
  t->at[t->n] = end;
  t->at[t->n + 1] = end + n;
  return t->n++;
}

uint32_t lp_intern(LpIntern *t, const void *s, size_t n)
{
  uint64_t hash = lp_hash_bytes(s, n);
  Lookup l = {t, s, n};
  LpIdSlot *slot;
  lp_idmap_room(&t->ids);
  slot = lp_idmap_slot(&t->ids, hash, intern_same, &l);
  if (slot->value)
    return slot->value - 1;
  *slot = (LpIdSlot){.key = hash, .value = t->n + 1};
  t->ids.n++;
  return intern_append(t, s, n);
}

uint32_t lp_intern_find(const LpIntern *t, const void *s, size_t n)
{
  Lookup l = {t, s, n};
  if (!t->n)
    return LP_NONE;
  return lp_idmap_slot(&t->ids, lp_hash_bytes(s, n), intern_same, &l)->value -
         1;
}

void lp_intern_free(LpIntern *t)
{
  lp_idmap_free(&t->ids);
  free(t->at);
  free(t->bytes);
  memset(t, 0, sizeof(*t));
}

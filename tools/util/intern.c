/*
** Interned byte strings: equal strings have the same number.
*/

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "intern.h"
#include "mem.h"

uint64_t lp_hash_secret = 0x9e3779b97f4a7c15u;

/* The hash of N bytes. */
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

/* The bytes of a number. */
const void *lp_intern_get(const LpIntern *t, uint32_t id, size_t *n)
{
  *n = t->at[id + 1] - t->at[id];
  return t->bytes + t->at[id];
}

/* Put every number into a table twice as large. */
static void intern_rehash(LpIntern *t)
{
  uint32_t id;
  free(t->slot);
  t->nslot = t->nslot ? t->nslot * 2 : 64;
  t->slot = lp_zalloc(t->nslot, sizeof(uint32_t));
  for (id = 0; id < t->n; id++) {
    size_t n, i;
    const void *s = lp_intern_get(t, id, &n);
    i = lp_hash_slot(lp_hash_bytes(s, n), t->nslot);
    while (t->slot[i])
      i = i + 1 < t->nslot ? i + 1 : 0;
    t->slot[i] = id + 1;
  }
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

/* The number of N bytes, a new one (== n before the call) if they are new. */
uint32_t lp_intern(LpIntern *t, const void *s, size_t n)
{
  size_t i, m;
  if ((size_t)t->n * 2 >= t->nslot)
    intern_rehash(t);
  i = lp_hash_slot(lp_hash_bytes(s, n), t->nslot);
  for (; t->slot[i]; i = i + 1 < t->nslot ? i + 1 : 0) {
    const void *have = lp_intern_get(t, t->slot[i] - 1, &m);
    if (m == n && (n == 0 || memcmp(have, s, n) == 0))
      return t->slot[i] - 1;
  }
  t->slot[i] = t->n + 1;
  return intern_append(t, s, n);
}

/* Give the memory back. */
void lp_intern_free(LpIntern *t)
{
  free(t->slot);
  free(t->at);
  free(t->bytes);
  memset(t, 0, sizeof(*t));
}

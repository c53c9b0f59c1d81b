/*
** The hash table. Linear probing in an index that is at most half full; half of
** each hash is kept there, so that neither probing nor growing looks at entries
** and callers compare hardly any that differ.
*/

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "hash.h"

#define HASH_ODD    0x9e3779b97f4a7c15u
#define TABLE_LEAST 64 /* Slots. */

static uint64_t hash_mix(uint64_t h, uint64_t v)
{
  unsigned __int128 m = (unsigned __int128)(h ^ v) * (h >> 7 | HASH_ODD);
  return (uint64_t)m ^ (uint64_t)(m >> 64) ^ v * HASH_ODD;
}

static uint64_t hash_secret(void)
{
  static uint64_t secret;
  const void *random = secret ? NULL : (const void *)getauxval(AT_RANDOM);
  if (random)
    memcpy(&secret, random, sizeof(secret));
  return secret;
}

uint64_t ls_hash_bytes(uint64_t h, const void *p, size_t n)
{
  const uint8_t *key = p;
  uint64_t secret = hash_secret(), v;
  h = hash_mix(h ^ secret, n);
  for (; n > 8; n -= 8, key += 8) {
    memcpy(&v, key, 8);
    h = hash_mix(h, v);
  }
  v = 0;
  if (n)
    memcpy(&v, key, n);
  return hash_mix(hash_mix(h, v), secret);
}

uint32_t ls_hash_next(const LsHash *t, uint64_t hash, uint32_t *at)
{
  uint32_t half = (uint32_t)(hash >> 32);
  uint64_t slot;
  if (!t->size)
    return 0;
  while ((slot = t->slot[(half + *at) & (t->size - 1)]) != 0) {
    ++*at;
    if (slot >> 32 == half)
      return (uint32_t)slot;
  }
  return 0;
}

/* Index an entry by its slot's value. */
static void table_index(LsHash *t, uint64_t slot)
{
  uint32_t at = (uint32_t)(slot >> 32) & (t->size - 1);
  while (t->slot[at])
    at = (at + 1) & (t->size - 1);
  t->slot[at] = slot;
}

/* Twice the room. Returns -1 without memory. */
static int table_grow(LsHash *t, size_t size)
{
  LsHash big = {.n = t->n, .size = t->size ? t->size * 2 : TABLE_LEAST};
  uint32_t i;
  if (big.size == 0)
    return -1;
  big.entry = realloc(t->entry, big.size / 2 * size);
  if (!big.entry)
    return -1;
  t->entry = big.entry;
  big.slot = calloc(big.size, sizeof(*big.slot));
  if (!big.slot)
    return -1;
  for (i = 0; i < t->size; i++)
    if (t->slot[i])
      table_index(&big, t->slot[i]);
  free(t->slot);
  t->slot = big.slot;
  t->size = big.size;
  return 0;
}

void *ls_hash_add(LsHash *t, uint64_t hash, size_t size)
{
  if (t->n == t->size / 2 && table_grow(t, size))
    return NULL;
  table_index(t, hash >> 32 << 32 | ++t->n);
  return memset((char *)t->entry + (t->n - 1) * size, 0, size);
}

void *ls_hash_find(const LsHash *t, const void *key, size_t n, size_t size)
{
  uint64_t hash = ls_hash_bytes(0, key, n);
  uint32_t at = 0, id;
  while ((id = ls_hash_next(t, hash, &at)) != 0) {
    char *entry = (char *)t->entry + (id - 1) * size;
    if (memcmp(entry, key, n) == 0)
      return entry;
  }
  return NULL;
}

void *ls_hash_put(LsHash *t, const void *key, size_t n, size_t size)
{
  void *entry = ls_hash_add(t, ls_hash_bytes(0, key, n), size);
  return entry ? memcpy(entry, key, n) : NULL;
}

void ls_hash_clear(LsHash *t)
{
  if (t->size)
    memset(t->slot, 0, t->size * sizeof(*t->slot));
  t->n = 0;
}

void ls_hash_free(LsHash *t)
{
  free(t->entry);
  free(t->slot);
  *t = (LsHash){0};
}

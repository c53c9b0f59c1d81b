/*
** Definitions as small numbers: the same bytes always get the same number.
**
** A hash table with whole keys, since different keys must never share a number.
** Names of functions come from the process that is sampled, so the hash has a
** secret.
*/

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "stream_ids.h"

#define IDS_ODD 0x9e3779b97f4a7c15u

void ls_ids_open(LsIds *ids)
{
  const void *random = (const void *)getauxval(AT_RANDOM);
  memset(ids, 0, sizeof(*ids));
  if (random)
    memcpy(&ids->secret, random, sizeof(ids->secret));
}

void ls_ids_close(LsIds *ids)
{
  size_t i;
  for (i = 0; i < ids->size; i++)
    free(ids->entry[i].key);
  free(ids->entry);
}

/* Eight bytes into a hash. */
static uint64_t ids_mix(uint64_t h, uint64_t v)
{
  unsigned __int128 m = (unsigned __int128)(h ^ v) * (h >> 7 | IDS_ODD);
  return (uint64_t)m ^ (uint64_t)(m >> 64) ^ v * IDS_ODD;
}

/* The hash of a key. */
static uint64_t ids_hash(const LsIds *ids, const uint8_t *key, size_t n)
{
  uint64_t h = ids_mix(ids->secret, n), v;
  for (; n > 8; n -= 8, key += 8) {
    memcpy(&v, key, 8);
    h = ids_mix(h, v);
  }
  v = 0;
  memcpy(&v, key, n);
  return ids_mix(ids_mix(h, v), ids->secret);
}

/* The place of a key, or the free place where it belongs. */
static LsIdEntry *ids_place(const LsIds *ids, uint64_t hash, const void *key,
                            size_t n)
{
  size_t i = hash & (ids->size - 1);
  for (;; i = (i + 1) & (ids->size - 1)) {
    LsIdEntry *e = &ids->entry[i];
    if (!e->key ||
        (e->hash == hash && e->n == n && memcmp(e->key, key, n) == 0))
      return e;
  }
}

/* Twice the room. Returns 0 without memory. */
static int ids_grow(LsIds *ids)
{
  LsIds old = *ids;
  size_t i;
  ids->size = old.size ? old.size * 2 : 256;
  ids->entry = calloc(ids->size, sizeof(LsIdEntry));
  if (!ids->entry) {
    *ids = old;
    return 0;
  }
  for (i = 0; i < old.size; i++)
    if (old.entry[i].key)
      *ids_place(ids, old.entry[i].hash, old.entry[i].key, old.entry[i].n) =
          old.entry[i];
  free(old.entry);
  return 1;
}

uint32_t ls_ids_get(LsIds *ids, const void *key, size_t n, uint32_t fresh)
{
  uint64_t hash = ids_hash(ids, key, n);
  LsIdEntry *e;
  if (ids->n * 2 >= ids->size && !ids_grow(ids))
    return 0;
  e = ids_place(ids, hash, key, n);
  if (e->key)
    return e->id;
  e->key = malloc(n);
  if (!e->key)
    return 0;
  memcpy(e->key, key, n);
  e->hash = hash;
  e->n = n;
  e->id = fresh;
  ids->n++;
  return fresh;
}

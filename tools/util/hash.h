/*
** One hash for all tables: a multiplication by a secret odd number, whose high
** bits are used. For any keys that do not know the secret it spreads well, so
** a hostile stream cannot make a table slow.
*/

#ifndef LP_HASH_H
#define LP_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Odd. The same for the whole run: main() draws it, tests keep it. */
extern uint64_t lp_hash_secret;

/* A hash whose high bits count. */
static inline uint64_t lp_hash(uint64_t key)
{
  return key * lp_hash_secret;
}

/* The same, for many keys in step, which a single multiplication may leave in
** step.
*/
static inline uint64_t lp_hash_well(uint64_t key)
{
  uint64_t h = lp_hash(key);
  return lp_hash(h ^ h >> 32);
}

/* Where a hash falls among SIZE slots, for any SIZE. */
static inline size_t lp_hash_slot(uint64_t hash, size_t size)
{
  return (size_t)(((unsigned __int128)hash * size) >> 64);
}

/* A hash of N bytes whose high bits count. */
uint64_t lp_hash_bytes(const void *s, size_t n);

#endif

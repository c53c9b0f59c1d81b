/*
** The hash table of this program: entries of one size in an array, in the order
** in which they were added, and an index to them by open addressing. An entry
** has a number, from 1 on, and keeps it; its address changes as others are
** added. A table of zeros is empty.
*/

#ifndef LS_HASH_H
#define LS_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct LsHash {
  void *entry;    /* Number ID is at ID - 1. */
  uint64_t *slot; /* Half a hash, and a number behind; 0: free. */
  uint32_t n;     /* Entries. */
  uint32_t size;  /* Slots: a power of two, at least twice the entries; or 0. */
} LsHash;

/* Add N bytes at P to the hash H. What is hashed comes from the processes that
** are sampled, so the hash has a secret.
*/
uint64_t ls_hash_bytes(uint64_t h, const void *p, size_t n);

/* The number of the next entry whose hash may be HASH, or 0. The caller
** compares the keys; *AT is 0 at the first call.
*/
uint32_t ls_hash_next(const LsHash *t, uint64_t hash, uint32_t *at);

/* Add an entry of SIZE bytes, all zero, with number t->n. NULL without memory.
** It belongs to T, and is valid until another one is added.
*/
void *ls_hash_add(LsHash *t, uint64_t hash, size_t size);

/* The entry of SIZE bytes that begins with the N bytes at KEY, or NULL. The
** table's other entries were made by ls_hash_put(), too. Valid as above.
*/
void *ls_hash_find(const LsHash *t, const void *key, size_t n, size_t size);

/* Add an entry of SIZE bytes that begins with the N bytes at KEY, which no
** other does; the rest is zero. NULL without memory. Valid as above.
*/
void *ls_hash_put(LsHash *t, const void *key, size_t n, size_t size);

/* Forget all entries but keep the memory: as many can be added without more,
** and until then the old ones are in t->entry.
*/
void ls_hash_clear(LsHash *t);

/* Free the memory of *T, but not T. */
void ls_hash_free(LsHash *t);

#endif

/*
** Definitions as small numbers: the same bytes always get the same number.
*/

#ifndef LS_STREAM_IDS_H
#define LS_STREAM_IDS_H

#include <stddef.h>
#include <stdint.h>

typedef struct LsIdEntry {
  uint8_t *key; /* NULL is a free place. */
  uint64_t hash;
  size_t n;    /* Bytes of the key. */
  uint32_t id; /* Its number. */
} LsIdEntry;

typedef struct LsIds {
  LsIdEntry *entry;
  size_t size; /* Places: a power of two, or none. */
  size_t n;    /* Of them taken. */
  uint64_t secret;
} LsIds;

/* Initialize an empty table. */
void ls_ids_open(LsIds *ids);

/* Free the memory of *IDS, but not IDS. */
void ls_ids_close(LsIds *ids);

/* The number of a key of N bytes, at least one. A new key is copied and gets
** the number FRESH, which is not 0. Returns 0 without memory.
*/
uint32_t ls_ids_get(LsIds *ids, const void *key, size_t n, uint32_t fresh);

#endif

/*
** Interned strings: equal ones are kept once, all until the pool is freed.
*/

#ifndef LS_STRPOOL_H
#define LS_STRPOOL_H

#include "hash.h"

typedef struct LsPool {
  LsHash strings;
} LsPool;

/* The kept copy of N bytes, with a NUL behind. NULL without memory. It belongs
** to the pool.
*/
const char *ls_pool_add(LsPool *p, const char *s, size_t n);

/* The number of a string of N bytes. A new one is copied and gets the number
** FRESH, which is not 0. Returns 0 without memory. A pool has either strings
** with numbers or such without.
*/
uint32_t ls_pool_id(LsPool *p, const void *s, size_t n, uint32_t fresh);

/* Free all strings, but not P. */
void ls_pool_free(LsPool *p);

#endif

/*
** Interned strings: equal ones are kept once, all until the pool is freed.
*/

#ifndef LS_STRPOOL_H
#define LS_STRPOOL_H

#include <stddef.h>
#include <stdint.h>

typedef struct LsPool {
  char **at;      /* Hash table; each string has its length in front. */
  size_t n, size; /* Strings; slots, a power of two. */
} LsPool;

/* The kept copy of N bytes, with a NUL behind. NULL without memory. It belongs
** to the pool.
*/
const char *ls_pool_add(LsPool *p, const char *s, size_t n);

/* Free all strings, but not P. */
void ls_pool_free(LsPool *p);

#endif

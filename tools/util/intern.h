/*
** Interned byte strings: equal strings have the same number.
** Names, functions and sites are all interned here, by their packed keys.
*/

#ifndef LP_INTERN_H
#define LP_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "idmap.h"

typedef struct LpIntern {
  LpIdMap ids; /* Their numbers, by hash. */
  size_t *at;  /* Where each begins in bytes; one more than there are. */
  size_t nat;  /* Room in at. */
  char *bytes; /* All of them, one behind the other. */
  size_t nbytes;
  uint32_t n; /* How many there are: they are numbered 0 to n-1. */
} LpIntern;

/* The number of a string of N bytes. A new string is copied, and its number is
** t->n before the call.
*/
uint32_t lp_intern(LpIntern *t, const void *s, size_t n);

/* The number of a string, or LP_NONE if it was not added. */
uint32_t lp_intern_find(const LpIntern *t, const void *s, size_t n);

/* The string with this number, *N bytes long. Valid until the next string is
** added.
*/
const void *lp_intern_get(const LpIntern *t, uint32_t id, size_t *n);

/* Free the memory. */
void lp_intern_free(LpIntern *t);

#endif

/*
** Interned strings.
*/

#include <stdlib.h>
#include <string.h>

#include "ljs.h"
#include "strpool.h"

#define LENGTH sizeof(size_t) /* In front of each string. */

static uint64_t pool_hash(const char *s, size_t n)
{
  uint64_t h = n, v;
  for (; n >= 8; n -= 8, s += 8) {
    memcpy(&v, s, 8);
    h = ljs_mix(h, v);
  }
  v = 0;
  if (n)
    memcpy(&v, s, n);
  return ljs_mix(ljs_mix(h, v), 0);
}

static size_t pool_len(const char *kept)
{
  size_t n;
  memcpy(&n, kept - LENGTH, LENGTH);
  return n;
}

/* The slot of a string, or the free one where it belongs. */
static char **pool_slot(const LsPool *p, const char *s, size_t n)
{
  size_t i = pool_hash(s, n) >> 20 & (p->size - 1);
  for (; p->at[i]; i = (i + 1) & (p->size - 1))
    if (pool_len(p->at[i]) == n && memcmp(p->at[i], s, n) == 0)
      break;
  return &p->at[i];
}

/* Twice the slots. Returns 0 without memory. */
static int pool_grow(LsPool *p)
{
  LsPool q = {.n = p->n, .size = p->size ? p->size * 2 : 256};
  size_t i;
  q.at = calloc(q.size, sizeof(*q.at));
  if (!q.at)
    return 0;
  for (i = 0; i < p->size; i++)
    if (p->at[i])
      *pool_slot(&q, p->at[i], pool_len(p->at[i])) = p->at[i];
  free(p->at);
  *p = q;
  return 1;
}

const char *ls_pool_add(LsPool *p, const char *s, size_t n)
{
  char **slot, *kept;
  if (p->n * 2 >= p->size && !pool_grow(p))
    return NULL;
  slot = pool_slot(p, s, n);
  if (*slot)
    return *slot;
  kept = malloc(LENGTH + n + 1);
  if (!kept)
    return NULL;
  memcpy(kept, &n, LENGTH);
  if (n)
    memcpy(kept + LENGTH, s, n);
  kept[LENGTH + n] = '\0';
  p->n++;
  return *slot = kept + LENGTH;
}

void ls_pool_free(LsPool *p)
{
  size_t i;
  for (i = 0; i < p->size; i++)
    if (p->at[i])
      free(p->at[i] - LENGTH);
  free(p->at);
  *p = (LsPool){0};
}

/*
** Interned strings.
*/

#include <stdlib.h>
#include <string.h>

#include "strpool.h"

typedef struct Interned {
  char *text;
  size_t n;    /* Bytes. */
  uint32_t id; /* 0: it has none. */
} Interned;

/* The entry of a string. NULL without memory. */
static Interned *pool_entry(LsPool *p, const void *s, size_t n, uint32_t fresh)
{
  uint64_t hash = ls_hash_bytes(0, s, n);
  uint32_t at = 0, id;
  Interned *e;
  char *text;
  while ((id = ls_hash_next(&p->strings, hash, &at)) != 0) {
    e = (Interned *)p->strings.entry + (id - 1);
    if (e->n == n && (n == 0 || memcmp(e->text, s, n) == 0))
      return e;
  }
  text = malloc(n + 1);
  e = text ? ls_hash_add(&p->strings, hash, sizeof(*e)) : NULL;
  if (!e) {
    free(text);
    return NULL;
  }
  if (n)
    memcpy(text, s, n);
  text[n] = '\0';
  *e = (Interned){text, n, fresh};
  return e;
}

const char *ls_pool_add(LsPool *p, const char *s, size_t n)
{
  const Interned *e = pool_entry(p, s, n, 0);
  return e ? e->text : NULL;
}

uint32_t ls_pool_id(LsPool *p, const void *s, size_t n, uint32_t fresh)
{
  const Interned *e = pool_entry(p, s, n, fresh);
  return e ? e->id : 0;
}

void ls_pool_free(LsPool *p)
{
  Interned *e = p->strings.entry;
  uint32_t i;
  for (i = 0; i < p->strings.n; i++)
    free(e[i].text);
  ls_hash_free(&p->strings);
}

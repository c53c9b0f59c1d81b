/*
** Sites, each with a number. A Lua function may get its name later than its
** first sample: its name is no part of what it is.
*/

#include <stdlib.h>
#include <string.h>

#include "sitetable.h"
#include "strpool.h"

struct LsSiteTable {
  LsHash sites;
  LsPool pool; /* Their strings. */
};

LsSiteTable *ls_sitetable_open(void)
{
  return calloc(1, sizeof(LsSiteTable));
}

void ls_sitetable_close(LsSiteTable *t)
{
  if (!t)
    return;
  ls_hash_free(&t->sites);
  ls_pool_free(&t->pool);
  free(t);
}

static size_t length(const char *s)
{
  return s ? strlen(s) : 0;
}

static uint64_t hash_site(const LsSite *s)
{
  const uint64_t v[] = {s->kind,  s->flags, s->first,  s->line,
                        s->lines, s->hash,  s->module, s->addr};
  uint64_t h =
      ls_hash_bytes(ls_hash_bytes(0, v, sizeof(v)), s->chunk, s->chunklen);
  return s->kind == LS_LUA ? h : ls_hash_bytes(h, s->name, length(s->name));
}

static int is_equal(const LsSite *a, const LsSite *b)
{
  return a->kind == b->kind && a->flags == b->flags && a->first == b->first &&
         a->line == b->line && a->lines == b->lines && a->hash == b->hash &&
         a->module == b->module && a->addr == b->addr &&
         a->chunklen == b->chunklen &&
         (!a->chunklen || memcmp(a->chunk, b->chunk, a->chunklen) == 0) &&
         (a->kind == LS_LUA ||
          strcmp(a->name ? a->name : "", b->name ? b->name : "") == 0);
}

static const char *keep(LsSiteTable *t, const char *s)
{
  return ls_pool_add(&t->pool, s, length(s));
}

uint32_t ls_sitetable_add(LsSiteTable *t, const LsSite *s)
{
  uint64_t hash = hash_site(s);
  uint32_t at = 0, id;
  LsSite copy = *s, *known;
  while ((id = ls_hash_next(&t->sites, hash, &at)) != 0) {
    known = (LsSite *)t->sites.entry + (id - 1);
    if (!is_equal(known, s))
      continue;
    if (!*known->name && length(s->name) && (copy.name = keep(t, s->name)))
      known->name = copy.name;
    return id;
  }
  copy.chunk = ls_pool_add(&t->pool, s->chunk, s->chunklen);
  copy.name = keep(t, s->name);
  copy.symbol = keep(t, s->symbol);
  if (!copy.chunk || !copy.name || !copy.symbol ||
      !(known = ls_hash_add(&t->sites, hash, sizeof(*known))))
    return 0;
  *known = copy;
  return t->sites.n;
}

const LsSite *ls_sitetable_get(const LsSiteTable *t, uint32_t id)
{
  return id && id <= t->sites.n ? (const LsSite *)t->sites.entry + (id - 1)
                                : NULL;
}

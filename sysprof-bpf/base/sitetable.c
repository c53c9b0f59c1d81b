/*
** Sites, each with a number. Open addressing over 64 bit hashes; collisions are
** looked at in full. A Lua function may get its name later than its first
** sample: its name is no part of what it is.
*/

#include <stdlib.h>
#include <string.h>

#include "ljs.h"
#include "sitetable.h"

struct LsSiteTable {
  LsSite *site;   /* Number ID is at ID - 1. */
  uint64_t *hash; /* Likewise. */
  uint32_t n, room;
  uint32_t *slot; /* Numbers, 0: free. */
  uint32_t mask;
};

LsSiteTable *ls_sitetable_open(void)
{
  return calloc(1, sizeof(LsSiteTable));
}

void ls_sitetable_close(LsSiteTable *t)
{
  uint32_t i;
  if (!t)
    return;
  for (i = 0; i < t->n; i++) {
    free((char *)t->site[i].chunk);
    free((char *)t->site[i].name);
    free((char *)t->site[i].symbol);
  }
  free(t->site);
  free(t->hash);
  free(t->slot);
  free(t);
}

static uint64_t hash_bytes(uint64_t h, const char *s, size_t n)
{
  while (n--)
    h = ljs_mix(h, (uint8_t)*s++);
  return h;
}

static size_t length(const char *s)
{
  return s ? strlen(s) : 0;
}

static uint64_t hash_site(const LsSite *s)
{
  uint64_t h = ljs_mix(s->kind, s->flags);
  h = ljs_mix(ljs_mix(h, s->first), s->line);
  h = ljs_mix(ljs_mix(h, s->lines), s->hash);
  h = ljs_mix(ljs_mix(h, s->module), s->addr);
  h = hash_bytes(h, s->chunk, s->chunklen);
  return s->kind == LS_LUA ? h : hash_bytes(h, s->name, length(s->name));
}

static int same(const LsSite *a, const LsSite *b)
{
  return a->kind == b->kind && a->flags == b->flags && a->first == b->first &&
         a->line == b->line && a->lines == b->lines && a->hash == b->hash &&
         a->module == b->module && a->addr == b->addr &&
         a->chunklen == b->chunklen &&
         (!a->chunklen || memcmp(a->chunk, b->chunk, a->chunklen) == 0) &&
         (a->kind == LS_LUA ||
          strcmp(a->name ? a->name : "", b->name ? b->name : "") == 0);
}

static char *copy(const char *s, size_t n)
{
  char *c = malloc(n + 1);
  if (!c)
    return NULL;
  if (n)
    memcpy(c, s, n);
  c[n] = '\0';
  return c;
}

/* A name that has not been known before. */
static void rename_site(LsSite *known, const LsSite *s)
{
  char *name;
  if (!*known->name && length(s->name) &&
      (name = copy(s->name, length(s->name))) != NULL) {
    free((char *)known->name);
    known->name = name;
  }
}

static int grow_slots(LsSiteTable *t)
{
  uint32_t mask = t->mask ? t->mask * 2 + 1 : 1023, i;
  uint32_t *slot = calloc((size_t)mask + 1, sizeof(*slot));
  if (!slot)
    return -1;
  for (i = 0; i < t->n; i++) {
    uint32_t at = (uint32_t)t->hash[i] & mask;
    while (slot[at])
      at = (at + 1) & mask;
    slot[at] = i + 1;
  }
  free(t->slot);
  t->slot = slot;
  t->mask = mask;
  return 0;
}

static int grow_sites(LsSiteTable *t)
{
  uint32_t room = t->room ? t->room * 2 : 256;
  LsSite *site = realloc(t->site, room * sizeof(*site));
  uint64_t *hash;
  if (!site)
    return -1;
  t->site = site;
  hash = realloc(t->hash, room * sizeof(*hash));
  if (!hash)
    return -1;
  t->hash = hash;
  t->room = room;
  return 0;
}

uint32_t ls_sitetable_add(LsSiteTable *t, const LsSite *s)
{
  uint64_t h = hash_site(s);
  uint32_t at;
  LsSite *c;
  if (t->n * 2 >= t->mask && grow_slots(t))
    return 0;
  for (at = (uint32_t)h & t->mask; t->slot[at]; at = (at + 1) & t->mask) {
    uint32_t id = t->slot[at];
    if (t->hash[id - 1] == h && same(&t->site[id - 1], s)) {
      rename_site(&t->site[id - 1], s);
      return id;
    }
  }
  if (t->n == t->room && grow_sites(t))
    return 0;
  c = &t->site[t->n];
  *c = *s;
  c->chunk = copy(s->chunk, s->chunklen);
  c->name = copy(s->name, length(s->name));
  c->symbol = copy(s->symbol, length(s->symbol));
  if (!c->chunk || !c->name || !c->symbol) {
    free((char *)c->chunk);
    free((char *)c->name);
    free((char *)c->symbol);
    return 0;
  }
  t->hash[t->n++] = h;
  t->slot[at] = t->n;
  return t->n;
}

const LsSite *ls_sitetable_get(const LsSiteTable *t, uint32_t id)
{
  return id && id <= t->n ? &t->site[id - 1] : NULL;
}

/*
** Stacks with names, by the key that they are counted under.
**
** The BPF program sends a stack when it begins to count it, once in each turn;
** so one that was not sent in this turn or the last is counted in neither
** table, and can be dropped.
*/

#include <stdlib.h>
#include <string.h>

#include "stacks.h"

static size_t slot_of(const LsNamedStack *v, size_t mask,
                      const struct ljs_key *key)
{
  size_t at = ljs_mix(key->key, (uint64_t)key->pid << 32 | key->tid) & mask;
  while (v[at].site && memcmp(&v[at].key, key, sizeof(*key)) != 0)
    at = (at + 1) & mask;
  return at;
}

LsNamedStack *ls_stacks_find(const LsStacks *t, const struct ljs_key *key)
{
  LsNamedStack *s = t->v ? &t->v[slot_of(t->v, t->mask, key)] : NULL;
  return s && s->site ? s : NULL;
}

static int grow(LsStacks *t)
{
  size_t mask = t->v ? t->mask * 2 + 1 : 255, i;
  LsNamedStack *v = calloc(mask + 1, sizeof(*v));
  if (!v)
    return -1;
  for (i = 0; t->v && i <= t->mask; i++)
    if (t->v[i].site)
      v[slot_of(v, mask, &t->v[i].key)] = t->v[i];
  free(t->v);
  t->v = v;
  t->mask = mask;
  return 0;
}

int ls_stacks_add(LsStacks *t, const struct ljs_key *key, uint32_t cut,
                  const uint32_t *site, size_t n)
{
  LsNamedStack *s;
  uint32_t *copy;
  if (t->n * 4 >= t->mask * 3 && grow(t))
    return -1;
  copy = malloc((n ? n : 1) * sizeof(*copy));
  if (!copy)
    return -1;
  if (n)
    memcpy(copy, site, n * sizeof(*copy));
  s = &t->v[slot_of(t->v, t->mask, key)];
  *s = (LsNamedStack){*key, cut, (uint32_t)n, t->turn, copy};
  t->n++;
  t->sites += n;
  return 0;
}

int ls_stacks_seen(LsStacks *t, const struct ljs_key *key)
{
  LsNamedStack *s = ls_stacks_find(t, key);
  if (s)
    s->turn = t->turn;
  return s != NULL;
}

void ls_stacks_turn(LsStacks *t, size_t limit)
{
  LsNamedStack *old = t->v;
  size_t i, mask = t->mask;
  t->turn++;
  if (t->sites <= limit)
    return;
  t->v = calloc(mask + 1, sizeof(*old));
  if (!t->v) {
    t->v = old;
    return;
  }
  t->n = t->sites = 0;
  for (i = 0; i <= mask; i++) {
    if (old[i].site && t->turn - old[i].turn > 1) {
      free(old[i].site);
    } else if (old[i].site) {
      t->v[slot_of(t->v, mask, &old[i].key)] = old[i];
      t->n++;
      t->sites += old[i].n;
    }
  }
  free(old);
}

void ls_stacks_clear(LsStacks *t)
{
  size_t i;
  for (i = 0; t->v && i <= t->mask; i++)
    free(t->v[i].site);
  free(t->v);
  memset(t, 0, sizeof(*t));
}

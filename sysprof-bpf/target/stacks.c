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

LsNamedStack *ls_stacks_find(const LsStacks *t, const struct ljs_key *key)
{
  return ls_hash_find(&t->table, key, sizeof(*key), sizeof(LsNamedStack));
}

int ls_stacks_add(LsStacks *t, const struct ljs_key *key, uint32_t cut,
                  const uint32_t *site, size_t n)
{
  LsNamedStack *s;
  uint32_t *copy = malloc((n ? n : 1) * sizeof(*copy));
  s = copy ? ls_hash_put(&t->table, key, sizeof(*key), sizeof(*s)) : NULL;
  if (!s) {
    free(copy);
    return -1;
  }
  if (n)
    memcpy(copy, site, n * sizeof(*copy));
  *s = (LsNamedStack){*key, cut, (uint32_t)n, t->turn, copy};
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
  LsNamedStack *s = t->table.entry;
  uint32_t i, n = t->table.n;
  t->turn++;
  if (t->sites <= limit)
    return;
  ls_hash_clear(&t->table);
  t->sites = 0;
  for (i = 0; i < n; i++) { /* In place: none is put behind where it was. */
    LsNamedStack old = s[i];
    if (t->turn - old.turn > 1) {
      free(old.site);
      continue;
    }
    ls_hash_put(&t->table, &old.key, sizeof(old.key), sizeof(old));
    s[t->table.n - 1] = old;
    t->sites += old.n;
  }
}

void ls_stacks_clear(LsStacks *t)
{
  LsNamedStack *s = t->table.entry;
  uint32_t i;
  for (i = 0; i < t->table.n; i++)
    free(s[i].site);
  ls_hash_free(&t->table);
  *t = (LsStacks){0};
}

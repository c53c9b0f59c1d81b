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
  *s = (LsNamedStack){*key, cut, (uint32_t)n, t->turn, copy, ""};
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

/* -- Names of threads ------------------------------------------------------ */

#define NAMES_MAX 8192 /* More are kept only while they are in use. */

typedef struct ThreadName {
  uint32_t id[2]; /* Of its process, and its own. */
  uint32_t turn;  /* When a stack of it was last sent. */
  char name[LJS_NAME];
} ThreadName;

static ThreadName *find_name(const LsStacks *t, const struct ljs_key *key)
{
  uint32_t id[2] = {key->pid, key->tid};
  return ls_hash_find(&t->names, id, sizeof(id), sizeof(ThreadName));
}

void ls_stacks_name(LsStacks *t, const struct ljs_key *key, const char *name)
{
  uint32_t id[2] = {key->pid, key->tid};
  ThreadName *th = find_name(t, key);
  if (!th)
    th = ls_hash_put(&t->names, id, sizeof(id), sizeof(*th));
  if (!th)
    return;
  th->turn = t->turn;
  memcpy(th->name, name, LJS_NAME - 1);
}

const char *ls_stacks_thread(const LsStacks *t, const struct ljs_key *key)
{
  const ThreadName *th = find_name(t, key);
  return th ? th->name : "";
}

/* Drops the names of threads that were not sampled for two turns. */
static void drop_names(LsStacks *t)
{
  ThreadName *th = t->names.entry;
  uint32_t i, n = t->names.n;
  if (n <= NAMES_MAX)
    return;
  ls_hash_clear(&t->names);
  for (i = 0; i < n; i++) { /* In place, as below. */
    ThreadName old = th[i];
    if (t->turn - old.turn > 1)
      continue;
    ls_hash_put(&t->names, old.id, sizeof(old.id), sizeof(old));
    th[t->names.n - 1] = old;
  }
}

/* -- Turns ----------------------------------------------------------------- */

void ls_stacks_turn(LsStacks *t, size_t limit)
{
  LsNamedStack *s = t->table.entry;
  uint32_t i, n = t->table.n;
  t->turn++;
  drop_names(t);
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
  ls_hash_free(&t->names);
  *t = (LsStacks){0};
}

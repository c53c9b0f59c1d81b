/*
** Stacks with names, by the key that they are counted under.
*/

#ifndef LS_STACKS_H
#define LS_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "ljs.h"
#include "hash.h"

/* A stack as numbers of sites: see sitetable.h. */
typedef struct LsNamedStack {
  struct ljs_key key;
  uint32_t cut;  /* LJS_CUT_*. */
  uint32_t n;    /* Sites, the outermost first. */
  uint32_t turn; /* When it was last sent. */
  uint32_t *site;
  const char *thread; /* Its thread's name, or ""; valid while it is put out. */
} LsNamedStack;

typedef struct LsStacks {
  LsHash table; /* Of LsNamedStack. */
  size_t sites; /* Of all of them: their memory. */
  LsHash names; /* Of the threads that were sampled lately. */
  uint32_t turn;
} LsStacks;

/* The stack that is counted under KEY, or NULL. It belongs to T, and is valid
** until T changes.
*/
LsNamedStack *ls_stacks_find(const LsStacks *t, const struct ljs_key *key);
/* Add a stack that is not in T: N sites, outermost first, which are copied.
** CUT is LJS_CUT_*. Returns 0, or -1 without memory.
*/
int ls_stacks_add(LsStacks *t, const struct ljs_key *key, uint32_t cut,
                  const uint32_t *site, size_t n);
/* Note that the stack of KEY was sent in this turn. Returns 0 if it is not in
** T, else 1.
*/
int ls_stacks_seen(LsStacks *t, const struct ljs_key *key);
/* Note the name of the thread of KEY, of LJS_NAME bytes; a later one replaces
** it. Without memory it has none.
*/
void ls_stacks_name(LsStacks *t, const struct ljs_key *key, const char *name);
/* The last name of that thread, or "". It belongs to T, and is valid until T
** changes.
*/
const char *ls_stacks_thread(const LsStacks *t, const struct ljs_key *key);
/* Begin a new turn. With more than LIMIT sites in memory, drop all stacks that
** are counted in neither table.
*/
void ls_stacks_turn(LsStacks *t, size_t limit);
/* Free the memory of *T, but not T. */
void ls_stacks_clear(LsStacks *t);

#endif

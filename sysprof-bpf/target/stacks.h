/*
** Stacks by the key that they are counted under.
*/

#ifndef LS_STACKS_H
#define LS_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "ljs.h"

/* A stack with names. */
typedef struct LsNamed {
  struct ljs_key key;
  uint32_t cut;  /* LJS_CUT_*. */
  uint32_t n;    /* Sites, the outermost first. */
  uint32_t turn; /* When it was last sent. */
  uint32_t *site;
} LsNamed;

typedef struct LsStacks {
  LsNamed *v; /* Open addressing; site == NULL: free. */
  size_t n, mask;
  size_t sites; /* Of all of them: their memory. */
  uint32_t turn;
} LsStacks;

LsNamed *ls_stacks_find(const LsStacks *t, const struct ljs_key *key);
int ls_stacks_add(LsStacks *t, const struct ljs_key *key, uint32_t cut,
                  const uint32_t *site, size_t n);
int ls_stacks_seen(LsStacks *t, const struct ljs_key *key);
void ls_stacks_turn(LsStacks *t, size_t limit);
void ls_stacks_clear(LsStacks *t);

#endif

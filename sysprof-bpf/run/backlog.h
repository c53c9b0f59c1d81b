/*
** Stacks that were taken out of the ring buffer while there was no time for
** them.
*/

#ifndef LS_BACKLOG_H
#define LS_BACKLOG_H

#include <stddef.h>

#include "ljs.h"

#define LS_BACKLOG_MAX (32u << 20) /* Bytes of all. */

typedef struct LsBacklog {
  struct LsLate *first, *last;
  size_t bytes;
} LsBacklog;

/* Is there no room for more? Then they should stay in the ring buffer. */
int ls_backlog_full(const LsBacklog *b);

/* Add a copy of *ST. Returns -1 without memory. */
int ls_backlog_add(LsBacklog *b, const struct ljs_stack *st);

/* Move the oldest one to *TO. Returns 0 if there is none. */
int ls_backlog_take(LsBacklog *b, struct ljs_stack *to);

#endif

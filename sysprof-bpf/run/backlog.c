/*
** Stacks that wait.
*/

#include <stdlib.h>
#include <string.h>

#include "backlog.h"

typedef struct LsLate {
  struct LsLate *next;
  size_t n; /* Bytes of the stack. */
  char stack[];
} LsLate;

int ls_backlog_full(const LsBacklog *b)
{
  return b->bytes + sizeof(struct ljs_stack) > LS_BACKLOG_MAX;
}

int ls_backlog_add(LsBacklog *b, const struct ljs_stack *st)
{
  size_t n = offsetof(struct ljs_stack, frame) +
             st->nframes * sizeof(struct ljs_frame);
  LsLate *late = malloc(sizeof(*late) + n);
  if (!late)
    return -1;
  late->next = NULL;
  late->n = n;
  memcpy(late->stack, st, n);
  if (b->last)
    b->last->next = late;
  else
    b->first = late;
  b->last = late;
  b->bytes += n;
  return 0;
}

int ls_backlog_take(LsBacklog *b, struct ljs_stack *to)
{
  LsLate *late = b->first;
  if (!late)
    return 0;
  b->first = late->next;
  if (!b->first)
    b->last = NULL;
  b->bytes -= late->n;
  memcpy(to, late->stack, late->n);
  free(late);
  return 1;
}

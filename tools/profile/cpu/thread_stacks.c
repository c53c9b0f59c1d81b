/*
** Samples by stack and thread.
*/

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "thread_stacks.h"

void lp_thread_stacks_add(LpThreadStacks *s, uint32_t stack, uint32_t thread,
                          uint64_t samples)
{
  uint64_t key = (uint64_t)stack << 32 | thread;
  uint32_t id = lp_idmap_add(&s->ids, key, s->n);
  if (id == s->n) {
    s->n++;
    s->list = lp_grow(s->list, &s->room, s->n, sizeof(*s->list));
    s->list[id] = (LpThreadStack){stack, thread, 0};
  }
  s->list[id].samples += samples;
}

void lp_thread_stacks_free(LpThreadStacks *s)
{
  lp_idmap_free(&s->ids);
  free(s->list);
  memset(s, 0, sizeof(*s));
}

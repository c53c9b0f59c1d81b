/*
** The samples of a call tree by thread and part.
*/

#include <stdlib.h>
#include <string.h>

#include "labelled.h"
#include "mem.h"

/* By node, part, thread. */
static int labelled_order(const void *a, const void *b)
{
  const LpLabelled *x = a, *y = b;
  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  if (x->part != y->part)
    return x->part < y->part ? -1 : 1;
  return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Make one of equal entries, which are side by side. Returns how many
** remain.
*/
static size_t labelled_merge(LpLabelled *list, size_t n)
{
  size_t i, k = 0;
  for (i = 0; i < n; i++) {
    if (k && labelled_order(&list[k - 1], &list[i]) == 0)
      list[k - 1].samples += list[i].samples;
    else
      list[k++] = list[i];
  }
  return k;
}

LpLabelled *lp_labelled(const LpTree *t, const LpProfile *prof,
                        const LpShape *shape, size_t *n)
{
  const LpThreadStacks *s = &prof->cpu.stacks;
  LpLabelled *list = lp_alloc((s->n + (size_t)1) * sizeof(*list));
  uint32_t i;
  *n = 0;
  for (i = 0; i < s->n; i++) {
    const LpThreadStack *of = &s->list[i];
    if (lp_shape_stack(shape, of->stack))
      list[(*n)++] = (LpLabelled){t->place[of->stack],
                                  t->part ? t->part[of->stack] : LP_NMETRIC,
                                  of->thread, of->samples};
  }
  qsort(list, *n, sizeof(*list), labelled_order);
  *n = labelled_merge(list, *n);
  return list;
}

void lp_labelled_memory(LpBuf *b, const LpProfile *prof, LpPickKey key)
{
  LpBuf other = {0};
  uint32_t i;
  for (i = 0; i < prof->nmemory; i++) {
    other.n = 0;
    lp_pick_process_value(i ? &other : b, &prof->cpu, prof->memory[i].process,
                          key);
    if (i && (other.n != b->n || (b->n && memcmp(other.s, b->s, b->n) != 0))) {
      b->n = 0;
      break;
    }
  }
  lp_buf_free(&other);
}

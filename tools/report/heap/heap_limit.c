/*
** Limits of --limit for what objects of a heap dump keep:
** retained@_G.cache<=10MB.
*/

#include <inttypes.h>
#include <string.h>

#include "find.h"
#include "heap_join.h"
#include "heap_limit.h"
#include "printable.h"

/* Append who made most of what an object keeps, if that is known. */
static void limit_made(LpBuf *why, const LpSubject *subject, uint32_t id)
{
  const LpJoin *j = subject->join;
  const LpKeeper *k = j ? &j->keeper[j->of[id]] : NULL;
  if (!k || k->id != id || !k->nmade)
    return;
  lp_buf_puts(why, ", most of it made at ");
  lp_join_site(why, subject->prof, j->made[k->made].site);
}

/* Append a text that may come from anywhere. */
static void limit_text(LpBuf *why, const char *text)
{
  lp_printable(why, (LpStr){text, strlen(text)});
}

int lp_heap_limit_holds(const LpLimit *l, const LpSubject *subject, LpBuf *why)
{
  const LpHeap *h = subject->heap;
  LpFound sum = {.most = LP_NONE, .retained = lp_heap_reached(h)};
  if (!lp_heap_keeps(h)) {
    lp_buf_puts(why, "limit ");
    limit_text(why, l->text);
    lp_buf_puts(why, " cannot be checked: ");
    lp_heap_doubt(why, h);
    return 0;
  }
  if (l->glob)
    sum = lp_heap_find(h, l->glob);
  if (l->glob && !sum.objects) {
    lp_buf_puts(why, "limit ");
    limit_text(why, l->text);
    lp_buf_puts(why, " is of nothing: no object is at ");
    limit_text(why, l->glob);
    return l->n == 0 && !l->below;
  }
  if (lp_limit_kept(l, sum.retained))
    return 1;
  lp_buf_puts(why, "limit ");
  limit_text(why, l->text);
  lp_buf_printf(why, " exceeded: %" PRIu64 " bytes, %" PRIu64 " too many",
                sum.retained, sum.retained - l->n + (l->below != 0));
  if (sum.most != LP_NONE) {
    lp_buf_puts(why, ": ");
    lp_heap_place(why, h, sum.most);
    lp_buf_printf(why, " keeps %" PRIu64, sum.bytes);
    limit_made(why, subject, sum.most);
  }
  return 0;
}

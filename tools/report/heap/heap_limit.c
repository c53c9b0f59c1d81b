/*
** Limits of --limit for what objects of a heap dump keep:
** retained@_G.cache<=10MB.
*/

#include <inttypes.h>
#include <string.h>

#include "find.h"
#include "heap_join.h"
#include "heap_limit.h"
#include "heap_suspects.h"
#include "printable.h"

/* Append who made most of what an object keeps, or of a group if that is not
** NULL, if that is known: in a comparison it is only known of what is new.
*/
static void limit_made(LpBuf *why, const LpSubject *subject, uint32_t id,
                       const LpShared *g)
{
  const LpJoin *j = subject->join;
  const LpKeeper *k =
      j && !j->fresh ? &j->keeper[j->of[g ? g->id[0] : id]] : NULL;
  if (!k || (g ? k->shared != g : k->id != id) || !k->nmade)
    return;
  lp_buf_puts(why, ", most of it made at ");
  lp_join_site(why, subject->prof, j->made[k->made].site);
}

/* Append a text that may come from anywhere. */
static void limit_text(LpBuf *why, const char *text)
{
  lp_printable(why, (LpStr){text, strlen(text)});
}

/* Begin the message about a limit. */
static void limit_begin(LpBuf *why, const LpLimit *l)
{
  lp_buf_puts(why, "limit ");
  limit_text(why, l->text);
}

/* Say what the objects keep together with others, mostly. */
static void limit_group(LpBuf *why, const LpSubject *subject, const LpShared *g)
{
  const LpHeap *h = subject->heap;
  LpSuspect s = lp_suspect_shared(h, g);
  lp_buf_printf(why, ": %" PRIu64 " are kept by ", g->bytes);
  lp_heap_together(why, h, g);
  lp_heap_things(why, h, &s);
  limit_made(why, subject, LP_NONE, g);
}

/* Say what is wrong: how much it is, and what keeps most. */
static void limit_exceeded(LpBuf *why, const LpLimit *l,
                           const LpSubject *subject, const LpFound *sum,
                           uint64_t bytes)
{
  limit_begin(why, l);
  lp_buf_printf(why, " exceeded: %" PRIu64 " bytes, %" PRIu64 " too many",
                bytes, bytes - l->n + (l->below != 0));
  if (l->keeps == LP_LIMIT_SHARED && sum->group) {
    limit_group(why, subject, sum->group);
  } else if (sum->most != LP_NONE) {
    lp_buf_puts(why, ": ");
    lp_heap_place(why, subject->heap, sum->most);
    lp_buf_printf(why, " keeps %" PRIu64, sum->bytes);
    limit_made(why, subject, sum->most, NULL);
  }
}

/* A limit that is kept only since others keep the same: say so. */
static void limit_remark(LpBuf *why, const LpLimit *l, const LpSubject *subject,
                         const LpFound *sum)
{
  if (l->keeps != LP_LIMIT_RETAINED || sum->shared / 2 <= sum->retained)
    return;
  limit_begin(why, l);
  lp_buf_puts(why, " is kept, but together with others ");
  limit_text(why, l->glob);
  lp_buf_printf(why, " keeps %" PRIu64 " bytes, see shared@", sum->shared);
  limit_text(why, l->glob);
  limit_group(why, subject, sum->group);
}

int lp_heap_limit_holds(const LpLimit *l, const LpSubject *subject, LpBuf *why)
{
  const LpHeap *h = subject->heap;
  LpFound sum = {.most = LP_NONE, .retained = lp_heap_reached(h)};
  uint64_t bytes;
  if (!lp_heap_keeps(h)) {
    limit_begin(why, l);
    lp_buf_puts(why, " cannot be checked: ");
    lp_heap_doubt(why, h);
    return 0;
  }
  if (l->glob)
    sum = lp_heap_find(h, l->glob);
  if (l->glob && !sum.objects) {
    limit_begin(why, l);
    lp_buf_puts(why, " is of nothing: no object is at ");
    limit_text(why, l->glob);
    return l->n == 0 && !l->below;
  }
  bytes = l->keeps == LP_LIMIT_SHARED ? sum.shared : sum.retained;
  if (!lp_limit_kept(l, bytes)) {
    limit_exceeded(why, l, subject, &sum, bytes);
    return 0;
  }
  limit_remark(why, l, subject, &sum);
  return 1;
}

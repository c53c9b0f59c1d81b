/*
** Limits of --limit for what grows between the two newest dumps of a ladder:
** growth@_G.cache<=1MB.
*/

#include <inttypes.h>
#include <string.h>

#include "heap_limit.h"
#include "printable.h"

/* Begin the message about a limit. */
static void limit_begin(LpBuf *why, const LpLimit *limit)
{
  lp_buf_puts(why, "limit ");
  lp_printable(why, (LpStr){limit->text, strlen(limit->text)});
}

/* Append what was kept in a dump. */
static void limit_kept(LpBuf *why, const LpRung *rung, uint64_t bytes)
{
  lp_buf_printf(why, "%" PRIu64 " in ", bytes);
  lp_printable(why, (LpStr){rung->file, strlen(rung->file)});
}

/* A limit that is kept only since others keep the same: say so. */
static void limit_remark(LpBuf *why, const LpLimit *limit, const LpWatch *w,
                         uint64_t grown)
{
  uint64_t all = w->shared[0] > w->shared[1] ? w->shared[0] - w->shared[1] : 0;
  if (all / 2 <= grown || lp_limit_kept(limit, all))
    return;
  limit_begin(why, limit);
  lp_buf_puts(why, " is kept, but together with others ");
  lp_printable(why, (LpStr){w->path, strlen(w->path)});
  lp_buf_printf(why, " grew by %" PRIu64 " bytes, see --view=shared", all);
}

int lp_growth_limit_holds(const LpLimit *limit, const LpLadder *l, LpBuf *why)
{
  const LpRung *last = &l->rung[l->n - 1], *before = last - 1;
  uint64_t now = last->reached, was = before->reached, grown;
  const LpWatch *watched = NULL;
  size_t i;
  if (!l->keeps) {
    limit_begin(why, limit);
    lp_buf_puts(why, " cannot be checked: a dump is not whole");
    return 0;
  }
  for (i = 0; limit->glob && i < l->nwatch; i++) {
    const LpWatch *w = &l->watch[i];
    if (strcmp(w->path, limit->glob) != 0)
      continue;
    watched = w;
    now = w->bytes[0];
    was = w->bytes[1];
    if (w->objects)
      continue;
    limit_begin(why, limit);
    lp_buf_puts(why, " is of nothing: no object is there in ");
    lp_printable(why, (LpStr){last->file, strlen(last->file)});
    return limit->n == 0 && !limit->below;
  }
  grown = now > was ? now - was : 0;
  if (lp_limit_kept(limit, grown)) {
    if (watched)
      limit_remark(why, limit, watched, grown);
    return 1;
  }
  limit_begin(why, limit);
  lp_buf_printf(why,
                " exceeded: %" PRIu64 " bytes, %" PRIu64 " too many: ", grown,
                grown - limit->n + (limit->below != 0));
  limit_kept(why, before, was);
  lp_buf_puts(why, ", ");
  limit_kept(why, last, now);
  return 0;
}

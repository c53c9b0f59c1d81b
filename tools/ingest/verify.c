/*
** Damage of a stream, and the checks of what its recorder counted.
*/

#include <inttypes.h>

#include "verify.h"
#include "leb.h"

void lp_stream_damage(void *ctx, const LpDamage *d)
{
  LpStream *st = ctx;
  if (!st->ndamage++)
    st->damage = *d;
  st->lost += d->events;
  lp_files_damage(&st->prof->files, d);
  if (st->body == 'p')
    st->prof->cpu.lost = lp_sat_add(st->prof->cpu.lost, d->events);
  else if (d->events)
    lp_profile_guess(st->prof, "events were lost");
}

/* Report that the recorder counted THEIRS where OURS was read. */
static void verify_differ(LpStream *st, const LpTotals *t, const char *of,
                          uint64_t theirs, uint64_t ours)
{
  if (theirs != ours)
    lp_stream_odd(st, t->offset,
                  "the recorder counted %" PRIu64 " %s, but %" PRIu64
                  " were read",
                  theirs, of, ours);
}

/* Compare the VM's own count at the end with what its events make of the one at
** the start. Old recorders did not know which events the VM did not count.
*/
static void verify_count(LpStream *st, const LpTotals *t)
{
  uint64_t in = st->sums.in - st->foreign.in;
  uint64_t out = st->sums.out - st->foreign.out;
  uint64_t more = st->base + in - out - t->live;
  if (!more)
    return;
  lp_profile_guess(st->prof, "the VM did not count all memory");
  lp_stream_odd(st, t->offset,
                "the VM counts %" PRIu64
                " live bytes at the end, the events sum up to %" PRIu64 " %s%s",
                t->live, (int64_t)more < 0 ? -more : more,
                (int64_t)more < 0 ? "fewer" : "more",
                t->hasforeign ? ""
                              : ": a C module may have used lua_getallocf()");
}

/* The number of events in sums. */
static uint64_t verify_events(const LpSums *s)
{
  return s->allocs + s->reallocs + s->frees;
}

/* The recorder counts the events of one segment. Adds those of the others. */
static LpSums verify_add(const LpSums *a, const LpSums *b)
{
  return (LpSums){a->allocs + b->allocs, a->reallocs + b->reallocs,
                  a->frees + b->frees, a->in + b->in, a->out + b->out};
}

/* Compare the events outside of its count. */
static void verify_foreign(LpStream *st, const LpTotals *t)
{
  const LpSums all = verify_add(&t->foreign, &st->passed_foreign);
  const LpSums *theirs = &all, *ours = &st->foreign;
  verify_differ(st, t, "events outside of the VM's count",
                verify_events(theirs), verify_events(ours));
  verify_differ(st, t, "bytes in outside of the VM's count", theirs->in,
                ours->in);
  verify_differ(st, t, "bytes out outside of the VM's count", theirs->out,
                ours->out);
}

/* Compare the recorder's totals with what was read. With a gap only the number
** of events can be right.
*/
void lp_verify_totals(LpStream *st, const LpTotals *t)
{
  const uint64_t harmless =
      LJM_TOTALS_SAMPLED | LJM_TOTALS_SEGMENT | LJM_TOTALS_DROPPED;
  const LpSums all = verify_add(&t->sums, &st->passed);
  const LpSums *theirs = &all, *ours = &st->sums;
  st->blind |= (t->flags & ~harmless) || t->lost;
  if (t->lost)
    lp_profile_guess(st->prof, "the recorder could not see all events");
  st->dropped_blocks = lp_sat_add(st->dropped_blocks, t->dropped_blocks);
  st->dropped_events = lp_sat_add(st->dropped_events, t->dropped_events);
  if (t->flags & LJM_TOTALS_SWAPPED)
    lp_profile_guess(st->prof, "the allocator was replaced");
  if ((t->flags & LJM_TOTALS_SAMPLED) && !st->sample)
    lp_profile_guess(st->prof, "samples, of which the distance was lost");
  verify_differ(st, t, "events", verify_events(theirs),
                verify_events(ours) + st->lost);
  if (st->ndamage)
    return;
  verify_differ(st, t, "allocations", theirs->allocs, ours->allocs);
  verify_differ(st, t, "reallocations", theirs->reallocs, ours->reallocs);
  verify_differ(st, t, "bytes in", theirs->in, ours->in);
  verify_differ(st, t, "bytes out", theirs->out, ours->out);
  if (!st->blind && !(t->flags & LJM_TOTALS_SAMPLED) && st->hasbase)
    verify_count(st, t);
  if (t->hasforeign)
    verify_foreign(st, t);
}

/* Compare the statistics with the samples read, and with each other. With a
** gap, what was read has to be less.
*/
void lp_verify_statistics(LpStream *st, uint64_t offset)
{
  const unsigned delivered = 1u << LP_STAT_DELIVERED;
  const unsigned all = delivered | 1u << LP_STAT_FIRED | 1u << LP_STAT_DROPPED;
  const uint64_t *s = st->stat, theirs = s[LP_STAT_DELIVERED];
  if ((st->has_stat & delivered) &&
      (st->ndamage ? theirs < st->delivered : theirs != st->delivered))
    lp_stream_odd(st, offset,
                  "the statistics count %" PRIu64 " samples, %" PRIu64
                  " were read",
                  theirs, st->delivered);
  else if ((st->has_stat & all) == all &&
           s[LP_STAT_FIRED] - theirs != s[LP_STAT_DROPPED])
    lp_stream_odd(st, offset,
                  "the statistics count %" PRIu64 " samples fired, %" PRIu64
                  " delivered, %" PRIu64 " dropped",
                  s[LP_STAT_FIRED], theirs, s[LP_STAT_DROPPED]);
}

/* Contradictions that are certain only when all is read. After a gap, or where
** the recorder itself could not see everything, they are none.
*/
void lp_verify_end(LpStream *st, uint64_t offset)
{
  if (st->lost || st->blind)
    return;
  if (st->twice) {
    lp_profile_guess(st->prof, "allocations where an object lives");
    lp_stream_odd(st, offset,
                  "%" PRIu64 " allocations came where an object still lives",
                  st->twice);
  } else if (st->sample && st->strays && !st->window) {
    lp_stream_odd(st, offset,
                  "%" PRIu64 " objects went away that were no samples",
                  st->strays);
  } else if (!st->sample && st->hasbase && st->before > st->base) {
    lp_profile_guess(st->prof, "more was freed than there was");
    lp_stream_odd(st, offset,
                  "%" PRIu64 " bytes live at the start, but %" PRIu64
                  " of them were freed",
                  st->base, st->before);
  }
}

/*
** What became of all samples.
*/

#include "books.h"
#include "cut.h"
#include "say.h"

static double percent(uint64_t part, uint64_t whole)
{
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

uint64_t ls_books_dropped(const LsBooks *b)
{
  return b->dropped_ring + b->dropped_full + b->dropped_busy + b->lost;
}

/* Samples that were dropped, or do not reach the root; in percent. */
double ls_books_missed(const LsBooks *b)
{
  return percent(b->fired - b->complete, b->fired);
}

/* The books as a stream has them. Answers how many numbers there are. */
size_t ls_books_list(const LsBooks *b, LsBook out[LS_BOOKS_MAX])
{
  size_t n = 0, i;
  out[n++] = (LsBook){"fired", b->fired};
  out[n++] = (LsBook){"delivered", b->delivered};
  out[n++] = (LsBook){"dropped", ls_books_dropped(b)};
  out[n++] = (LsBook){"dropped_ring", b->dropped_ring};
  out[n++] = (LsBook){"dropped_full", b->dropped_full};
  out[n++] = (LsBook){"dropped_busy", b->dropped_busy};
  out[n++] = (LsBook){"dropped_lost", b->lost};
  out[n++] = (LsBook){ls_cut_key(LJS_CUT_NOT), b->complete};
  for (i = LJS_CUT_NOT + 1; i < LJS_CUT_REASONS; i++)
    out[n++] = (LsBook){ls_cut_key(i), b->cut[i]};
  out[n++] = (LsBook){"cpu_ns", b->cpu_ns};
  out[n++] = (LsBook){"cpu_fired", b->cpu_fired};
  out[n++] = (LsBook){"ns", b->ns};
  out[n++] = (LsBook){"woken", b->woken};
  return n;
}

/* How many of the samples that HZ owes for the CPU time were fired. */
static double coverage(const LsBooks *b, double hz)
{
  return 100.0 * (double)b->cpu_fired / ((double)b->cpu_ns / 1e9 * hz);
}

/* Tells them to people. HZ is 0 if CPU time is no measure. */
void ls_books_say(const LsBooks *b, double hz)
{
  unsigned long long dropped = ls_books_dropped(b);
  unsigned i;
  ls_say("%llu samples in %.1f s: %llu delivered, %llu dropped",
         (unsigned long long)b->fired, (double)b->ns / 1e9,
         (unsigned long long)b->delivered, dropped);
  if (b->delivered + dropped != b->fired)
    ls_say("the books do not close: please report this");
  if (dropped)
    ls_say("dropped: %llu no room for a stack, %llu no room to count, "
           "%llu interrupted, %llu stacks lost",
           (unsigned long long)b->dropped_ring,
           (unsigned long long)b->dropped_full,
           (unsigned long long)b->dropped_busy, (unsigned long long)b->lost);
  if (!b->fired) {
    ls_say("no samples: no CPU time was used");
    return;
  }
  if (b->cpu_ns && hz > 0)
    ls_say("%.1f%% complete to the root; coverage %.1f%% of %.2f s of CPU time",
           percent(b->complete, b->delivered), coverage(b, hz),
           (double)b->cpu_ns / 1e9);
  else
    ls_say("%.1f%% complete to the root", percent(b->complete, b->delivered));
  for (i = LJS_CUT_NOT + 1; i < LJS_CUT_REASONS; i++)
    if (b->cut[i])
      ls_say("cut: %llu (%.1f%%): %s", (unsigned long long)b->cut[i],
             percent(b->cut[i], b->delivered), ls_cut_name(i));
}

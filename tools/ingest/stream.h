/*
** A stream that is being counted into a profile: its state, for all files of
** ingest/.
*/

#ifndef LP_STREAM_H
#define LP_STREAM_H

#include "live.h"
#include "profile.h"

/* Statistics of a CPU profile that are checked. */
enum {
  LP_STAT_FIRED,
  LP_STAT_DELIVERED,
  LP_STAT_DROPPED,
  LP_STAT_CPU_NS,
  LP_NSTAT
};

typedef struct LpStream {
  LpProfile *prof;
  int body; /* m: of memory; p: of the CPU; 0: not known. */
  LpLive live;
  LpSums sums;     /* Of all events. */
  uint64_t before; /* Bytes of objects older than the recording, gone by now: */
  uint64_t elder;  /* in the VM's count, and outside of it. */
  uint64_t strays; /* How many. */
  LpSums foreign;  /* Of all events, those outside of the VM's count. */
  uint64_t twice;  /* Allocations where an object lives. */
  uint64_t base;   /* Bytes live at the start, */
  int hasbase;     /* if known. */
  LpSums outside;  /* Of all events, those outside of what is wanted; */
  uint64_t early;  /* what came before, less what went. */
  uint64_t sample; /* Bytes between two samples; 0: all are recorded. */
  LpScale *scale;  /* What samples stand for. */
  struct LpDetail *detail; /* Detailed counters, or NULL. */
  int blind;               /* The recorder itself could not see everything. */
  uint64_t added;          /* To LpProfile.base, */
  int nobefore;            /* and .nobefore, by this stream. */
  /* Of CPU profiles. */
  uint64_t samples;   /* Records of samples, */
  uint64_t delivered; /* of so many samples, */
  uint64_t hz;        /* so many a second of CPU time, */
  uint64_t period;    /* or nanoseconds between two. */
  unsigned has_stat;  /* Bits of LP_STAT_* that were read: */
  uint64_t stat[LP_NSTAT];
  /* Of all. */
  uint64_t ns; /* The last time mark, */
  uint64_t at; /* and where its 0 is on the profile's time line. */
  int placed;
  LpClock clock;
  uint64_t marks; /* of so many. */
  uint64_t ndamage;
  uint64_t lost;   /* Events that are known to be lost. */
  LpDamage damage; /* The first one. */
} LpStream;

/* Bytes live at the start of the wanted time, in *BASE. Returns BASE, or NULL
** if they are unknown. At least what was freed of them, even if the recorder's
** number is lower.
*/
static inline const uint64_t *lp_stream_base(const LpStream *st, uint64_t *base)
{
  *base =
      (st->base > st->before ? st->base : st->before) + st->elder + st->early;
  return st->hasbase && !st->sample ? base : NULL;
}

/* Is what was recorded since the last time mark in the wanted time? Events
** happened after that mark, samples were taken before the next one.
*/
static inline int lp_stream_wanted(const LpStream *st)
{
  const LpWanted *wanted = &st->prof->wanted;
  if (st->body == 'p')
    return (!wanted->from || st->ns > wanted->from) && st->ns <= wanted->to;
  return st->ns >= wanted->from &&
         (st->ns < wanted->to || wanted->to == UINT64_MAX);
}

/* What an object of SIZE bytes stands for, into W: to copy it costs more. */
static inline void lp_stream_weigh(LpStream *st, uint64_t size, LpWeight *w)
{
  if (st->scale) {
    *w = lp_weigh(st->scale, size);
    return;
  }
  w->n = 1;
  w->bytes = size;
  w->npart = w->bytespart = 0;
}

#endif

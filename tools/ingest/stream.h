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
  LpSums foreign;  /* Of these, the events outside of the VM's count. */
  LpSums outside;  /* Of all, the events outside of what is wanted. */
  uint64_t before; /* Freed bytes of objects older than the recording: */
  uint64_t elder;  /* in the VM's count, and outside of it. */
  uint64_t strays; /* Number of these objects. */
  uint64_t twice;  /* Allocations at an address where an object lives. */
  uint64_t base;   /* Bytes live at the start, */
  int hasbase;     /* if known. */
  uint64_t early; /* Bytes that came before the wanted time, less those gone. */
  uint64_t sample;         /* Bytes between two samples; 0: all are recorded. */
  LpScale *scale;          /* What samples stand for. */
  struct LpDetail *detail; /* Detailed counters, or NULL. */
  int blind;               /* The recorder itself could not see everything. */
  uint64_t added;          /* What this stream added to LpProfile.base, */
  int nobefore;            /* and to LpProfile.nobefore. */
  /* Of CPU profiles. */
  uint64_t samples;   /* Records of samples. */
  uint64_t delivered; /* Samples in these records. */
  uint64_t hz;        /* Samples a second of CPU time, */
  uint64_t period;    /* or nanoseconds between two. */
  unsigned has_stat;  /* Bits of LP_STAT_* that were read: */
  uint64_t stat[LP_NSTAT];
  int other; /* A memory profile of a process that is not wanted. */
  /* Of all. */
  uint64_t ns;         /* Time of the last time mark, in nanoseconds. */
  uint64_t marks;      /* Time marks read. */
  uint64_t at;         /* Where ns = 0 is on the profile's time line, */
  int placed;          /* if known. */
  LpProcessInfo owner; /* Of memory: its process, as far as it is known; */
  uint32_t process;    /* the same in LpCpu.processes; */
  uint32_t own;        /* 1 + its number in LpProfile.memory, or 0. */
  uint64_t memory;     /* 1 once it is counted in LpFiles. */
  uint64_t flat;       /* 1 if it was recorded without callers. */
  LpClock clock;
  /* Of segments of one recording, that are read one after another. */
  int window;            /* The first one read is not the recording's first. */
  int goeson;            /* The last one read is followed by another one. */
  int continued;         /* The current one is not the first one read. */
  uint64_t late;         /* Nanoseconds from the first one's start to its. */
  LpSums passed;         /* All events in those before it; */
  LpSums passed_foreign; /* of these, outside of the VM's count. */
  /* Damage. */
  uint64_t ndamage;        /* Places of damage. */
  LpDamage damage;         /* The first one. */
  uint64_t lost;           /* Events that are known to be lost. */
  uint64_t dropped_blocks; /* Blocks that the recorder dropped, by TOTALS, */
  uint64_t dropped_events; /* and the events in them. */
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
  if (st->other)
    return 0;
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

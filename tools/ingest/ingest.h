/*
** Ingest: counts one stream into a profile. A sink for the reader, the live
** objects, and the checks of the recorder's totals.
*/

#ifndef LP_INGEST_H
#define LP_INGEST_H

#include "live.h"
#include "profile.h"
#include "detail.h"
#include "weight.h"

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
  uint64_t allocs, reallocs, frees; /* Events. */
  uint64_t in, out;                 /* Sums of new and of old sizes. */
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
  LpDetail *detail; /* Detailed ingest, or NULL. */
  int begun;        /* It is known whether that is wanted. */
  int blind;        /* The recorder itself could not see everything. */
  uint64_t added;   /* To LpProfile.base, */
  int nobefore;     /* and .nobefore, by this stream. */
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

/* How much of a stream could be read; also the exit status for it. */
typedef enum LpStatus {
  LP_WHOLE,
  LP_PART,
  LP_UNREADABLE,
  LP_EXCEEDED /* All is well but that a limit was exceeded. */
} LpStatus;

/* Initialize ST, which adds a stream to PROF. Returns the sink for the reader;
** its context is ST.
*/
LpSink lp_stream_open(LpStream *st, LpProfile *prof);

/* Bring the profile up to date with what was read so far. It can be reported,
** and reading can go on.
*/
void lp_stream_finalize(LpStream *st);

/* The stream ends at OFFSET: check it, finalize the profile and free the
** memory. Status and counters of ST stay valid.
*/
void lp_stream_close(LpStream *st, uint64_t offset);

/* How much of the stream could be read. */
LpStatus lp_stream_status(const LpStream *st);

/* -- For sinks that wrap this one, and the files of ingest/ ---------------- */

/* The sink's body function. ST is an LpStream; BODY is m or p. */
void lp_stream_body(void *st, int body);

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

/* The sink's damage function. ST is an LpStream. The first damage is kept in
** full.
*/
void lp_stream_damage(void *st, const LpDamage *d);

/* Set the sink's functions for CPU profiles. */
void lp_stream_cpu(LpSink *sink);

/* The sink's meta function for CPU profiles: rate and event. */
void lp_stream_cpu_meta(LpStream *st, const LpMeta *m);

/* Add an event to sums. */
static inline void lp_sums_add(LpSums *s, const LpEvent *e)
{
  s->in += e->nsize;
  s->out += e->osize;
  s->allocs += e->kind == LJM_ALLOC;
  s->frees += e->kind == LJM_FREE;
  s->reallocs += e->kind == LJM_REALLOC;
}

/* An object that is older than the recording is gone. */
static inline void lp_stream_stray(LpStream *st, const LpEvent *e)
{
  st->strays++;
  if (!e->foreign) {
    st->before += e->osize;
    return;
  }
  st->elder += e->osize;
  st->prof->elder.n++;
  st->prof->elder.bytes += e->osize;
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

/* Start detailed ingest, if what is wanted needs it. */
static inline void lp_stream_begin(LpStream *st)
{
  if (!st->begun)
    lp_detail_open(st);
}

#endif

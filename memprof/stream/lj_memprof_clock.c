/*
** Time and blocks: marks the time, writes the buffer and begins the next block.
*/

#define lj_memprof_clock_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <string.h>

#include "lj_memprof_clock.h"
#include "lj_memprof_state.h"
#include "lj_memprof_tail.h"
#include "lj_wbuf.h"

#define CLOCK_OLD_MARKS 1000 /* As MP_MARKS, in the old formats. */

/* -- The clock ------------------------------------------------------------ */

int lj_memprof_checkclock(const struct luam_Prof_options *opt)
{
  uint64_t marks = opt->reserved[LUAM_PROF_MARKS] & LUAM_PROF_MARKSMASK;
  return opt->reserved[LUAM_PROF_DURMS] < 1000 && marks <= LUAM_PROF_MARKSMAX &&
         (marks == 0 || opt->format == LUAM_PROF_COMPACT);
}

void lj_memprof_clockstart(MPState *mp, uint64_t dursec, uint64_t durms,
                           uint64_t marks)
{
  MPClock *c = &mp->clock;
  c->marks = (uint32_t)marks;
  if (c->marks == 0)
    c->marks = mp->format == LUAM_PROF_COMPACT ? MP_MARKS : CLOCK_OLD_MARKS;
  c->start = c->seen = c->marked = c->flushed = lj_memprof_now();
  c->softref = mp->buf.p;
  if ((dursec | durms) != 0 &&
      dursec < (~(uint64_t)0 - c->start) / (1000 * MP_MS))
    c->end = c->start + (dursec * 1000 + durms) * MP_MS;
}

/* -- Blocks --------------------------------------------------------------- */

void lj_memprof_mark(MPState *mp, uint64_t now)
{
  uint8_t *mark;
  mp->clock.marked = now;
  if (mp->format != LUAM_PROF_COMPACT) {
    mp->old.mark = 1;
    return;
  }
  mark = lj_wbuf_record(&mp->buf, LJM_REC_TIME);
  lj_wbuf_uleb(&mp->buf, now - mp->clock.start);
  lj_wbuf_recordend(&mp->buf, mark);
}

/* Events so far. */
static uint64_t clock_events(const MPState *mp)
{
  return mp->total.nevents[LJM_ALLOC] + mp->total.nevents[LJM_FREE] +
         mp->total.nevents[LJM_REALLOC];
}

void lj_memprof_beginblock(MPState *mp)
{
  memset(mp->last, 0, sizeof(mp->last));
  memset(mp->sizes.alloc, 0, sizeof(mp->sizes.alloc));
  memset(mp->sizes.free, 0, sizeof(mp->sizes.free));
  mpsame_unsent(mp);
  mp->stream.blockevents = clock_events(mp);
  lj_memprof_tailblock(mp);
  if (mp->format == LUAM_PROF_COMPACT)
    lj_memprof_mark(mp, mp->clock.seen);
}

/* A block was dropped that had so many bytes. */
static void clock_dropped(MPState *mp, uint64_t bytes)
{
  MPStream *s = &mp->stream;
  mp->buf.dropped = 0;
  s->dropblocks++;
  s->dropevents += clock_events(mp) - s->blockevents;
  s->dropbytes += bytes;
  s->undefined = 1;
}

/*
** Writes out the buffer. The writer may call the VM: it is not recorded.
** Returns 0 if it has to be tried again later, which it must not.
*/
int lj_memprof_write(MPState *mp, int must)
{
  MPHook *h = mp->hook;
  MPState *active = lj_memprof_active(h);
  uint64_t end = mp->stream.written + (uint64_t)(mp->buf.p - mp->buf.base);
  int done;
  if (mp->detached) /* The VM runs on by itself. */
    return lj_wbuf_flush(&mp->buf, mp->stream.blockevents, must);
  lj_memprof_setactive(h, NULL);
  h->writing = mp;
  done = lj_wbuf_flush(&mp->buf, mp->stream.blockevents, must);
  h->writing = NULL;
  if (mp->buf.dropped)
    clock_dropped(mp, end - mp->stream.written);
  else if (done && !mp->buf.error)
    mp->stream.written = end;
  if (lj_memprof_isowner(h)) { /* Not in a child that the writer has made. */
    lj_memprof_resume(h, active);
    lj_memprof_reorder(h);
  }
  return done;
}

void lj_memprof_setsoft(MPState *mp, uint32_t step)
{
  MPBuf *b = &mp->buf;
  mp->clock.softref = b->p;
  b->soft = b->p + step;
  if (b->soft > b->hard)
    b->soft = b->hard;
}

/* Writes out the buffer, if it can be, and begins the next block. */
static void clock_flush(MPState *mp, int must)
{
  int done = lj_memprof_write(mp, must);
  mp->clock.flushed = mp->clock.seen;
  if (done)
    lj_memprof_beginblock(mp);
  lj_memprof_setsoft(mp, 1); /* The next event is free to go. */
}

void lj_memprof_flush(MPState *mp)
{
  clock_flush(mp, 1);
}

void lj_memprof_tryflush(MPState *mp)
{
  clock_flush(mp, 0);
}

#endif

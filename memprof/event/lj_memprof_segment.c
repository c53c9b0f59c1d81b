/*
** Segments: a recording in several files, each a stream of its own.
**
** A segment begins as every stream does, with the bytes that live at that
** moment, and ends with totals of its own events. No id of the segment before
** it is known in it: functions and sites are defined again when they are used.
** So whoever has any of the segments can read it.
*/

#define lj_memprof_segment_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lj_memprof_ends.h"
#include "lj_memprof_inlined.h"
#include "lj_memprof_queue.h"
#include "lj_memprof_segment.h"
#include "lj_memprof_state.h"
#include "lj_symtab.h"

/*
** A flush comes before a buffer is full, and what one event defines may be in
** the next one already.
*/
int lj_memprof_isfull(const MPState *mp)
{
  const MPSegment *s = &mp->segment;
  uint64_t buffer = (uint64_t)(mp->buf.end - mp->buf.base);
  return s->max != 0 && mp->stream.written - s->begun + 2 * buffer > s->max;
}

/*
** Bytes on the VM's heap. The VM has already subtracted what it is about to
** free, but that deallocation is an event of the next segment.
*/
static uint64_t segment_live(const MPState *mp)
{
  const MPForeign *f = &mp->foreign;
  if (mp->sample != NULL) /* One object may be missing in samples. */
    return (uint64_t)mp->g->gc.total;
  return mp->stream.live + (mp->total.bytesin - f->bytesin) -
         (mp->total.bytesout - f->bytesout);
}

void lj_memprof_undefine(MPState *mp)
{
  lj_symtab_undefine(mp);
  memset(mp->cache, 0, sizeof(mp->cache));
  lj_memprof_freeinlined(mp);
  memset(&mp->inlined, 0, sizeof(mp->inlined));
  memset(&mp->top, 0, sizeof(mp->top));
  mpsame_gone(mp);
}

void lj_memprof_redefine(MPState *mp)
{
  MPSymtab *t = &mp->symtab;
  uint32_t nextfunc = t->nextfunc, nextsite = t->nextsite;
  lj_memprof_undefine(mp);
  mpsame_unsent(mp);
  t->nextfunc = nextfunc;
  t->nextsite = nextsite;
  mp->stream.undefined = 0;
}

/* Counts from 0 on. Who has what of the VM's heap stays known. */
static void segment_count(MPState *mp)
{
  MPForeign *f = &mp->foreign;
  mp->segment.number++;
  mp->segment.begun = mp->stream.written;
  mp->segment.events += mp->total.nevents[LJM_ALLOC] +
                        mp->total.nevents[LJM_FREE] +
                        mp->total.nevents[LJM_REALLOC];
  f->base += mp->total.bytesin - mp->total.bytesout;
  f->bytesin = f->bytesout = 0;
  memset(f->nevents, 0, sizeof(f->nevents));
  memset(&mp->total, 0, sizeof(mp->total));
  mp->stream.lost = mp->stream.dropblocks = 0;
  mp->stream.dropevents = mp->stream.dropbytes = 0;
  mp->stream.undefined = 0;
  mp->clock.start = mp->clock.seen;
}

/* Begins the next file, behind what is in the queue. Returns 0 if it fails. */
static int segment_nextfile(MPState *mp)
{
  MPQueue *q = mp->buf.queue;
  if (q != NULL)
    return lj_memprof_enqueue(q, MPQUEUE_SEGMENT, NULL, 0, 1) == MPQUEUE_TAKEN;
  return mp->segment.next(mp->buf.arg);
}

void lj_memprof_nextsegment(MPState *mp)
{
  uint64_t live = segment_live(mp);
  int saved = errno;
  if (mp->buf.error || mp->buf.pid != (int)getpid())
    return; /* After a fork, it is the parent's. */
  lj_memprof_endsegment(mp, live);
  if (!mp->buf.error && segment_nextfile(mp)) {
    lj_memprof_undefine(mp);
    segment_count(mp);
    lj_memprof_beginsegment(mp, live);
    mp->clock.flushed = mp->clock.seen;
  } else {
    mp->buf.error = 1;
  }
  errno = saved;
}

#endif

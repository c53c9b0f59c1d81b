/*
** Heap dumps of a VM that is being recorded: each leaves a record in the
** recording, at its place between the events. A reader that has replayed the
** events before it knows which of them has made each object of the dump.
*/

#define lj_memprof_dump_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <unistd.h>

#include "lj_memprof_clock.h"
#include "lj_memprof_dump.h"
#include "lj_memprof_hook.h"
#include "lj_memprof_state.h"
#include "lj_memprof_time.h"
#include "lj_memprof_type.h"
#include "lj_wbuf.h"
#include "format/ljm_heap.h"

/* -- Ids ------------------------------------------------------------------- */

/*
** An id that no other dump has, of this process or of another one. As ULEB128
** all have the same length.
*/
static uint64_t dump_newid(void)
{
  static uint64_t count;
  uint64_t id = lj_memprof_realtime() ^ (uint64_t)getpid() << 32;
  id += __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  id = id * U64x(9e3779b9, 7f4a7c15) >> 1;
  return id | U64x(40000000, 00000000);
}

/* -- The record ------------------------------------------------------------ */

/* Appends the record of a dump. */
static void dump_record(MPState *mp, uint64_t id)
{
  uint8_t *mark = lj_wbuf_record(&mp->buf, LJM_REC_DUMP);
  lj_wbuf_uleb(&mp->buf, id);
  lj_wbuf_uleb(&mp->buf, mp->total.nevents[LJM_ALLOC] +
                             mp->total.nevents[LJM_REALLOC] +
                             mp->total.nevents[LJM_FREE]);
  lj_wbuf_uleb(&mp->buf, lj_memprof_now() - mp->clock.start);
  lj_wbuf_recordend(&mp->buf, mark);
}

/*
** The VM is in the middle of an event, if its allocator asks for a dump. The
** event's stack may be in the block already, so that no new one can begin.
*/
static int dump_inside(MPState *mp, uint64_t id)
{
  if (lj_wbuf_room(&mp->buf) < 2 * MP_EVENT_MAX)
    return 0;
  dump_record(mp, id);
  mptail_publish(mp, mp->buf.p);
  return 1;
}

/*
** Between two events. The block is written at once, since the process may be
** about to end, as for want of memory.
*/
static int dump_between(MPHook *h, MPState *mp, uint64_t id)
{
  lj_memprof_complete(mp, NULL, 0);
  if (mp->buf.p >= mp->buf.hard)
    lj_memprof_flush(mp);
  dump_record(mp, id);
  lj_memprof_tryflush(mp);
  if (mp->buf.error)
    lj_memprof_setactive(h, NULL);
  return !mp->buf.error;
}

/* True if a recording has records of dumps, and can have one now. */
static int dump_ismarked(const MPState *mp)
{
  return mp->format == LUAM_PROF_COMPACT && mp->hook->writing == NULL &&
         mp->buf.pid == (long)getpid();
}

/* Returns 0 if the recording cannot have the record. */
static int dump_mark(MPState *mp, uint64_t id)
{
  MPHook *h = mp->hook;
  int inside = h->busy, done = 0;
  if (lj_memprof_enter(h) == mp)
    done = inside ? dump_inside(mp, id) : dump_between(h, mp, id);
  if (!inside)
    lj_memprof_leave(h);
  return done;
}

void lj_memprof_newdump(const MPState *mp, MPDumpId *id)
{
  id->id = dump_newid();
  id->recording = mp != NULL && dump_ismarked(mp) ? mp->stream.monotonic : 0;
}

void lj_memprof_markdump(MPState *mp, MPDumpId *id)
{
  if (id->recording != 0 && !dump_mark(mp, id->id))
    id->recording = 0;
}

#endif

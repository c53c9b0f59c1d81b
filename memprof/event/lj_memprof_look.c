/*
** Looks at the clock between events: when to mark the time, when a block is
** full or old, when the recording is over.
*/

#define lj_memprof_look_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include "lj_memprof_clock.h"
#include "lj_memprof_hook.h"
#include "lj_memprof_look.h"
#include "lj_memprof_segment.h"
#include "lj_memprof_signal.h"
#include "lj_memprof_state.h"

#define LOOK_FLUSH (100 * MP_MS)
#define LOOK_EVERY (2 * MP_MS)
#define LOOK_MIN   8 /* Bytes of events between two looks. */
#define LOOK_MAX   1024

/*
** Chooses when to look at the clock again: after as many bytes as were lately
** written in LOOK_EVERY, or a quarter of the time between two marks. A look
** costs what ten events do, so there are many events between two looks when
** they come fast, and none when they are slow.
*/
static uint32_t look_step(MPState *mp, uint64_t now)
{
  uint64_t time = now - mp->clock.seen, every = LOOK_EVERY;
  uint64_t step = 2 * (uint64_t)mp->clock.step + LOOK_MIN;
  if (every > mp->clock.marks * MP_MS / 4)
    every = mp->clock.marks * MP_MS / 4;
  if (time > every / 2)
    step = (uint64_t)(mp->buf.p - mp->clock.softref) * every / time;
  mp->clock.step = (uint32_t)(step < LOOK_MAX ? step : LOOK_MAX);
  return mp->clock.step > 0 ? mp->clock.step : 1;
}

/* True if the time for a mark has come. */
static int look_ismark(MPState *mp, uint64_t now)
{
  uint32_t ticks;
  if (mp->ticks == NULL)
    return now - mp->clock.marked >= mp->clock.marks * MP_MS;
  ticks = lj_memprof_ticks(mp->ticks);
  if (ticks == mp->ticked)
    return 0;
  mp->ticked = ticks;
  return 1;
}

/*
** Before an event: marks the time, writes a full buffer, ends a recording that
** is over. The VM has taken what it is about to free off its count already, so
** the end waits for another event.
*/
void lj_memprof_look(MPHook *h, MPState *mp, int isfree)
{
  uint64_t now = lj_memprof_now();
  uint32_t step = look_step(mp, now);
  mp->clock.seen = now;
  if (mp->buf.p >= mp->buf.hard || now - mp->clock.flushed >= LOOK_FLUSH ||
      lj_memprof_isfull(mp) ||
      mp->stream.undefined) { /* In the middle of the event before. */
    if (mp->buf.p >= mp->buf.hard)
      lj_memprof_flush(mp);
    else
      lj_memprof_tryflush(mp);
    if (lj_memprof_isfull(mp))
      lj_memprof_nextsegment(mp);
    else if (mp->stream.undefined)
      lj_memprof_redefine(mp);
    if (mp->buf.error) /* Nothing can be recorded any more. */
      lj_memprof_setactive(h, NULL);
  } else {
    if (look_ismark(mp, now))
      lj_memprof_mark(mp, now);
    lj_memprof_setsoft(mp, step);
  }
  if (mp->clock.end != 0 && now >= mp->clock.end && !isfree)
    h->over(h, NULL, 0);
}

#endif

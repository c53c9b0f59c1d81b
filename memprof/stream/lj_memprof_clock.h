/*
** Time: marks in the stream, and its blocks.
*/

#ifndef _LJ_MEMPROF_CLOCK_H
#define _LJ_MEMPROF_CLOCK_H

#include "lj_memprof.h"
#include "lj_memprof_hook.h"
#include "lj_memprof_time.h"

#define MP_MARKS 10 /* Milliseconds between two marks, if not given. */

/*
** Nanoseconds of CLOCK_MONOTONIC, from the start to the end of a recording. The
** clock is read only at a look: before an event that begins behind buf.soft.
*/
typedef struct MPClock {
  uint8_t *softref; /* Where the buffer was at the last look. */
  uint32_t step;    /* Bytes between two looks. */
  uint32_t marks;   /* Milliseconds between two marks. */
  uint64_t start;   /* Time of the start. */
  uint64_t seen;    /* Time of the last look. */
  uint64_t marked;  /* Time of the last mark. */
  uint64_t flushed; /* Time of the last flush. */
  uint64_t end;     /* When to stop by itself, or 0. */
} MPClock;

/* True if the options of a start are right, as far as they are of time. */
LJ_FUNC int lj_memprof_checkclock(const struct luam_Prof_options *opt);

/*
** Begins to measure time, for dursec seconds and durms milliseconds, below
** 1000, or for ever if both are 0. marks: milliseconds between two time marks;
** 0: as usual.
*/
LJ_FUNC void lj_memprof_clockstart(MPState *mp, uint64_t dursec, uint64_t durms,
                                   uint64_t marks);

/* Begins a block: the registers are zero, and the time is recorded. */
LJ_FUNC void lj_memprof_beginblock(MPState *mp);

/*
** Writes out the buffer. The writer may call the VM: it is not recorded.
** Returns 0 if it has to be tried again later, which it must not if must is
** set. A failure is in buf.error.
*/
LJ_FUNC int lj_memprof_write(MPState *mp, int must);

/* Writes out the buffer and begins the next block. */
LJ_FUNC void lj_memprof_flush(MPState *mp);

/* The same, unless the writer asks to be called again later. */
LJ_FUNC void lj_memprof_tryflush(MPState *mp);

/* Appends a time mark. now: nanoseconds. */
LJ_FUNC void lj_memprof_mark(MPState *mp, uint64_t now);

/* Sets after how many bytes from here it is time for a look. */
LJ_FUNC void lj_memprof_setsoft(MPState *mp, uint32_t step);

#endif

/*
** Segments: a recording in several files, each a stream of its own.
*/

#ifndef _LJ_MEMPROF_SEGMENT_H
#define _LJ_MEMPROF_SEGMENT_H

#include "lj_memprof.h"

/* Where in its segments a recording is. All zero if it has none. */
typedef struct MPSegment {
  uint64_t max;           /* Bytes of a segment, or 0: there are no segments. */
  int (*next)(void *arg); /* See MPWriter. */
  uint64_t number;        /* Of the segment, from 0 on. */
  uint64_t events;        /* In the segments before it. */
  uint64_t recording;     /* `monotonic` in META of segment 0. */
  uint64_t begun;         /* Bytes of the stream before it. */
} MPSegment;

/* No buffer fits in less than so many of it: META has to fit, too. */
#define MPSEGMENT_BUFFERS 4

/* True if what comes next may not fit in the segment. */
LJ_FUNC int lj_memprof_isfull(const MPState *mp);

/*
** Ends the segment and begins the next one. To be called between two events, at
** which the VM's heap may be looked at. Errors are in buf.error.
*/
LJ_FUNC void lj_memprof_nextsegment(MPState *mp);

/* Forgets all definitions of the stream: they are written again when used. */
LJ_FUNC void lj_memprof_undefine(MPState *mp);

/*
** What was defined so far may be missing in the stream: all is defined again
** when it is used, with new ids. To be called like lj_memprof_nextsegment().
*/
LJ_FUNC void lj_memprof_redefine(MPState *mp);

#endif

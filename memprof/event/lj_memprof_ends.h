/*
** The beginning and the end of a recording's stream.
*/

#ifndef _LJ_MEMPROF_ENDS_H
#define _LJ_MEMPROF_ENDS_H

#include "lj_memprof.h"

/* Counts of the stream, for its blocks and its last record. */
typedef struct MPStream {
  uint64_t blockevents; /* Events before the current block. */
  uint64_t live;        /* Bytes on the heap, as META records. */
  uint64_t monotonic;   /* When META was written; nanoseconds. */
  uint64_t realtime;    /* The same by the other clock. */
  uint64_t lost;        /* Events made by the writer. */
  uint64_t written;     /* Bytes that the writer has taken. */
  uint64_t dropblocks;  /* Blocks that the queue had no room for, */
  uint64_t dropevents;  /* their events, */
  uint64_t dropbytes;   /* and bytes. */
  int undefined;        /* What the last of them has defined is missing. */
} MPStream;

/* Writes the beginning of the stream, all of it. Errors are in buf.error. */
LJ_FUNC void lj_memprof_begin(MPState *mp);

/*
** Bytes on the heap of a VM, by the recorder's own sum: for one that may be
** running, or is about to free what it does not count any more.
*/
LJ_FUNC uint64_t lj_memprof_estimate(const MPState *mp);

/*
** Ends a segment with the totals of its events. live: bytes on the VM's heap.
** Errors are in buf.error.
*/
LJ_FUNC void lj_memprof_endsegment(MPState *mp, uint64_t live);

/* Begins the next one. Ids and counts begin anew. live: as above. */
LJ_FUNC void lj_memprof_beginsegment(MPState *mp, uint64_t live);

/*
** Writes the rest of the stream. swapped: the VM's allocator was replaced while
** recording. live: bytes on the VM's heap. Errors are in buf.error.
*/
LJ_FUNC void lj_memprof_finish(MPState *mp, int swapped, uint64_t live);

#endif

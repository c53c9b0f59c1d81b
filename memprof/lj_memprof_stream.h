/*
** The beginning and the end of a stream.
*/

#ifndef _LJ_MEMPROF_STREAM_H
#define _LJ_MEMPROF_STREAM_H

#include "lj_memprof.h"
#include "lj_memprof_origin.h"
#include "lj_wbuf.h"

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

/* Distinguishes a dump from all others. */
typedef struct MPDumpId {
  uint64_t id;
  uint64_t recording; /* The recording that has a record of it: `monotonic` of
                      ** its META; or 0. */
} MPDumpId;

/* Writes the beginning of the stream, all of it. Errors are in buf.error. */
LJ_FUNC void lj_memprof_begin(MPState *mp);

/* Appends the metadata of a heap dump; the caller made room. */
LJ_FUNC void lj_memprof_metaheap(MPBuf *b, const MPOrigin *o,
                                 const MPDumpId *id, const global_State *g,
                                 uint32_t strings);

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

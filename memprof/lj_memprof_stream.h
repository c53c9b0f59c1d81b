/*
** What a stream begins and ends with.
*/

#ifndef _LJ_MEMPROF_STREAM_H
#define _LJ_MEMPROF_STREAM_H

#include "lj_memprof.h"
#include "lj_wbuf.h"

/* Counts of the stream, for its blocks and its last record. */
typedef struct MPStream {
  uint64_t blockevents; /* Events before the current block. */
  uint64_t live;        /* Bytes on the heap, as META records. */
  uint64_t monotonic;   /* When META was written; nanoseconds. */
  uint64_t lost;        /* Events made by the writer. */
} MPStream;

/* Distinguishes a dump from all others. */
typedef struct MPDumpId {
  uint64_t id;
  uint64_t recording; /* The recording that has a record of it: `monotonic` of
                      ** its META; or 0. */
} MPDumpId;

/* CLOCK_REALTIME in nanoseconds. */
LJ_FUNC uint64_t lj_memprof_realtime(void);

/* Writes the beginning of the stream, all of it. Errors are in buf.error. */
LJ_FUNC void lj_memprof_begin(MPState *mp);

/* The process that a stream is about, and when it begins; as in META. */
typedef struct MPOrigin {
  uint64_t pid;
  uint64_t pidns;        /* Inode of the pid namespace, or 0. */
  uint64_t processstart; /* Clock ticks since boot, or 0. */
  uint64_t realtime;     /* Nanoseconds of CLOCK_REALTIME, */
  uint64_t monotonic;    /* and of CLOCK_MONOTONIC. */
} MPOrigin;

/* Looks up the process that runs, and the time. */
LJ_FUNC void lj_memprof_origin(MPOrigin *o);

/* Appends the metadata of a heap dump; the caller made room. */
LJ_FUNC void lj_memprof_metaheap(MPBuf *b, const MPOrigin *o,
                                 const MPDumpId *id, const global_State *g,
                                 uint32_t strings);

/*
** Writes the rest of the stream. swapped: the VM's allocator was replaced while
** recording. live: bytes on the VM's heap. Errors are in buf.error.
*/
LJ_FUNC void lj_memprof_finish(MPState *mp, int swapped, uint64_t live);

#endif

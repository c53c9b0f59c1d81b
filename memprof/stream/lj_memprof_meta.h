/*
** Metadata: what a stream records about itself. The caller makes room for it.
*/

#ifndef _LJ_MEMPROF_META_H
#define _LJ_MEMPROF_META_H

#include "lj_memprof.h"
#include "lj_memprof_origin.h"
#include "lj_wbuf.h"

/*
** Begins the record, with what the metadata of all streams have. Returns the
** mark for lj_wbuf_recordend().
*/
LJ_FUNC uint8_t *lj_memprof_metabegin(MPBuf *b, const MPOrigin *o);

/* Appends a number. */
LJ_FUNC void lj_memprof_metaint(MPBuf *b, const char *key, uint64_t value);

/* Appends a string, unless it is empty. */
LJ_FUNC void lj_memprof_metaname(MPBuf *b, const char *key, const char *value);

/* Distinguishes a dump from all others. */
typedef struct MPDumpId {
  uint64_t id;
  uint64_t recording; /* The recording that has a record of it: `monotonic` of
                      ** its META; or 0. */
} MPDumpId;

/* The memory of a process in bytes; 0: not known. */
typedef struct MPProcess {
  uint64_t rss;
  uint64_t swap;
  uint64_t malloced;   /* What malloc() has in use, */
  uint64_t mallocfree; /* and has free. */
} MPProcess;

/* Appends the metadata of a heap dump. */
LJ_FUNC void lj_memprof_metaheap(MPBuf *b, const MPOrigin *o,
                                 const MPDumpId *id, const global_State *g,
                                 uint32_t strings, const MPProcess *process);

#endif

/*
** The bounded buffer between the recorder and the writer.
*/

#ifndef _LJ_WBUF_H
#define _LJ_WBUF_H

#include "lj_def.h"
#include "lj_arch.h"
#include "format/ljm_leb.h"

#define MP_EVENT_MAX  64         /* No event takes more bytes. */
#define MP_RECORD_MAX (9u << 10) /* No record does. */

struct MPQueue;

typedef struct MPBuf {
  uint8_t *p;      /* The next byte to fill. */
  uint8_t *soft;   /* Behind it, it is time to look at the clock. */
  uint8_t *hard;   /* Behind it, an event may not fit. */
  uint8_t *base;   /* Start of the buffer. */
  uint8_t *end;    /* End of the buffer. */
  uint8_t blocks;  /* Written as checksummed blocks, or as it is. */
  uint8_t error;   /* The writer has failed: nothing more is written. */
  uint8_t writing; /* The writer is at work. */
  uint8_t keep;    /* What is in it must not be dropped. */
  uint8_t dropped; /* The last flush has dropped it. */
  int pid;         /* The process that may write. */
  size_t (*writer)(const void *data, size_t len, void *arg);
  int (*again)(void *arg);   /* It took nothing, but may later; or NULL. */
  void (*forked)(void *arg); /* In a child of fork(); or NULL. */
  void *arg;
  struct MPQueue *queue; /* Before the writer; or NULL. */
} MPBuf;

/*
** Makes a buffer of size bytes; blocks as in MPBuf. Returns 0 without memory.
** The caller sets writer, again, forked and arg, which stay the caller's.
*/
LJ_FUNC int lj_wbuf_init(MPBuf *b, size_t size, int blocks);

/* The same in memory of the caller's. The calling process may write. */
LJ_FUNC void lj_wbuf_use(MPBuf *b, void *mem, size_t size, int blocks);

/* Frees the buffer; what is in it is lost. */
LJ_FUNC void lj_wbuf_free(MPBuf *b);

/* Empties the buffer for the next block. */
LJ_FUNC void lj_wbuf_begin(MPBuf *b);

/*
** Writes out what is in the buffer and empties it. firstevent: events before
** this block. Unless it must be done now, a writer may have it tried again
** later: then all is as it was, and this returns 0. Sets error if the writer
** fails, and dropped if the queue had no room. After a fork, nothing
** is written.
*/
LJ_FUNC int lj_wbuf_flush(MPBuf *b, uint64_t firstevent, int must);

/*
** Begins a record (LJM_REC_*); the caller has made room. Returns a mark for its
** end.
*/
LJ_FUNC uint8_t *lj_wbuf_record(MPBuf *b, int code);

/* Ends the record of a mark. */
LJ_FUNC void lj_wbuf_recordend(MPBuf *b, uint8_t *mark);

/*
** Appends a string of len bytes, cut to LJM_NAME_MAX; the caller has made room.
*/
LJ_FUNC void lj_wbuf_string(MPBuf *b, const char *s, size_t len);

/* Bytes that are left in the buffer. */
#define lj_wbuf_room(b) ((size_t)((b)->end - (b)->p))

/* Appends a ULEB128 integer; the caller has made room. */
static LJ_AINLINE void lj_wbuf_uleb(MPBuf *b, uint64_t v)
{
  b->p = ljm_putuleb(b->p, v);
}

#endif

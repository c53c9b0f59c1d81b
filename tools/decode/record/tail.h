/*
** The tail of a recording: FILE.tail, which has the block that was not written
** to FILE when the process was killed.
*/

#ifndef LP_TAIL_H
#define LP_TAIL_H

#include <stddef.h>
#include <stdint.h>

typedef struct LpTail {
  char *path;       /* Of the tail, owned; NULL: of memory. */
  uint8_t *file;    /* Its bytes with LP_SLACK zeros behind, or NULL; owned. */
  const uint8_t *p; /* The payload of the block, */
  size_t n;         /* and its length in bytes. */
  uint64_t offset;  /* Where the block would begin in the stream. */
  uint64_t first;   /* Events before it. */
  uint64_t monotonic; /* As in META of its recording. */
  uint64_t realtime;
  const char *why; /* It exists, and is ignored for this reason; or NULL. */
  int used;        /* It was read as the end of the stream. */
} LpTail;

/* The tail of the recording NAME. Nothing is opened yet. */
void lp_tail_open(LpTail *t, const char *name);

/* Read the file, at most 16 MiB and a page; one of memory was read already.
** Returns 0 if there is none, or it cannot be used; then t->why may be set.
*/
int lp_tail_read(LpTail *t);

/* Take the N bytes at P, which are copied, for the file's. Returns 0 if they
** are no tail; then t->why is set.
*/
int lp_tail_parse(LpTail *t, const uint8_t *p, size_t n);

/* Free the memory. */
void lp_tail_close(LpTail *t);

#endif

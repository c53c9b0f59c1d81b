/*
** Follows a file that is still being written: at its end, waits for more.
*/

#ifndef LP_FOLLOW_H
#define LP_FOLLOW_H

#include <sys/stat.h>

#include "input.h"
#include "mem.h"

#define LP_FOLLOW_HEAD 64

/* A followed file. lp_follow_read reads it; show is called between reads. */
typedef struct LpFollow {
  int fd;
  const char *name;
  const LpInput *in;       /* The reader, or NULL before it starts. */
  uint64_t every;          /* Nanoseconds between two calls of show, */
  void (*show)(void *ctx); /* if something came. */
  void *ctx;
  uint64_t start; /* When following began, */
  uint64_t due;   /* and when show is called next, in nanoseconds. */
  uint64_t bytes; /* Read, */
  uint64_t shown; /* and how many there were when show was called. */
  uint64_t older; /* Bytes of the files before this one. */
  int stop;       /* A signal came, */
  uint64_t end;   /* when there were so many. */
  size_t nhead;   /* The first bytes, which identify the file. */
  uint8_t head[LP_FOLLOW_HEAD];
  const char *why; /* Why it is not the same file any more, or NULL. */
} LpFollow;

/* Append the line before a report: seconds since the start, bytes read. LAST is
** set for the final report.
*/
void lp_follow_heading(LpBuf *b, const LpFollow *f, int last);

/* Start to follow the file NAME, which FD has open at its start. The caller
** owns both and fills in the callbacks; SECONDS is the interval of show.
*/
void lp_follow_open(LpFollow *f, const char *name, int fd, double seconds);

/* Go on with the file that FD has open at its start, and that the same NAME is
** of. The caller owns FD.
*/
void lp_follow_next(LpFollow *f, int fd);

/* Wait for a twentieth of a second. Returns 0 once a signal has come. */
int lp_follow_wait(const LpFollow *f);

/* An LpReadFn; F is an LpFollow. Waits at the end of the file for more. Returns
** 0 when the stream is complete or a signal came, and -1 with ESTALE if the
** file was replaced, see f->why.
*/
ssize_t lp_follow_read(void *f, void *buf, size_t n);

#endif

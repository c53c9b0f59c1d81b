/*
** Progress of reading: one line on the terminal, erased at the end.
*/

#ifndef LP_PROGRESS_H
#define LP_PROGRESS_H

#include <stdint.h>
#include <sys/types.h>

#include "mem.h"

/* A file that is read. */
typedef struct LpProgress {
  const char *name;
  int fd;
  uint64_t size;  /* Of the file, 0 if unknown. */
  uint64_t bytes; /* Of it that were read. */
  uint64_t start; /* When it was begun, in nanoseconds. */
  uint64_t drawn; /* When the line was last drawn, or 0. */
} LpProgress;

/* Start to show the progress of reading the file NAME, which FD has open. The
** name is not copied.
*/
void lp_progress_open(LpProgress *p, const char *name, int fd);

/* An LpReadFn; SRC is an LpProgress. */
ssize_t lp_progress_read(void *p, void *buf, size_t n);

/* Erase the line from the terminal, if it is there. */
void lp_progress_clear(void);

/* Nanoseconds of a monotonic clock. */
uint64_t lp_progress_now(void);

#endif

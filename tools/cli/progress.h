/*
** How far reading has come: one line on the terminal, erased at the end.
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
  uint64_t size;  /* Of the file, 0 if nobody knows. */
  uint64_t bytes; /* Of it that were read. */
  uint64_t start; /* When it was begun, in nanoseconds. */
  uint64_t drawn; /* When the line was last drawn, or 0. */
} LpProgress;

void lp_progress_open(LpProgress *p, const char *name, int fd);
ssize_t lp_progress_read(void *p, void *buf, size_t n); /* An LpReadFn. */
void lp_progress_text(LpBuf *b, const LpProgress *p, uint64_t now);
void lp_progress_clear(void);
uint64_t lp_progress_now(void);

#endif

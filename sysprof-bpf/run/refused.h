/*
** Files that were not read, or not whole, because there were too many or too
** large ones, and memory that did not come in time. Both are counted by
** process: a reader of the profile must know whose part is incomplete.
*/

#ifndef LS_REFUSED_H
#define LS_REFUSED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "stream.h"
#include "target.h"

#define LS_REFUSED_MAX   16 /* Processes that are named. */
#define LS_REFUSED_PAIRS (LS_REFUSED_MAX + 2)

typedef struct LsRefused {
  struct {
    pid_t pid;
    uint64_t start; /* Clock ticks since boot. */
    uint64_t files; /* Most at a time. */
    char key[32];   /* In the stream's statistics. */
  } process[LS_REFUSED_MAX];
  size_t n;
  uint64_t total;
  uint64_t held; /* Processes whose memory did not come in time. */
} LsRefused;

/* Note what was refused to T, if it is more than before. Prints a line for each
** of the processes that are named, once.
*/
void ls_refused_note(LsRefused *r, LsTarget *t);

/* Note that T has held up who reads its memory, if it has. Prints a line, once
** for each process.
*/
void ls_refused_held(LsRefused *r, LsTarget *t);

/* The pairs of a stream's statistics: all files that were refused, those of
** each process that is named, and the processes that held us up. The keys
** belong to R. Returns their number.
*/
size_t ls_refused_list(const LsRefused *r, LsStatistic out[LS_REFUSED_PAIRS]);

#endif

/*
** What became of all samples.
*/

#ifndef LS_BOOKS_H
#define LS_BOOKS_H

#include <stddef.h>
#include <stdint.h>

#include "ljs.h"
#include "stream.h"

/* fired = delivered + dropped, exactly. */
typedef struct LsBooks {
  uint64_t fired, delivered, dropped_ring, dropped_full, dropped_busy;
  uint64_t lost;     /* Counted, but its stack was not to be had. */
  uint64_t complete; /* Delivered, from the leaf to the root. */
  uint64_t cut[LJS_CUT_REASONS];
  uint64_t cpu_ns;    /* CPU time that the processes used, */
  uint64_t cpu_fired; /* and samples, when that was read the last time. */
  uint64_t ns;
  uint64_t woken; /* Samples that woke the sampler, at the target's cost. */
} LsBooks;

#define LS_BOOKS_MAX 32 /* Numbers that a stream is told. */

uint64_t ls_books_dropped(const LsBooks *b);
double ls_books_missed(const LsBooks *b);
size_t ls_books_list(const LsBooks *b, LsBook out[LS_BOOKS_MAX]);
void ls_books_say(const LsBooks *b, double hz);

#endif

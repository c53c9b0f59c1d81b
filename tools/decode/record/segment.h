/*
** Segments: which part of a recording a file is.
*/

#ifndef LP_SEGMENT_H
#define LP_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

typedef struct LpSegment {
  uint64_t recording; /* The same in all segments of a recording. */
  uint64_t number;    /* From 0 on. */
  uint64_t monotonic; /* Its beginning, in nanoseconds. */
} LpSegment;

/* Find which segment a stream is that begins with the N bytes at AT. Returns 0
** if it is none, or its first block is not among them.
*/
int lp_segment_find(const uint8_t *at, size_t n, LpSegment *s);

/* Find which segment the file FD is, from its first bytes; its position stays
** where it is. Returns 0 if it is none, or packed, or a pipe.
*/
int lp_segment_peek(int fd, LpSegment *s);

/* Is B the segment behind A? */
int lp_segment_follows(const LpSegment *a, const LpSegment *b);

#endif

/*
** The header of a tail: FILE.tail, which has the block of a recording that was
** not written yet. doc/stream-format.md has it to the byte. Header only.
*/

#ifndef _LJM_TAIL_H
#define _LJM_TAIL_H

#include <stdint.h>

#define LJM_TAIL_SUFFIX ".tail"
#define LJM_TAIL_MAGIC  "ljt\x10" /* Without its zero. */

/* Values of ljm_Tail.state. */
#define LJM_TAIL_LIVE  1 /* The recording goes on, or was killed. */
#define LJM_TAIL_ENDED 2 /* All of it is in the file. */

#define LJM_TAIL_PAGE_MAX (64u << 10) /* Most bytes in front of the buffer. */

/*
** The first bytes of the file. All integers are little endian. The buffer is
** at `page`; the eight bytes before it are `pos`, the address behind the last
** whole event in the buffer, which is at `base` in the memory of the recorder.
*/
typedef struct ljm_Tail {
  char magic[4];
  uint32_t state;     /* LJM_TAIL_*, or 0: not begun. */
  uint64_t page;      /* Bytes in front of the buffer: a page. */
  uint64_t base;      /* Address of the buffer. */
  uint64_t size;      /* Bytes of the buffer. */
  uint64_t monotonic; /* As in META: they identify the recording. */
  uint64_t realtime;
  uint64_t offset; /* Where the block begins in the stream. */
  uint64_t first;  /* Events before it. */
} ljm_Tail;

#endif

/*
** What tests do to recordings and heap dumps, and what must come of it.
*/

#ifndef HARM_H
#define HARM_H

#include "ljm_format.h"
#include "mem.h"

/* What is done to a piece of it: a block, where there are blocks. */
typedef enum Harm {
  HARM_ZEROS, /* Its bytes are 0. */
  HARM_TWICE, /* It comes a second time. */
  HARM_GONE,  /* It is missing. */
  HARM_JUNK,  /* Other bytes come before it. */
  HARM_FLIP, /* From here on, one byte is another: each of a block's header, the
             ** first one behind that, the middle one, the last one. */
  NHARM = HARM_FLIP + LJM_BLOCK_HEADER + 3
} Harm;

/* What becomes of a block with a checksum; those from HARM_FLIP on are alike.
 */
typedef struct HarmInfo {
  int lost;   /* What it holds cannot be read. */
  int behind; /* The damage is told where it ends, not where it begins. */
} HarmInfo;

extern const HarmInfo harm_info[HARM_FLIP + 1];

/* That of any harm. */
#define HARM_INFO(harm) (&harm_info[(harm) < HARM_FLIP ? (harm) : HARM_FLIP])

/* What HARM_JUNK puts there. It looks like blocks. */
#define HARM_JUNK_BYTES "ljb\x10junkljbljb"

/* The N bytes at S, of which those from AT to END are harmed. The caller frees
** the result.
*/
LpBuf harm_bytes(const void *s, size_t n, size_t at, size_t end, Harm harm);

#endif

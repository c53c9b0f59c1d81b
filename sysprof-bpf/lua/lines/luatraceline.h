/*
** Mapping of a trace's machine code to functions and bytecode instructions, and
** so to lines, and how certain that is.
*/

#ifndef LS_LUATRACELINE_H
#define LS_LUATRACELINE_H

#include "luatrace.h"

/* A position in a trace: a function, and the places that called it. */
typedef struct LsTraceLine {
  LsFunc *f;            /* NULL: outer[-1] is all that is known. */
  uint32_t pos;         /* Instruction. */
  const LsPlace *outer; /* Callers, the nearest first. */
  uint32_t nouter;
  LsPlace via[LS_VIA]; /* Callers that are nearer than those. */
  uint32_t nvia;
  uint32_t shared; /* So many of all callers are certain, from the outermost. */
  bool exact;      /* The line is certain. */
  bool unsure; /* Not even the function is: it may be one that was inlined, and
               ** left again before the next snapshot. */
} LsTraceLine;

/* Find the position of the byte at OFS in the trace's machine code, which is of
** a call if CALLED. Returns false if the snapshots do not have it. Its places
** belong to T.
*/
bool ls_traceline_find(const LsTrace *T, uint32_t ofs, bool called,
                       LsTraceLine *here);

#endif

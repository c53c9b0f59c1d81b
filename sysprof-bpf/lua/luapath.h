/*
** Which instruction of Lua's a piece of machine code is of, between two
** snapshots.
*/

#ifndef LS_LUAPATH_H
#define LS_LUAPATH_H

#include "luatrace.h"

/* Where a trace is: a function, and the places that called it. */
typedef struct LsHere {
  LsFunc *f;            /* NULL: outer[-1] is all that is known. */
  uint32_t pos;         /* Instruction. */
  const LsPlace *outer; /* Callers, the nearest first. */
  uint32_t nouter;
  LsPlace via; /* With `hidden`: its caller, nearer than those. */
  bool hidden;
  bool exact;  /* The line is certain. */
  bool unsure; /* Not even the function is: it may be one that was inlined, and
               ** left again before the next snapshot. */
} LsHere;

/* Where code at an offset in the trace's machine code is. Returns false if no
** snapshot tells.
*/
bool ls_path_at(const LsTrace *T, uint32_t ofs, LsHere *here);

#endif

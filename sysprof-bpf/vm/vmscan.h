/*
** Scan of an interpreter's machine code for offsets in its VM: candidates, with
** votes for each.
*/

#ifndef LS_VMSCAN_H
#define LS_VMSCAN_H

#include <stdbool.h>

#include "vmcode.h"
#include "x86.h"

/* Candidates for the offset of one field, and how many instructions
** have each.
*/
typedef struct LsVotes {
  int64_t v[8];
  unsigned n[8];
  unsigned total;
} LsVotes;

/* The results of a scan. */
typedef struct LsScan {
  const LsVmCode *c;
  LsX86 *ins; /* All instructions. */
  size_t n;
  unsigned dispatch; /* Jumps through the dispatch table. */
  unsigned entries;  /* From C. */
  unsigned exits;    /* From traces. */
  unsigned jloops;   /* Entries to traces. */
  LsVotes gc64, frame, glref, g2disp, save_l, save_nres, save_pc, save_cframe;
  LsVotes cur_l, vmstate, l_cframe, l_base;   /* At entries. */
  LsVotes anypc, anystate, kofs, fnpc, nojit; /* Anywhere. */
  LsVotes tracearray, exitroom;               /* Likewise. */
  int64_t trace, trace_ref, mcode, jit_base, jit_frame;
} LsScan;

/* Scan the code of s->c for votes; all else in *S is zero before. Returns false
** without memory. The caller frees s->ins.
*/
bool ls_scan(LsScan *s);

/* The value with most votes, in *VALUE. Returns false unless it has MIN votes
** and PERCENT of all.
*/
bool ls_vote_won(const LsVotes *v, unsigned min, unsigned percent,
                 int64_t *value);

#endif

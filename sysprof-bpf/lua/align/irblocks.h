/*
** Which IR instructions the machine code of a trace is of.
*/

#ifndef LS_IRBLOCKS_H
#define LS_IRBLOCKS_H

#include "irclaim.h"
#include "tracecode.h"

/* Code between two places that are certain: the IR from `ref` up to `end` has
** the machine instructions from `first` up to `last`. At the beginning of a
** trace there is more in front of it, at its end more behind it. STEP has what
** the collector's steps are of, see irstep.h.
*/
typedef struct LsStretch {
  const LsIr *t;
  const LsCode *c;
  uint32_t ref, end;
  uint32_t first, last;
  bool head, tail;
  const LsClaim *step;
} LsStretch;

/* Add, for each machine instruction of the stretch, what it may be of to OUT,
** which is numbered as c->ins. CLAIM has what each IR instruction is of, from
** LS_REF_BIAS on. *STEPS are left, of which all that is done takes some.
*/
void ls_blocks_read(const LsStretch *s, const LsClaim *claim, uint32_t *steps,
                    LsClaim *out);

#endif

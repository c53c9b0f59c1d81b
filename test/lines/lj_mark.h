/*
** What a marked LuaJIT has in addition (see the script `mark`): for each IR
** instruction of a trace, which bytecode instruction was recorded when it was
** emitted, and where its machine code is. That is the truth by which lines of
** compiled code are judged. The environment's LJ_MARK names the file that it is
** appended to:
**
**   T address size                     a trace's machine code
**   I begin end first line pos op callers
**                                      the code of an IR instruction, op: its
**                                      addresses, the line that its function
**                                      begins in, line and number of the
**                                      bytecode instruction, and the lines of
**                                      the calls that have led to it, the
**                                      nearest first
**   S begin end (first line)...        the code of a step of the collector: for
**                                      all IR instructions that it is made for,
**                                      which allocate
*/

#ifndef LJ_MARK_H
#define LJ_MARK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lj_debug.h"
#include "lj_frame.h"
#include "lj_jit.h"
#include "lj_obj.h"

#define MARK_REFS    65536 /* An IR reference has 16 bits. */
#define MARK_CALLERS 4
#define MARK_STEPS   4

typedef struct LjMark {
  GCproto *pt; /* NULL: of no instruction. */
  BCPos pos;
  MCode *begin, *end;
  unsigned caller[MARK_CALLERS], ncaller;
} LjMark;

/* A step of the collector, in front of an IR instruction. */
typedef struct LjMarkStep {
  IRRef ref;
  MCode *begin, *end;
} LjMarkStep;

#ifdef LJ_MARK_OWN
LjMark lj_mark_now, lj_mark_of[MARK_REFS];
LjMarkStep lj_mark_steps[MARK_STEPS];
unsigned lj_mark_nsteps;
IRRef lj_mark_source;
#else
extern LjMark lj_mark_now, lj_mark_of[MARK_REFS];
extern LjMarkStep lj_mark_steps[MARK_STEPS];
extern unsigned lj_mark_nsteps;
extern IRRef lj_mark_source; /* The instruction that a loop copies, or 0. */
#endif

/* A trace begins: what is emitted is of no bytecode yet. */
static inline void lj_mark_none(void)
{
  lj_mark_now.pt = NULL;
  lj_mark_source = 0;
}

/* The calls that have led to where it is now, as far as they are of Lua. */
static inline void lj_mark_callers(jit_State *J, LjMark *m)
{
  cTValue *frame = J->L->base - 1;
  for (m->ncaller = 0; m->ncaller < MARK_CALLERS && frame_islua(frame);) {
    const BCIns *pc = frame_pc(frame);
    GCproto *pt;
    frame = frame_prevl(frame);
    if (!isluafunc(frame_func(frame)))
      break;
    pt = funcproto(frame_func(frame));
    m->caller[m->ncaller++] =
        (unsigned)lj_debug_line(pt, proto_bcpos(pt, pc) - 1);
  }
}

/* They are of the instruction at PC, or in a C function of what called it. */
static inline void lj_mark_at(jit_State *J, const BCIns *pc)
{
  if (!J->pt)
    return;
  lj_mark_now.pt = J->pt;
  lj_mark_now.pos = (BCPos)(pc - proto_bc(J->pt));
  lj_mark_callers(J, &lj_mark_now);
}

/* An IR instruction is emitted. */
static inline void lj_mark_ir(jit_State *J, IRRef ref)
{
  LjMark *m = &lj_mark_of[ref];
  if (J->state != LJ_TRACE_END)
    *m = lj_mark_now;
  else if (lj_mark_source)
    *m = lj_mark_of[lj_mark_source];
  else
    m->pt = NULL;
  m->begin = m->end = NULL;
}

/* The trace's code is assembled, perhaps not for the first time. */
static inline void lj_mark_begin(void)
{
  IRRef ref;
  for (ref = 0; ref < MARK_REFS; ref++)
    lj_mark_of[ref].begin = lj_mark_of[ref].end = NULL;
  lj_mark_nsteps = 0;
}

/* The code of an IR instruction was emitted, from its END down. */
static inline void lj_mark_code(IRRef ref, MCode *begin, MCode *end)
{
  lj_mark_of[ref].begin = begin;
  lj_mark_of[ref].end = end;
}

/* The code of a step of the collector was emitted, while REF was assembled. */
static inline void lj_mark_step(IRRef ref, MCode *begin, MCode *end)
{
  if (lj_mark_nsteps < MARK_STEPS)
    lj_mark_steps[lj_mark_nsteps++] = (LjMarkStep){ref, begin, end};
}

/* Whether an IR instruction allocates. */
static inline int lj_mark_allocates(const GCtrace *T, IRRef ref)
{
  IROp o = (IROp)T->ir[ref].o;
  return lj_mark_of[ref].begin < lj_mark_of[ref].end &&
         (o == IR_SNEW || o == IR_XSNEW || o == IR_TNEW || o == IR_TDUP ||
          o == IR_CNEW || o == IR_CNEWI || o == IR_BUFSTR || o == IR_TOSTR ||
          o == IR_CALLA);
}

/* Write a step: it is made for what allocates in the loop, or in front of
** GCSTEP, or in front of the loop.
*/
static inline void lj_mark_writestep(FILE *f, const GCtrace *T,
                                     const LjMarkStep *s)
{
  IROp o = (IROp)T->ir[s->ref].o;
  IRRef ref = o == IR_LOOP ? s->ref : REF_FIRST;
  fprintf(f, "S %llu %llu", (unsigned long long)(uintptr_t)s->begin,
          (unsigned long long)(uintptr_t)s->end);
  for (; ref < T->nins; ref++) {
    const LjMark *m = &lj_mark_of[ref];
    if (o == IR_GCSTEP ? ref == s->ref
                       : o != IR_LOOP && T->ir[ref].o == IR_LOOP)
      break;
    if (lj_mark_allocates(T, ref))
      fprintf(f, " %u %u", m->pt ? (unsigned)m->pt->firstline : 0,
              m->pt ? (unsigned)lj_debug_line(m->pt, m->pos) : 0);
  }
  fprintf(f, "\n");
}

/* The trace is complete. */
static inline void lj_mark_write(const GCtrace *T)
{
  const char *name = getenv("LJ_MARK");
  FILE *f = name ? fopen(name, "a") : NULL;
  IRRef ref;
  unsigned i;
  if (!f)
    return;
  fprintf(f, "T %llu %u\n", (unsigned long long)(uintptr_t)T->mcode,
          (unsigned)T->szmcode);
  for (ref = REF_FIRST; ref < T->nins; ref++) {
    const LjMark *m = &lj_mark_of[ref];
    if (!m->pt || m->begin >= m->end)
      continue;
    fprintf(f, "I %llu %llu %u %u %u %u",
            (unsigned long long)(uintptr_t)m->begin,
            (unsigned long long)(uintptr_t)m->end, (unsigned)m->pt->firstline,
            (unsigned)lj_debug_line(m->pt, m->pos), (unsigned)m->pos,
            (unsigned)T->ir[ref].o);
    for (i = 0; i < m->ncaller; i++)
      fprintf(f, " %u", m->caller[i]);
    fprintf(f, "\n");
  }
  for (i = 0; i < lj_mark_nsteps; i++)
    lj_mark_writestep(f, T, &lj_mark_steps[i]);
  fclose(f);
}

#endif

/*
** What the collector's steps in a trace are of.
**
** A trace does not do a step where it allocates: there is one call in front of
** all code, for all that is allocated up to the loop, and one in the loop. If a
** side trace makes objects first that its parent has not needed, GCSTEP is
** behind these, and there is no call in front.
*/

#include "irshape.h"
#include "irstep.h"

#define STEP_LINES 16 /* Lines that are counted. */

/* Whether an IR instruction allocates an object, so that the collector does a
** step for it.
*/
static bool step_allocates(const LsIns *ins)
{
  LsShape s;
  switch (ins->op) {
  case LS_IR_SNEW:
  case LS_IR_XSNEW:
  case LS_IR_TNEW:
  case LS_IR_TDUP:
  case LS_IR_CNEW:
  case LS_IR_CNEWI:
  case LS_IR_BUFSTR:
  case LS_IR_TOSTR:
  case LS_IR_CALLA:
    return ls_shape_get(ins, NULL, &s);
  default:
    return false;
  }
}

/* How often a line allocates. */
typedef struct StepLine {
  const LsClaim *at;
  uint32_t n;
} StepLine;

/* Count a line that allocates, if there is room for it. */
static void step_count(StepLine line[STEP_LINES], const LsClaim *at)
{
  StepLine *l = line;
  while (l < line + STEP_LINES && l->at &&
         (l->at->f != at->f || l->at->line != at->line))
    l++;
  if (l == line + STEP_LINES)
    return;
  l->at = l->at ? l->at : at;
  l->n++;
}

/* What the collector's step is of that is made for IR instructions from number
** I up to N: of all that allocates, first of the line that does so most often.
*/
static LsClaim step_claim(const LsIr *t, const LsClaim *claim, uint32_t i,
                          uint32_t n)
{
  StepLine line[STEP_LINES] = {{NULL, 0}}, *most = line;
  LsClaim all = {0}, c = {0};
  for (; i < n; i++)
    if (step_allocates(&t->ins[i])) {
      step_count(line, &claim[i]);
      ls_claim_join(&all, &claim[i]);
    }
  for (i = 1; i < STEP_LINES; i++)
    if (line[i].n > most->n)
      most = &line[i];
  if (most->at)
    ls_claim_join(&c, most->at);
  ls_claim_join(&c, &all);
  c.step = most->at != NULL;
  return c;
}

void ls_step_read(const LsIr *t, const LsClaim *claim, LsClaim step[LS_STEPS])
{
  uint32_t end = 1, n = t->nins - LS_REF_BIAS;
  while (end < n && t->ins[end].op != LS_IR_LOOP &&
         t->ins[end].op != LS_IR_GCSTEP)
    end++;
  step[LS_STEP_HEAD] = step_claim(t, claim, 1, end);
  step[LS_STEP_LOOP] = step_claim(t, claim, end, n);
}

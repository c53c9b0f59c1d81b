/*
** What the collector's steps in a trace are of.
*/

#ifndef LS_IRSTEP_H
#define LS_IRSTEP_H

#include "irclaim.h"
#include "traceir.h"

/* The steps of a trace. */
enum { LS_STEP_HEAD, LS_STEP_LOOP, LS_STEPS };

/* Write to STEP what each step is of, if there is one. CLAIM has what each IR
** instruction is of, from LS_REF_BIAS on.
*/
void ls_step_read(const LsIr *t, const LsClaim *claim, LsClaim step[LS_STEPS]);

#endif

/*
** The flow of control between bytecode instructions, as traces follow it.
*/

#ifndef LS_TRACEFLOW_H
#define LS_TRACEFLOW_H

#include "luasnapform.h"

/* The instruction that the jump at POS leads to, or its number if that is not
** known: a loop that has been compiled has a trace's number in its place.
*/
uint32_t ls_flow_target(const LsFunc *f, uint32_t pos);

/* Whether the instruction at POS is a jump. */
bool ls_flow_jumps(const LsFunc *f, uint32_t pos);

/* Whether the jump at POS may as well not be taken. */
bool ls_flow_mayjump(const LsFunc *f, uint32_t pos);

/* Find the snapshots that are of branches: see LsSnap. T has their places. */
void ls_flow_read(const LsIr *t, const LsRawSnap *raw, LsTrace *T);

#endif

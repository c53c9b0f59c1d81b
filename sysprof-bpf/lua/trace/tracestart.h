/*
** Traces by their numbers, and the instructions that they begin with.
*/

#ifndef LS_TRACESTART_H
#define LS_TRACESTART_H

#include "luafunc.h"

/* The address of trace number NO in the VM at G, or 0. */
uint64_t ls_start_trace(LsView *v, uint64_t g, uint32_t no);

/* Put back the instructions of F that have been replaced by the numbers of
** traces that begin there; those of traces that are gone stay.
*/
void ls_start_restore(LsView *v, uint64_t g, LsFunc *f);

#endif

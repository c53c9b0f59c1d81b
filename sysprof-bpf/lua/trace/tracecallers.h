/*
** The callers of parts of a trace: those that were inlined around them.
*/

#ifndef LS_TRACECALLERS_H
#define LS_TRACECALLERS_H

#include "tracepath.h"

/* The callers of a leg. Equal ones are the same; they belong to the pool. NULL
** without memory.
*/
const LsCallers *ls_callers_get(LsPool *pool, const LsLeg *g);

/* How many callers two have in common, from the outermost on: the same calls in
** the same lines. Either may be NULL.
*/
uint32_t ls_callers_shared(const LsCallers *a, const LsCallers *b);

#endif

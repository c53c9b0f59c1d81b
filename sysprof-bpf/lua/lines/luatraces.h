/*
** Traces of a live VM. One that was read is kept with all of its snapshots,
** since the VM may soon free it.
*/

#ifndef LS_LUATRACES_H
#define LS_LUATRACES_H

#include "hash.h"
#include "luatrace.h"

/* Machine code that belongs to a trace. */
typedef struct LsTraceRange {
  uint64_t lo, hi;
  uint64_t trace;
} LsTraceRange;

/* What is to be done when a trace was read, before its code is aligned: to name
** the functions that are among its constants.
*/
typedef void LsTraceMet(void *ctx, const LsTrace *T);

typedef struct LsTraces {
  LsFuncs *funcs;
  LsTraceMet *met; /* May be NULL. */
  void *ctx;
  LsHash kept;   /* By address and check. */
  uint64_t g;    /* The VM whose traces `range` has, by their numbers. */
  uint64_t when; /* They were all looked at. */
  LsTraceRange *range;
  size_t nrange;
} LsTraces;

/* Free the memory of *TS, but not the functions. */
void ls_traces_free(LsTraces *ts);

/* The trace at an address with this LJS_CHECK(), even if the VM has freed it
** since. NULL if it was not read in time. G is its VM's global state, 0 if that
** is not known. It belongs to TS.
*/
const LsTrace *ls_trace_get(LsTraces *ts, LsView *v, uint64_t g, uint64_t addr,
                            uint16_t check);

/* The trace of the VM at G in whose machine code PC is, or NULL. It belongs to
** TS. The traces of a VM are listed; an unknown PC makes it look for new ones,
** and list all again at most once in some milliseconds.
*/
const LsTrace *ls_trace_ofpc(LsTraces *ts, LsView *v, uint64_t g, uint64_t pc);

#endif

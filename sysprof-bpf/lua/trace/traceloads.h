/*
** What a trace has loaded: functions that it calls, conditions that it tests.
**
** A trace has what was loaded checked: its type, and if it is called, which
** function it is. So what is loaded from fields of some name, or from a
** variable that the trace does not change, is known, whatever is at other
** places. Upvalues that never change are constants of the trace.
*/

#ifndef LS_TRACELOADS_H
#define LS_TRACELOADS_H

#include "luasnapform.h"

/* Find what a trace has loaded, by its IR: T->load, which belongs to T, and the
** rest that is known by it. Functions are read to FS. Without memory there is
** nothing.
*/
void ls_loads_read(LsFuncs *fs, const LsIr *t, LsTrace *T);

/* The instruction that has put into a slot what the one at POS of F has there,
** or 0 if that may be several, or is too far away.
*/
uint32_t ls_loads_source(const LsFunc *f, uint32_t pos, uint32_t slot);

/* The function that is called at instruction POS of F; if that is pcall or
** xpcall, the one that it calls, and so on. Returns how many are known: behind
** the last one there is another if it enters one. OUTERMOST: F is an outermost
** function of the trace.
*/
unsigned ls_loads_called(const LsTrace *T, const LsFunc *f, uint32_t pos,
                         bool outermost, LsCallee called[LS_CALLED]);

/* Whether what a trace has loaded from fields of this NAME may be a function of
** Lua: 1 or 0; or -1 if that is not known.
*/
int ls_loads_islua(const LsTrace *T, const char *name);

/* Whether the conditional jump at POS of F was taken, if its condition is what
** was loaded: 1 or 0; or -1 if that is not known.
*/
int ls_loads_jumps(const LsTrace *T, const LsFunc *f, uint32_t pos,
                   bool outermost);

#endif

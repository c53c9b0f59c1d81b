/*
** Which functions a trace has called, by where its code has them from.
**
** A compiled call is of one function: the trace has a guard that compares what
** was loaded with it. So what is loaded from fields of some name, or from a
** variable that the trace does not change, is this function, and no other.
*/

#ifndef LS_TRACECALLEE_H
#define LS_TRACECALLEE_H

#include "luasnapform.h"

/* Find what is known of the functions that a trace calls, by its IR: in
** T->known. Functions are read to FS.
*/
void ls_callee_read(LsFuncs *fs, const LsIr *t, LsTrace *T);

/* The name that the call at instruction POS has for what it calls, or "": it
** may have none, or several. It belongs to the pool.
*/
const char *ls_callee_name(const LsFunc *f, uint32_t pos);

/* Whether the function that is called at instruction POS of F is known. It is
** put in *CALLEE then: NULL, if it is not one of Lua's. OUTERMOST: F is an
** outermost function of the trace.
*/
bool ls_callee_known(const LsTrace *T, const LsFunc *f, uint32_t pos,
                     bool outermost, LsFunc **callee);

#endif

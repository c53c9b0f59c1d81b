/*
** Types of the FFI in a live VM: which functions are their metamethods.
*/

#ifndef LS_LUACTYPE_H
#define LS_LUACTYPE_H

#include "luaview.h"

/* Call MET with each function that is a metamethod of a type of the FFI, in the
** VM with the global state at G: the address of its GCfunc, and CTX. Returns
** false if there may be others.
*/
bool ls_ctype_metamethods(LsView *v, uint64_t g,
                          void (*met)(void *ctx, uint64_t fn), void *ctx);

#endif

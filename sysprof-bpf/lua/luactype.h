/*
** Types of the FFI in a live VM: which functions are their metamethods.
*/

#ifndef LS_LUACTYPE_H
#define LS_LUACTYPE_H

#include "luaview.h"

/* Call MET with each function and each table that is a metamethod of a type of
** the FFI, and CTX, in the VM with the global state at G. Returns false if
** there may be others.
*/
bool ls_ctype_metamethods(LsView *v, uint64_t g,
                          void (*met)(void *ctx, LsValue value), void *ctx);

#endif

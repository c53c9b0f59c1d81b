/*
** Names of functions by the calls of them. They are verified: a tail call puts
** another function into the frame of the one that was called.
*/

#ifndef LS_LUACALL_H
#define LS_LUACALL_H

#include "luaproven.h"

/* A call. */
typedef struct LsCalled {
  uint64_t caller; /* GCfunc of the caller. */
  uint32_t pos;    /* The instruction in its bytecode. */
  bool protect;    /* It calls pcall or xpcall, which calls the function. */
  uint64_t pt;     /* The function that was called, as its GCproto, */
  uint64_t check;  /* with ljs_check_proto() of that. */
} LsCalled;

/* Name a function by a call of it, if the called value is proven to be that
** function. PN keeps the name, unless it has a better one. After a few failures
** a function is not tried again.
*/
void ls_call_name(LsProven *pn, LsView *v, const LsCalled *call);

#endif

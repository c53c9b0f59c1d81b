/*
** Names of functions by the calls of them: verified, since a tail call puts
** another function where the one that was called has been.
*/

#ifndef LS_LUACALL_H
#define LS_LUACALL_H

#include "luagiven.h"

/* A call. */
typedef struct LsCalled {
  uint64_t caller; /* GCfunc of the caller. */
  uint32_t pos;    /* The instruction in its bytecode. */
  bool protect;    /* It calls pcall or xpcall, which calls the function. */
  uint64_t pt;     /* The function that was called, as its GCproto, */
  uint64_t check;  /* with ljs_check_proto() of that. */
} LsCalled;

/* Name a function as a call of it has it, if what that has is the function.
** Remembered by GN, unless there is a better name. A function is tried a few
** times at most, without success.
*/
void ls_call_name(LsGiven *gn, LsView *v, const LsCalled *call);

#endif

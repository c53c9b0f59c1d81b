/*
** The unwinder's walk: which kind of step comes next.
**
** How the C stack and the Lua stacks are put into one order: each entry into
** the VM has a frame on the C stack, which holds the coroutine it runs, L.
** L->cframe is the newest such frame of L, each frame has a link to the one
** before. So a word on the C stack is the saved L of the frame at A if and only
** if it points to something whose chain of C frames has A next. Nothing else
** needs to be known of what the VM does right now: helper routines with their
** stack off by some words, traces, their exits and garbage collection all find
** A by looking upwards from rsp. The Lua frames of A are those down to the
** first one that was called from C.
*/

#ifndef LJS_UNWIND_WALK_H
#define LJS_UNWIND_WALK_H

#include "unwind.h"
#include "unwind_lua.h"
#include "unwind_native.h"
#include "unwind_vm.h"

/* A new walk. The caller sets the registers, what is wanted, and the process's
** VMs.
*/
static __always_inline void ljs_begin(struct ljs_walk *w)
{
  w->walk++;
  w->out.key = 0;
  w->out.g = 0;
  w->out.module = 0;
  w->out.cut = LJS_CUT_NOT;
  w->out.nframes = 0;
  w->out.nlua = 0;
  w->nnative = 0;
  w->cwords.at = w->words.at = LJS_NOWHERE;
  w->making = 0;
  w->nstate = 0;
  w->exact = 1;
  w->mode = LJS_NATIVE;
}

/* One step. Returns 1 when it was the last one. */
static __always_inline int ljs_step(struct ljs_walk *w)
{
  switch (w->mode) {
  case LJS_NATIVE:
    ljs_step_native(w);
    break;
  case LJS_SCANNING:
    ljs_step_scan(w);
    break;
  case LJS_LUA:
    ljs_step_lua(w);
    break;
  case LJS_LEAVING:
    ljs_step_leave(w);
    break;
  default:
    return 1;
  }
  return w->mode == LJS_DONE;
}

#endif

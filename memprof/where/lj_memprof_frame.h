/*
** Frames of a Lua stack, read without trust: some VM functions allocate while
** they overwrite their own frame.
*/

#ifndef _LJ_MEMPROF_FRAME_H
#define _LJ_MEMPROF_FRAME_H

#include "lj_frame.h"

/* True if a frame's slot holds a function. */
static LJ_AINLINE int mpframe_isfunc(cTValue *frame)
{
#if LJ_FR2
  return tvisfunc(frame - 1);
#else
  GCobj *o = gcref(frame->fr.func);
  return o != NULL && o->gch.gct == ~LJ_TFUNC;
#endif
}

/* The function of a frame, or NULL if its slot holds none. */
static LJ_AINLINE GCfunc *mpframe_func(cTValue *frame)
{
  return mpframe_isfunc(frame) ? frame_func(frame) : NULL;
}

/* Below the lowest frame of a stack. */
static LJ_AINLINE cTValue *mpframe_bottom(const lua_State *L)
{
  return tvref(L->stack) + LJ_FR2;
}

/* The frame below, or NULL if the link leads out of the stack. */
static LJ_AINLINE cTValue *mpframe_prev(cTValue *frame, cTValue *bot)
{
  cTValue *prev;
  if (frame_islua(frame)) {
    const BCIns *pc = frame_pc(frame);
    if (pc == NULL)
      return NULL;
    prev = frame - (1 + LJ_FR2 + bc_a(pc[-1]));
  } else {
    ptrdiff_t size = frame_sized(frame);
    if (size <= 0 || size > (char *)frame - (char *)bot)
      return NULL;
    prev = (cTValue *)((char *)frame - size);
  }
  return prev > bot && prev < frame ? prev : NULL;
}

/* True if the VM keeps the PC of what lies below a frame beside its link. */
static LJ_AINLINE int mpframe_hascontpc(cTValue *frame)
{
  return frame_iscont(frame) && !frame_iscont_fficb(frame);
}

#endif

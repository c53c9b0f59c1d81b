/*
** The trace that is running, and the address to which the C function that it
** has called returns: what each kind of machine keeps in a way of its own.
*/

#ifndef _LJ_MEMPROF_RET_H
#define _LJ_MEMPROF_RET_H

#include "lj_dispatch.h"
#include "lj_frame.h"
#include "lj_jit.h"
#include "lj_memprof_state.h"

#if LJ_HASJIT

/* True if a C function called by a trace returns to an address. */
static LJ_AINLINE int mpret_isin(const GCtrace *T, const MCode *ret)
{
  return (uintptr_t)ret - (uintptr_t)T->mcode - 1 < (uintptr_t)T->szmcode;
}

/* The trace of a number, or NULL. */
static LJ_AINLINE GCtrace *mpret_numbered(const jit_State *J, TraceNo no)
{
  return no < J->sizetrace && gcref(J->trace[no]) != NULL
             ? gco2trace(gcref(J->trace[no]))
             : NULL;
}

/* The C frame of the coroutine that runs, or NULL. */
static LJ_AINLINE const char *mpret_cframe(global_State *g)
{
  GCobj *o = gcref(g->cur_L);
  return o != NULL ? (const char *)cframe_raw(o->th.cframe) : NULL;
}

#if LJ_TARGET_ARM64

/* A return address without the signature that it may carry in memory. */
static LJ_AINLINE const MCode *mpret_strip(uintptr_t addr)
{
  register uintptr_t lr __asm__("x30") = addr;
  __asm__("hint #7" : "+r"(lr)); /* XPACLRI, nothing on older machines. */
  return (const MCode *)lr;
}

/* Finds the trace of a return address: the newest have the highest numbers. */
static GCtrace *mpret_search(const jit_State *J, const MCode *ret,
                             uint16_t *guess)
{
  TraceNo no = J->sizetrace;
  while (no > 0) {
    GCtrace *T = mpret_numbered(J, --no);
    if (T != NULL && mpret_isin(T, ret)) {
      *guess = (uint16_t)no;
      return T;
    }
  }
  return NULL;
}

/*
** Follows the frame pointers from here to the C function that returns to a
** trace. They may lead nowhere behind it: there is the VM's frame pointer,
** which an error that was caught can leave behind wrong.
**
** What is remembered of a return address is a guess that the trace proves
** right: nothing needs to be forgotten when traces go away. Without a recording
** (mp is NULL) nothing is.
*/
static LJ_AINLINE GCtrace *mpret_walk(MPState *mp, global_State *g,
                                      const MCode **retp, int search)
{
  const jit_State *J = G2J(g);
  uintptr_t cf = (uintptr_t)mpret_cframe(g);
  uintptr_t fp = (uintptr_t)__builtin_frame_address(0);
  while (fp < cf) {
    const uintptr_t *record = (const uintptr_t *)fp;
    const MCode *ret = mpret_strip(record[1]);
    uintptr_t h = (uintptr_t)ret;
    uint16_t none = 0;
    uint16_t *guess =
        mp ? &mp->traceof[((h >> 2) ^ (h >> 14)) & (MP_CACHESIZE - 1)] : &none;
    GCtrace *T = mpret_numbered(J, *guess);
    if (T == NULL || !mpret_isin(T, ret))
      T = search ? mpret_search(J, ret, guess) : NULL;
    if (T != NULL) {
      *retp = ret;
      return T;
    }
    if (record[0] <= fp || (record[0] & (sizeof(void *) - 1)) != 0)
      break; /* Code without frame pointers. */
    fp = record[0];
  }
  *retp = NULL;
  return NULL;
}

/* The same for what is new: looks at all traces. */
static LJ_NOINLINE GCtrace *mpret_walknew(MPState *mp, global_State *g,
                                          const MCode **retp)
{
  return mpret_walk(mp, g, retp, 1);
}

/* The trace, or NULL: the VM does not keep its number. mp may be NULL. */
static LJ_AINLINE GCtrace *mpret_trace(MPState *mp, global_State *g,
                                       const MCode **retp)
{
  GCtrace *T = mpret_walk(mp, g, retp, 0);
  return LJ_LIKELY(T != NULL) ? T : mpret_walknew(mp, g, retp);
}

/* The same: what it finds is the trace's. */
static LJ_AINLINE GCtrace *mpret_tracecall(MPState *mp, global_State *g,
                                           const MCode **retp)
{
  return mpret_trace(mp, g, retp);
}

/* True if a trace is running. */
static LJ_AINLINE int mpret_ontrace(global_State *g)
{
  return tvref(g->jit_base) != NULL && g->vmstate >= 0;
}

#else

/*
** The trace, or NULL, and what is a return address if it is one of the trace's.
** Its machine code has adjusted the stack by a known amount below the C frame,
** so there is nothing to unwind.
*/
static LJ_AINLINE GCtrace *mpret_tracecall(MPState *mp, global_State *g,
                                           const MCode **retp)
{
  GCtrace *T = mpret_numbered(G2J(g), (TraceNo)g->vmstate);
  UNUSED(mp);
  *retp = NULL;
#if LJ_TARGET_X64 && !LJ_ABI_WIN
  if (LJ_LIKELY(T != NULL)) {
    const char *cf = mpret_cframe(g);
    if (LJ_LIKELY(cf != NULL)) {
      cf -= CFRAME_SIZE_JIT - CFRAME_SIZE;
      *retp = *(const MCode *const *)(cf - T->spadjust - sizeof(void *));
    }
  }
#endif
  return T;
}

/* The trace, or NULL, and its return address, or NULL. mp may be NULL. */
static LJ_AINLINE GCtrace *mpret_trace(MPState *mp, global_State *g,
                                       const MCode **retp)
{
  GCtrace *T = mpret_tracecall(mp, g, retp);
  if (T == NULL || !mpret_isin(T, *retp))
    *retp = NULL;
  return T;
}

/* True if a trace is running. */
static LJ_AINLINE int mpret_ontrace(global_State *g)
{
#if LJ_TARGET_X86ORX64
  return g->vmstate > 0;
#else
  return tvref(g->jit_base) != NULL && g->vmstate >= 0;
#endif
}

#endif

#endif

#endif

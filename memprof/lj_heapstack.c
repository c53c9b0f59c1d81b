/*
** Heap dump: threads, with the frames and slots of their stacks.
*/

#define lj_heapstack_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include "lj_heapobj.h"
#include "lj_memprof_frame.h"
#include "lj_memprof_name.h"
#include "lj_memprof_where.h"
#include "lj_symtab.h"

/* -- Threads --------------------------------------------------------------- */

/* A slot of a stack; the names of locals are those at a position in pt. */
static void heap_slot(MPDump *d, const lua_State *th, cTValue *tv,
                      const char *name)
{
  lj_heap_part(d, LJM_PART_SLOT, name != NULL ? LJM_PART_NAMED : 0);
  lj_heap_uleb(d, (uint64_t)(tv - tvref(th->stack)));
  if (name != NULL)
    lj_heap_name(d, name);
  lj_heap_ref(d, gcV(tv));
}

/* The slots above a frame, below the next one. */
static void heap_slots(MPDump *d, const lua_State *th, cTValue *from,
                       cTValue *to, const GCproto *pt, ptrdiff_t pos)
{
  cTValue *tv;
  for (tv = from; tv < to && !lj_heap_failed(d); tv++)
    if (tvisgcv(tv))
      heap_slot(d, th, tv,
                pt != NULL && pos >= 0
                    ? lj_memprof_localname(pt, (BCPos)pos, (BCReg)(tv - from))
                    : NULL);
}

/* A frame: its function, the line where it has stopped, its slots. */
static void heap_frame(MPDump *d, lua_State *th, cTValue *frame, cTValue *next,
                       cTValue *to)
{
  GCfunc *fn = mpframe_func(frame);
  GCproto *pt = fn != NULL && isluafunc(fn) ? funcproto(fn) : NULL;
  ptrdiff_t pos = pt != NULL ? lj_memprof_stopped(th, pt, next) : -1;
  BCLine line = pos >= 0 ? lj_symtab_line(pt, pos) : 0;
  lj_heap_part(d, LJM_PART_FRAME, 0);
  lj_heap_uleb(d, line > 0 ? (uint64_t)line : 0);
  lj_heap_ref(d, fn);
  heap_slots(d, th, frame + 1, to, pt, pos);
}

/*
** The end of a stack's slots. The interpreter does not keep th->top while it is
** in a Lua function; the collector sets it to this.
*/
static cTValue *heap_top(const MPDump *d, const lua_State *th)
{
  const GCfunc *fn;
  if (gcref(d->g->cur_L) != obj2gco(th))
    return th->top;
  fn = mpframe_func(th->base - 1);
  return fn != NULL && isluafunc(fn) ? th->base + funcproto(fn)->framesize
                                     : th->top;
}

/* The stack, from its top down. A thread that is being created has none. */
static void heap_stack(MPDump *d, lua_State *th)
{
  cTValue *bot = mpframe_bottom(th), *to, *frame = NULL, *next = NULL;
  if (tvref(th->stack) == NULL)
    return;
  to = th->top;
  if (!lj_heap_isdead(d, obj2gco(th))) {
    to = heap_top(d, th);
    frame = th->base - 1;
  }
  while (frame != NULL && frame > bot && !lj_heap_failed(d)) {
    heap_frame(d, th, frame, next, to);
    next = frame;
    to = frame - LJ_FR2;
    frame = mpframe_prev(frame, bot);
  }
  heap_slots(d, th, tvref(th->stack) + 1 + LJ_FR2, to, NULL, -1);
}

void lj_heap_thread(MPDump *d, lua_State *th)
{
  const global_State *g = d->g;
  lj_heap_begin(d, obj2gco(th), LJM_TYPE_THREAD,
                (th == mainthread(g) ? LJM_THREAD_MAIN : 0) |
                    (th == d->L ? LJM_THREAD_CURRENT : 0),
                sizeof(lua_State) + th->stacksize * sizeof(TValue));
  lj_heap_uleb(d, th->status);
  lj_heap_near(d, tvref(th->stack));
  lj_heap_uleb(d, th->stacksize * sizeof(TValue));
  lj_heap_ref(d, gcref(th->env));
  heap_stack(d, th);
}

#endif

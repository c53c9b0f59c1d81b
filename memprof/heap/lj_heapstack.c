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

#if LJ_HASJIT
/*
** True if a trace changes a slot of the frame that it has entered: then it may
** hold what its variable no longer does.
*/
static int heap_ischanged(const GCtrace *T, ptrdiff_t slot)
{
  MSize i, n;
  for (i = 0; i < T->nsnap; i++) {
    const SnapEntry *map = &T->snapmap[T->snap[i].mapofs];
    for (n = 0; n < T->snap[i].nent; n++)
      if ((ptrdiff_t)snap_slot(map[n]) == slot + 1 + LJ_FR2 &&
          !(map[n] & SNAP_NORESTORE))
        return 1;
  }
  return 0;
}
#else
#define heap_ischanged(T, slot) 0
#endif

/* The slots of a part of a stack. */
typedef struct HeapSlots {
  cTValue *from, *to;
  GCproto *pt;      /* The function whose slots they are, or NULL, */
  ptrdiff_t pos;    /* and where in it, or -1. */
  const GCtrace *T; /* The trace that may change them, or NULL. */
} HeapSlots;

/* The name of the variable that a slot holds, or NULL. */
static const char *heap_local(const HeapSlots *s, cTValue *tv)
{
  if (s->pt == NULL || s->pos < 0 ||
      (s->T != NULL && heap_ischanged(s->T, tv - s->from)))
    return NULL;
  return lj_memprof_localname(s->pt, (BCPos)s->pos, (BCReg)(tv - s->from));
}

/* Writes the objects in slots of a stack, with the names of locals. */
static void heap_slots(MPDump *d, const lua_State *th, const HeapSlots *s)
{
  cTValue *tv;
  for (tv = s->from; tv < s->to && !lj_heap_failed(d); tv++)
    if (tvisgcv(tv))
      heap_slot(d, th, tv, heap_local(s, tv));
}

/*
** A frame: its function, the line where it has stopped, its slots. Of a vararg
** function the VM has two: below the one with its slots, that of the call has
** its arguments, which have no names.
*/
static void heap_frame(MPDump *d, lua_State *th, cTValue *frame, cTValue *next,
                       cTValue *to)
{
  GCfunc *fn = mpframe_func(frame);
  HeapSlots s = {frame + 1, to, NULL, -1, NULL};
  BCLine line = 0;
  if (next != NULL && frame_isvarg(next)) {
    heap_slots(d, th, &s);
    return;
  }
  if (fn != NULL && isluafunc(fn)) {
    s.pt = funcproto(fn);
    s.pos = lj_memprof_stopped(th, funcproto(fn), next);
    line = s.pos >= 0 ? lj_symtab_line(s.pt, s.pos) : 0;
  }
  if (next == NULL)
    s.T = lj_memprof_entered(th);
  lj_heap_part(d, LJM_PART_FRAME, 0);
  lj_heap_uleb(d, line > 0 ? (uint64_t)line : 0);
  lj_heap_ref(d, fn);
  heap_slots(d, th, &s);
}

/*
** The end of a stack's slots. The interpreter and traces do not keep th->top
** while they are in a Lua function; the collector sets it to this. A function
** for which the stack is about to grow has slots that are not there yet.
*/
static cTValue *heap_top(const MPDump *d, const lua_State *th, cTValue *frame)
{
  cTValue *end = tvref(th->stack) + th->stacksize, *top = th->top;
  const GCfunc *fn;
  if (gcref(d->g->cur_L) != obj2gco(th))
    return top;
  fn = mpframe_func(frame);
  if (fn != NULL && isluafunc(fn))
    top = frame + 1 + funcproto(fn)->framesize;
  return top < end ? top : end;
}

/* The stack, from its top down. A thread that is being created has none. */
static void heap_stack(MPDump *d, lua_State *th)
{
  cTValue *bot = mpframe_bottom(th), *frame = NULL, *next = NULL;
  HeapSlots s = {tvref(th->stack) + 1 + LJ_FR2, th->top, NULL, -1, NULL};
  if (tvref(th->stack) == NULL)
    return;
  if (!lj_heap_isdead(d, obj2gco(th))) {
    frame = lj_memprof_topframe(th);
    s.to = heap_top(d, th, frame);
  }
  while (frame != NULL && frame > bot && !lj_heap_failed(d)) {
    heap_frame(d, th, frame, next, s.to);
    next = frame;
    s.to = frame - LJ_FR2;
    frame = mpframe_prev(frame, bot);
  }
  heap_slots(d, th, &s);
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

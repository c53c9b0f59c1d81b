/*
** Exact lines on traces of a stock VM: the compiler is made to take a snapshot
** at every line by the mode that the VM's own profiler has for this. It checks
** there for the profiler's signal, too, which is never sent.
**
** The mode is the VM's profiler's: jit.p cannot be used at the same time.
*/

#include "lj_memprof.h"

#if LJ_HASJIT

#include <string.h>

#include "luajit.h"
#include "lj_dispatch.h"
#include "lj_memprof_lines.h"
#include "lj_memprof_state.h"

#define LINES_MODE 'l' /* As luaJIT_profile_start() has it. */

/*
** True if the trace of a number has exact lines: it was compiled in our
** mode. Who changes the mode flushes all traces.
*/
int lj_memprof_isexact(const MPState *mp, TraceNo no)
{
  return G2J(mp->g)->prof_mode == LINES_MODE &&
         (mp->exact.trace[no >> 3] >> (no & 7) & 1) != 0;
}

void lj_memprof_linesforget(MPState *mp, const GCtrace *T)
{
  lj_memprof_setexact(&mp->exact, T->traceno, 1);
}

int lj_memprof_linesbusy(const global_State *g, int lines)
{
  return lines != LUAM_PROF_LINES_NATURAL && G2J(g)->prof_mode != 0;
}

/*
** Sets our mode, and flushes traces that were compiled without it. Inside of a
** finalizer the VM does not allow that: then they remain, as approximate.
*/
void lj_memprof_linesstart(MPState *mp, lua_State *L)
{
  jit_State *J = G2J(mp->g);
  TraceNo no;
  if (mp->lines != LUAM_PROF_LINES_EXACT)
    return;
  if (!(mp->g->hookmask & HOOK_GC))
    luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_FLUSH);
  memset(mp->exact.trace, 0xff, sizeof(mp->exact.trace));
  for (no = 0; no < J->sizetrace; no++)
    if (gcref(J->trace[no]) != NULL)
      lj_memprof_setexact(&mp->exact, no, 0);
  J->prof_mode = LINES_MODE;
}

void lj_memprof_linesstop(MPState *mp)
{
  jit_State *J = G2J(mp->g);
  if (mp->lines == LUAM_PROF_LINES_EXACT && J->prof_mode == LINES_MODE)
    J->prof_mode = 0;
}

#endif

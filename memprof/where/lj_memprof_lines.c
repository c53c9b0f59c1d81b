/*
** Exact lines on traces: a snapshot at every line that the compiler records.
**
** The address to which an allocation returns lies behind the last snapshot
** before it. If every new line has a snapshot of its own, that one has the
** line. Traces from before the start know nothing of this: they are flushed.
*/

#define lj_memprof_lines_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <string.h>

#include "lj_memprof_lines.h"
#include "lj_memprof_state.h"
#include "lj_symtab.h"
#include "luajit.h"

#if LJ_HASJIT

#include "lj_dispatch.h"

/* -- While the compiler records ------------------------------------------- */

int lj_memprof_isexact(const MPState *mp, TraceNo no)
{
  return mp->exact.trace[no >> 3] >> (no & 7) & 1;
}

/*
** The start of the trace is left out: the exit to it would lead into the trace
** again.
*/
int lj_memprof_beginsline(MPState *mp, jit_State *J, const BCIns *pc)
{
  BCLine line;
  int first;
  if (J->pt == NULL)
    return 0;
  line = lj_symtab_line(J->pt, pc - proto_bc(J->pt));
  first = mp->exact.traceno != J->cur.traceno || J->cur.nsnap == 0;
  if (first) {
    mp->exact.traceno = J->cur.traceno;
    lj_memprof_setexact(&mp->exact, J->cur.traceno, 1);
  } else if (mp->exact.pt == (void *)J->pt && mp->exact.line == line &&
             mp->exact.depth == J->framedepth) {
    return 0;
  }
  mp->exact.pt = J->pt;
  mp->exact.line = line;
  mp->exact.depth = J->framedepth;
  if (first || pc == J->startpc)
    return 0;
  /* A loop needs them twice. A trace that fails would be recorded worse. */
  if (2 * ((MSize)J->cur.nsnap + 8) >= (MSize)J->param[JIT_P_maxsnap]) {
    lj_memprof_setexact(&mp->exact, J->cur.traceno, 0);
    return 0;
  }
  return 1;
}

/* -- Start ---------------------------------------------------------------- */

/*
** Flushes traces that were compiled without line snapshots. Inside of a
** finalizer the VM does not allow it: then they remain, as approximate.
*/
void lj_memprof_linesstart(MPState *mp, lua_State *L)
{
  memset(mp->exact.trace, 0, sizeof(mp->exact.trace));
  if (mp->lines == LUAM_PROF_LINES_EXACT && !(mp->g->hookmask & HOOK_GC))
    luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_FLUSH);
}

#endif

#endif

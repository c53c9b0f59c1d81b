/*
** Takes a heap dump: in this process, or in a child of it.
*/

#define lj_heaptake_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <limits.h>

#include "lj_heapdump.h"
#include "lj_heapfork.h"
#include "lj_heaptake.h"
#include "lj_memprof_dump.h"

/* True if the options can be used as they are. */
static int take_check(lua_State *L, const struct luam_Prof_options *opt)
{
  size_t i;
  if (L == NULL || opt == NULL || opt->writer == NULL ||
      opt->strings > LJM_NAME_MAX || opt->reserved[LUAM_PROF_FORK] > 1 ||
      opt->reserved[LUAM_PROF_FORK_FD] > (uint64_t)INT_MAX + 1)
    return 0;
  if (opt->buffer != 0 &&
      (opt->buffer < LJM_BLOCK_MIN || opt->buffer > LJM_BLOCK_MAX))
    return 0;
  i = opt->reserved[LUAM_PROF_FORK] ? LUAM_PROF_FORK_DUMP + 1 : 0;
  for (; i < sizeof(opt->reserved) / sizeof(opt->reserved[0]); i++)
    if (opt->reserved[i] != 0)
      return 0;
  return 1;
}

int lj_heap_take(lua_State *L, MPState *mp, const struct luam_Prof_options *opt,
                 int inside)
{
  MPDump d;
  MPBuf buf;
  if (!take_check(L, opt) || !lj_heap_arelists(G(L)))
    return LUAM_PROFILE_ERR;
  if (opt->reserved[LUAM_PROF_FORK])
    return lj_heap_fork(L, mp, opt, NULL, inside);
  lj_heap_reap();
  /* Without memory for a dump the recording gets no record of it. */
  if (!lj_wbuf_init(&buf, lj_heap_bufsize(opt), 1))
    return LUAM_PROFILE_ERRMEM;
  lj_heap_init(&d, L, mp, opt, inside);
  lj_memprof_markdump(mp, &d.id);
  d.buf = buf;
  d.buf.writer = opt->writer;
  d.buf.arg = opt->arg;
  lj_heap_write(&d);
  lj_wbuf_free(&d.buf);
  return d.buf.error ? LUAM_PROFILE_ERRIO : LUAM_PROFILE_SUCCESS;
}

#endif

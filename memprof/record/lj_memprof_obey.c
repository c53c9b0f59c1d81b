/*
** Events of a recording that takes none, for now: the VM's thread executes an
** order that has come, or goes on as a child process.
*/

#define lj_memprof_obey_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lj_memprof_anew.h"
#include "lj_memprof_clock.h"
#include "lj_memprof_control.h"
#include "lj_memprof_file.h"
#include "lj_memprof_hooks.h"
#include "lj_memprof_limit.h"
#include "lj_memprof_obey.h"
#include "lj_memprof_state.h"
#include "lj_memprof_tail.h"
#include "lj_memprof_timer.h"
#include "lj_memprof_type.h"

/* -- Orders --------------------------------------------------------------- */

int lj_memprof_pausehook(MPHook *h, const void *ptr, size_t size)
{
  int good;
  if (!lj_memprof_claimpause(h))
    return 0;
  good = lj_memprof_pause(h->rec, ptr, size);
  lj_memprof_paused(h);
  return good;
}

/* Begins anew. Returns 0 if it cannot. */
static int obey_start(MPHook *h)
{
  int good;
  if (!lj_memprof_restart(h))
    return 0;
  good = lj_memprof_anew(h->rec);
  lj_memprof_resumed(h, good);
  return good;
}

/* Writes out what there is. Returns 0 if it cannot be written. */
static int obey_flush(MPHook *h)
{
  MPState *mp = h->rec;
  int saved = errno;
  lj_memprof_complete(mp, NULL, 0);
  lj_memprof_tryflush(mp);
  errno = saved;
  return !mp->buf.error && mp->anew.file->en == 0;
}

/* Executes an order. Returns 0 if that fails, or there is nothing to do. */
static int obey_execute(MPHook *h, int order, const char **idle)
{
  int paused = h->rec->anew.paused;
  *idle = NULL;
  if (order == MPORDER_START) {
    if (paused)
      return obey_start(h);
    *idle = "it is recording already";
    return 0;
  }
  if (paused) {
    *idle = "it is not recording";
    return 0;
  }
  return order == MPORDER_STOP ? lj_memprof_pausehook(h, NULL, 0)
                               : obey_flush(h);
}

/*
** Writes a heap dump, as the VM's own call would between two events: the
** recording takes its record, if it is not stopped. The recording may end
** meanwhile, by its time or the process's exit, and its file with it.
*/
static int obey_dump(MPHook *h)
{
  MPState *mp = h->rec;
  const char *why;
  char *name;
  int en;
  if (!mp->anew.paused && !mp->buf.error)
    lj_memprof_resume(h, mp);
  lj_memprof_leave(h);
  en = lj_memprof_orderdump(mp, &name, &why);
  lj_memprof_enter(h);
  if (name != NULL)
    lj_memprof_dumped(h, name);
  return lj_memprof_ordered(h, en, why);
}

/*
** Executes an order that waits, but not where a block is freed or becomes
** smaller (isfree): the VM's lists may not be whole then. Returns true if the
** event is to be recorded.
*/
static int obey_order(MPHook *h, int isfree)
{
  MPState *mp = h->rec;
  int order = __atomic_load_n(&h->order, __ATOMIC_ACQUIRE), good;
  const char *idle;
  const MPFile *f;
  if (order == MPORDER_NONE || mp == NULL || !lj_memprof_isinstalled(h))
    return 0;
  if (isfree) {
    if (mp->anew.paused || mp->buf.error)
      return 0;
    lj_memprof_resume(h, mp); /* Or the wrapper sees that its time is over. */
    return 1;
  }
  if (order == MPORDER_DUMP)
    return obey_dump(h);
  good = obey_execute(h, order, &idle);
  f = mp->anew.file;
  if (good)
    return lj_memprof_ordered(h, 0, NULL);
  if (idle != NULL)
    return lj_memprof_ordered(h, EINVAL, idle);
  return lj_memprof_ordered(h, f->en != 0 ? f->en : ECANCELED, f->why);
}

/* -- In a child process ---------------------------------------------------- */

/* Prints why there is no recording, if it was asked for by LJPROF. */
static void obey_complain(const MPFile *f)
{
  if (f->loud)
    fprintf(stderr, "LJPROF: not recording: %s: %s\n", f->path,
            f->why != NULL ? f->why : strerror(f->en));
}

/*
** In a child process, at an event that is no deallocation: continues the
** recording that the fork has copied, as one of the child's. Returns 0 if it
** does not; then this is not called again.
*/
static int obey_fork(MPHook *h)
{
  MPState *mp;
  int good;
  if (!lj_memprof_adopt(h)) {
    h->anew = NULL;
    return 0;
  }
  mp = h->rec;
  good = lj_memprof_tailleave(mp);
  lj_memprof_endtimer(mp); /* The thread is the parent's. */
  mp->detached = 0;
  if (good) {
    lj_memprof_leavefor(mp->anew.file);
    mp->anew.path = mp->anew.file->path; /* No other thread reads it yet. */
    lj_memprof_childlimit(mp);
    lj_memprof_childevery(mp);
    good = lj_memprof_anew(mp);
    if (!good)
      obey_complain(mp->anew.file);
  } else { /* The tail's memory is still the parent's. */
    mp->buf.error = 1;
    mp->anew.paused = 1;
  }
  if (good && mp->anew.control)
    lj_memprof_startcontrol();
  lj_memprof_resumed(h, good);
  if (!good)
    h->anew = NULL;
  return good;
}

/* -- Events ---------------------------------------------------------------- */

void *lj_memprof_obey(MPHook *h, void *ptr, size_t osize, size_t nsize)
{
  int saved = errno, on;
  void *p;
  if (lj_memprof_isowner(h))
    on = obey_order(h, nsize <= osize);
  else
    on = nsize != 0 && obey_fork(h);
  lj_memprof_leave(h);
  errno = saved;
  if (!on)
    return h->allocf(h->allocd, ptr, osize, nsize);
  p = h->wrapper(h, ptr, osize, nsize);
  lj_memprof_reorder(h);
  return p;
}

#endif

/*
** Processes and programs that begin.
*/

#include "begins.h"
#include "look.h"
#include "matching.h"
#include "pids.h"

/* The process with a number that lives; or NULL. */
static LsTarget *living(const LsSession *s, pid_t pid)
{
  LsTarget *t = ls_session_target(s, pid);
  return t && !t->gone ? t : NULL;
}

/* Events were lost: looks at all. */
static void on_lost(LsSession *s)
{
  size_t i;
  for (i = 0; i < s->ntarget; i++)
    s->target[i]->stale = 1;
  if (s->opt->all)
    ls_session_find_all(s);
  else if (s->opt->children)
    ls_pids_children(s);
}

/* -- With -a: programs without a LuaJIT, yet ------------------------------- */

/* Nanoseconds. */
#define YOUNG_FIRST 2000000  /* A program maps its files when it starts. */
#define YOUNG_LAST  32000000 /* Later it is met when it runs. */

/* Has a process looked at after PAUSE, and then after twice as long each time;
** after 0 once.
*/
static void add_young(LsSession *s, pid_t pid, uint64_t pause)
{
  LsYoung y = {pid, ls_session_now() + pause, pause};
  size_t i;
  for (i = 0; i < s->nyoung && s->young[i].pid != pid; i++)
    ;
  if (i == LS_YOUNG) /* Of very many, some are met later. */
    return;
  s->young[i] = y;
  s->nyoung += i == s->nyoung;
}

/* Takes a process that runs and is not sampled. */
static void on_stranger(void *ctx, pid_t pid)
{
  add_young(ctx, pid, 0);
}

void ls_begins_due(LsSession *s)
{
  uint64_t now = ls_session_now();
  size_t i, n = 0;
  for (i = 0; i < s->nyoung; i++) {
    LsYoung y = s->young[i];
    if (y.due <= now) {
      if (!living(s, y.pid) && ls_matching_wanted(s->opt, s->modules, y.pid))
        ls_session_add(s, y.pid);
      y.pause = y.pause > YOUNG_LAST / 2 || living(s, y.pid) ? 0 : y.pause * 2;
      if (!y.pause)
        continue;
      y.due = now + y.pause;
    }
    s->young[n++] = y;
  }
  s->nyoung = n;
}

uint64_t ls_begins_next(const LsSession *s)
{
  uint64_t first = UINT64_MAX;
  size_t i;
  for (i = 0; i < s->nyoung; i++)
    if (s->young[i].due < first)
      first = s->young[i].due;
  return first;
}

/* -- Events ---------------------------------------------------------------- */

/* There is a new process. The number may be that of one that has ended. */
static void on_fork(LsSession *s, pid_t pid)
{
  LsTarget *t = living(s, pid);
  if (t && !ls_target_ended(t))
    return;
  if (t)
    ls_session_gone(s, t);
  if (!ls_session_add(s, pid))
    ls_watch_drop(s->watch, pid);
}

/* A process runs another program. */
static void on_exec(LsSession *s, pid_t pid)
{
  LsTarget *t = living(s, pid);
  if (t)
    ls_look_started(t);
  else if (s->opt->all)
    add_young(s, pid, YOUNG_FIRST);
}

/* Takes an event of a process. */
static void on_begin(void *ctx, int what, pid_t pid)
{
  LsSession *s = ctx;
  if (what == LS_WATCH_LOST)
    on_lost(s);
  else if (what == LS_WATCH_FORK)
    on_fork(s, pid);
  else
    on_exec(s, pid);
}

void ls_begins_read(LsSession *s)
{
  ls_session_take(s); /* Sampled with the old mappings. */
  ls_watch_read(s->watch, on_begin, s);
}

int ls_begins_open(LsSession *s, char *why, size_t size)
{
  int all = s->opt->all;
  s->watch = ls_watch_open(s->opt->children || all, all, why, size);
  if (!s->watch)
    return -1;
  ls_sampler_strangers(s->sampler, on_stranger, s);
  return 0;
}

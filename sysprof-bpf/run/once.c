/*
** The stacks of all threads of the processes, once.
**
** A thread that runs is sampled by the clock of its CPU. One that waits is not:
** its registers are those with which it entered the kernel, and its stack does
** not change. So it is walked in user space, and that is of one moment if the
** thread has not run until the kernel is asked again. No thread is stopped.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "once.h"
#include "say.h"

#define LOOKS    80 /* At all threads: 0.4 s. */
#define PAUSE_NS 5000000

/* -- Threads -------------------------------------------------------------- */

static LsOnceThread *find_thread(const LsOnce *o, uint32_t tid)
{
  size_t i;
  for (i = 0; i < o->n; i++)
    if (o->thread[i].now.tid == tid)
      return &o->thread[i];
  return NULL;
}

static LsOnceThread *add_thread(LsOnce *o, const struct ljs_thread *now)
{
  LsTarget *t = ls_session_target(o->s, (pid_t)now->pid);
  LsOnceThread *more;
  if (!t)
    return NULL;
  more = realloc(o->thread, (o->n + 1) * sizeof(*more));
  if (!more) {
    o->err = ENOMEM;
    return NULL;
  }
  o->thread = more;
  more += o->n++;
  *more = (LsOnceThread){.target = t, .now = *now};
  return more;
}

static void keep_stack(LsOnce *o, LsOnceThread *th, const struct ljs_stack *st)
{
  size_t size =
      offsetof(struct ljs_stack, frame) + st->nframes * sizeof(*st->frame);
  free(th->stack);
  th->stack = malloc(sizeof(*th->stack));
  if (th->stack)
    memcpy(th->stack, st, size);
  else
    o->err = ENOMEM;
}

/* -- Looking -------------------------------------------------------------- */

/* Takes a thread as it is now. If it has not run since its stack was walked,
** the stack is right.
*/
static void see_thread(void *ctx, const struct ljs_thread *now)
{
  LsOnce *o = ctx;
  LsOnceThread *th = find_thread(o, now->tid);
  if (!th)
    th = add_thread(o, now);
  if (!th)
    return;
  th->gone = 0;
  if (th->done)
    return;
  if (th->stack && !now->running && now->switches == th->now.switches)
    th->done = 1;
  th->now = *now;
}

/* Looks at all threads. Returns 0, or -1. */
static int look_at_all(LsOnce *o)
{
  size_t i;
  for (i = 0; i < o->n; i++)
    o->thread[i].gone = 1;
  if (ls_sampler_threads(o->s->sampler, see_thread, o) && !o->err)
    o->err = errno;
  return o->err ? -1 : 0;
}

/* Walks the stacks of those that wait. */
static void walk_waiting(LsOnce *o)
{
  size_t i;
  for (i = 0; i < o->n; i++) {
    LsOnceThread *th = &o->thread[i];
    if (!th->done && !th->gone && !th->now.running)
      keep_stack(o, th, ls_userwalk(o->s->walk, th->target, &th->now));
  }
}

/* Takes the stack of a thread that runs. */
static void take_sample(void *ctx, const struct ljs_stack *st)
{
  LsOnce *o = ctx;
  LsOnceThread *th = find_thread(o, st->tid);
  if (!th || th->done)
    return;
  keep_stack(o, th, st);
  th->done = th->ran = 1;
}

/* Whether there are threads without a stack. */
static int is_missing(const LsOnce *o)
{
  size_t i;
  for (i = 0; i < o->n; i++)
    if (!o->thread[i].done && !o->thread[i].gone)
      return 1;
  return 0;
}

static void look_until_done(LsOnce *o)
{
  struct timespec pause = {0, PAUSE_NS};
  int looks;
  for (looks = 0; looks < LOOKS && !o->err; looks++) {
    if (look_at_all(o))
      return;
    walk_waiting(o);
    if (look_at_all(o))
      return;
    ls_sampler_stacks(o->s->sampler, take_sample, o);
    if (!is_missing(o))
      return;
    nanosleep(&pause, NULL);
  }
}

/* -- All of it ------------------------------------------------------------ */

static size_t print_all(const LsOnce *o)
{
  size_t i, missing = 0;
  int json = o->s->opt->json;
  if (json)
    printf("{\"processes\":[");
  for (i = 0; i < o->s->ntarget; i++)
    missing += ls_once_print(o, o->s->target[i], i == 0);
  if (json)
    printf("]}\n");
  return missing;
}

/* Standard output could not be written. Returns the exit status. */
static int report_write(void)
{
  ls_fail("standard output: %s", strerror(errno));
  return LS_EXIT_NOTHING;
}

static void close_once(LsOnce *o)
{
  size_t i;
  for (i = 0; i < o->n; i++)
    free(o->thread[i].stack);
  free(o->thread);
}

int ls_once(LsSession *s)
{
  LsOnce o = {.s = s};
  size_t missing = 0;
  int status = 0;
  look_until_done(&o);
  ls_sampler_stop(s->sampler);
  if (o.err)
    ls_fail("cannot look at threads: %s", strerror(o.err));
  else if (!o.n)
    ls_fail("the process has ended");
  else
    missing = print_all(&o);
  if (o.err || !o.n)
    status = LS_EXIT_NOTHING;
  else if (fflush(stdout) || ferror(stdout))
    status = report_write();
  else if (missing)
    status = LS_EXIT_STRICT;
  close_once(&o);
  return status;
}

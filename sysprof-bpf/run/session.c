/*
** One run of the sampler.
**
** The BPF program counts stacks in one of two tables. At each turn the one that
** was in use until the last turn is emptied into the output; since then nothing
** writes to it, and all of its stacks have come.
*/

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "look.h"
#include "matching.h"
#include "session.h"

uint64_t ls_session_now(void)
{
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* -- Processes ------------------------------------------------------------ */

LsTarget *ls_session_target(const LsSession *s, pid_t pid)
{
  size_t i = s->ntarget;
  while (i--)
    if (s->target[i]->pid == pid)
      return s->target[i];
  return NULL;
}

LsTarget *ls_session_add(LsSession *s, pid_t pid)
{
  LsTarget *t, **more;
  if (s->ntarget == LS_TARGETS_MAX) {
    errno = ENOSPC;
    return NULL;
  }
  more = realloc(s->target, (s->ntarget + 1) * sizeof(LsTarget *));
  if (!more)
    return NULL;
  s->target = more;
  t = ls_target_open(pid);
  if (!t)
    return NULL;
  ls_watch_add(s->watch, pid);
  if (ls_look(s, t) < 0) {
    int err = errno;
    ls_watch_drop(s->watch, pid);
    ls_target_close(t);
    errno = err;
    return NULL;
  }
  s->target[s->ntarget++] = t;
  return t;
}

void ls_session_find_all(LsSession *s)
{
  DIR *dir = opendir("/proc");
  struct dirent *de;
  while (dir && (de = readdir(dir))) {
    char *end;
    long pid = strtol(de->d_name, &end, 10);
    if (pid > 0 && !*end && !ls_session_target(s, (pid_t)pid) &&
        ls_matching_wanted(s->opt, s->modules, (pid_t)pid))
      ls_session_add(s, (pid_t)pid);
  }
  if (dir)
    closedir(dir);
}

void ls_session_gone(LsSession *s, LsTarget *t)
{
  t->gone = 1;
  ls_watch_drop(s->watch, t->pid);
  ls_sampler_forget(s->sampler, t->pid);
}

/* -- Samples -------------------------------------------------------------- */

/* Checks the VM of a stack against its layout. If they do not agree, the VM in
** that module is not used any more.
*/
static void look_at_vm(LsSession *s, LsTarget *t, const struct ljs_stack *st)
{
  LsModule *m = st->g ? ls_modules_slot(s->modules, st->module) : NULL;
  if (!m || !m->hasvm || ls_target_trust(t, m, st->g, s->why) >= 0)
    return;
  m->hasvm = 0;
  m->distrusted = 1;
  ls_sampler_distrust(s->sampler, m->slot);
  if (s->walk)
    ls_userwalk_distrust(s->walk, m->slot);
  s->doubt = t;
}

size_t ls_session_sites(LsSession *s, LsTarget *t, const struct ljs_stack *st,
                        uint32_t site[LS_SITES_MAX])
{
  look_at_vm(s, t, st);
  ls_look_addresses(s, t, st);
  return ls_resolve(&s->resolver, t, st, site);
}

static void take_stack(void *ctx, const struct ljs_stack *st)
{
  LsSession *s = ctx;
  struct ljs_key key = {st->key, st->pid, st->tid};
  LsTarget *t = ls_session_target(s, (pid_t)st->pid);
  uint32_t site[LS_SITES_MAX];
  size_t n;
  if (!t)
    return;
  ls_stacks_name(&s->stacks, &key, st->name);
  if (ls_stacks_seen(&s->stacks, &key))
    return;
  n = ls_session_sites(s, t, st, site);
  ls_stacks_add(&s->stacks, &key,
                ls_resolve_cut(&s->resolver, st->cut, site, n), site, n);
}

void ls_session_take(LsSession *s)
{
  static struct ljs_stack late;
  while (ls_backlog_take(&s->backlog, &late))
    take_stack(s, &late);
  s->taking = 1;
  ls_sampler_stacks(s->sampler, take_stack, s);
  s->taking = 0;
}

static void keep_stack(void *ctx, const struct ljs_stack *st)
{
  LsSession *s = ctx;
  ls_backlog_add(&s->backlog, st); /* Without memory it is lost, and counted. */
}

void ls_session_collect(LsSession *s)
{
  if (s->start && !s->taking && !ls_backlog_full(&s->backlog))
    ls_sampler_stacks(s->sampler, keep_stack, s);
}

/* Counts samples in the native code of a VM, with a name or without. */
static void count_vm(LsSession *s, const LsNamedStack *st, uint64_t count)
{
  const LsSite *site = NULL;
  unsigned flags = 0;
  uint32_t i;
  for (i = 0; i < st->n; i++) {
    site = ls_sitetable_get(s->resolver.sites, st->site[i]);
    flags |= site ? site->flags : 0;
  }
  if (flags & LS_BLIND)
    s->stats.blind += count;
  if (!site || site->kind != LS_NATIVE || !(site->flags & LS_OFVM))
    return;
  s->stats.vm += count;
  if (!site->name || !*site->name)
    s->stats.vm_unnamed += count;
}

static void take_count(void *ctx, const struct ljs_key *key, uint64_t count)
{
  LsSession *s = ctx;
  LsNamedStack *st = ls_stacks_find(&s->stacks, key);
  LsTarget *t = ls_session_target(s, (pid_t)key->pid);
  LsProcess p;
  if (!st || !t) {
    s->stats.lost += count;
    return;
  }
  p = (LsProcess){(uint32_t)t->pid, 0, t->start, t->command, t->cgroup};
  s->stats.delivered += count;
  if (st->cut < LJS_CUT_REASONS)
    s->stats.cut[st->cut] += count;
  count_vm(s, st, count);
  st->thread = ls_stacks_thread(&s->stacks, key);
  s->output->sample(s->output, &p, st, count);
}

#define SITES_KEPT (4u << 20) /* Of all stacks: 16 MiB. */

#define GONE_TURNS 3 /* Until all that was sampled of a process has come. */

/* CPU time that was sampled. */
static uint64_t used_cpu(const LsTarget *t)
{
  return t->sampled && t->cpu_now > t->cpu_before ? t->cpu_now - t->cpu_before
                                                  : 0;
}

/* Forgets processes that have ended some turns ago. Their CPU time stays. */
static void forget_gone(LsSession *s)
{
  size_t i, n = 0;
  for (i = 0; i < s->ntarget; i++) {
    LsTarget *t = s->target[i];
    if (t->gone && t->gone++ > GONE_TURNS) {
      s->cpu_gone += used_cpu(t);
      ls_target_close(t);
    } else {
      s->target[n++] = t;
    }
  }
  s->ntarget = n;
}

/* Frees modules that no process has mapped for some time. */
static void sweep(LsSession *s)
{
  size_t i;
  uint32_t k;
  ls_modules_turn(s->modules);
  for (i = 0; i < s->ntarget; i++)
    ls_refused_held(&s->refused, s->target[i]);
  for (i = 0; i < s->ntarget; i++)
    for (k = 0; k < s->target[i]->image.nmaps; k++)
      ls_modules_use(s->modules, s->target[i]->image.map[k].module);
  ls_modules_sweep(s->modules);
}

void ls_session_turn(LsSession *s)
{
  ls_session_take(s);
  if (s->turned) /* The end of the interval of those counts. */
    s->output->time(s->output, s->turned);
  ls_sampler_counts(s->sampler, take_count, s);
  s->turned = ls_session_now() - s->start;
  ls_stacks_turn(&s->stacks, SITES_KEPT);
  ls_sampler_switch(s->sampler);
  forget_gone(s);
  sweep(s);
}

/* A process has ended and was waited for. */
static void take_end(void *ctx, pid_t pid, uint64_t cpu)
{
  LsSession *s = ctx;
  size_t i;
  for (i = 0; i < s->ntarget; i++) {
    LsTarget *t = s->target[i];
    if (t->pid != pid || t->cpu_final || !ls_target_ended(t))
      continue;
    t->cpu_now = cpu;
    t->cpu_final = 1;
    return;
  }
}

/* Whether the CPU time of a process is known, as it is now or at its end. For
** some milliseconds after it was waited for it is not.
*/
static int know_cpu(LsTarget *t)
{
  int ended = t->gone || ls_target_ended(t);
  if (!t->cpu_final && t->sampled) {
    if (ls_target_cpu(t))
      return 0;
    t->cpu_final = ended;
  }
  return 1;
}

int ls_session_cpu(LsSession *s)
{
  uint64_t count[LJS_STATISTICS], sum = s->cpu_gone;
  size_t i;
  ls_sampler_ends(s->sampler, take_end, s);
  for (i = 0; i < s->ntarget; i++) {
    if (!know_cpu(s->target[i]))
      return -1;
    sum += used_cpu(s->target[i]);
  }
  ls_sampler_statistics(s->sampler, count);
  s->stats.cpu_ns = sum;
  s->stats.cpu_fired = count[LJS_FIRED];
  return 0;
}

#define LOOKS 50 /* For the last CPU time: 0.2 s. */

/* Waits for the CPU time. Without it, the last value read stays. */
static void last_cpu(LsSession *s)
{
  struct timespec pause = {0, 4000000};
  int i;
  for (i = 0; i < LOOKS && ls_session_cpu(s); i++)
    nanosleep(&pause, NULL);
}

void ls_session_begin(LsSession *s)
{
  size_t i;
  s->start = ls_session_now();
  for (i = 0; i < s->ntarget; i++)
    if (s->target[i]->sampled)
      ls_target_cpubegin(s->target[i]);
}

/* CPU time of all children that have ended and were waited for, theirs too. */
static uint64_t children_cpu(void)
{
  struct rusage ru;
  if (getrusage(RUSAGE_CHILDREN, &ru))
    return 0;
  return (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000000 +
         (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000;
}

/* Takes over the counters of the BPF program, and for a command its CPU time
** from the kernel.
*/
static void sum_up(LsSession *s)
{
  uint64_t count[LJS_STATISTICS], cpu = s->opt->command ? children_cpu() : 0;
  ls_sampler_statistics(s->sampler, count);
  if (cpu > s->stats.cpu_ns) {
    s->stats.cpu_ns = cpu;
    s->stats.cpu_fired = count[LJS_FIRED];
  }
  s->stats.fired = count[LJS_FIRED];
  s->stats.dropped_ring = count[LJS_DROPPED_RING];
  s->stats.dropped_full = count[LJS_DROPPED_FULL];
  s->stats.dropped_busy = count[LJS_DROPPED_BUSY];
  s->stats.woken = count[LJS_WOKEN];
  s->stats.complete = s->stats.cut[LJS_CUT_NOT];
  s->stats.ns = ls_session_now() - s->start;
}

void ls_session_finish(LsSession *s)
{
  struct timespec grace = {0, 5000000};
  ls_sampler_stop(s->sampler);
  last_cpu(s);
  nanosleep(&grace, NULL); /* For programs that run right now. */
  ls_session_turn(s);
  ls_session_turn(s);
  sum_up(s);
}

void ls_session_close(LsSession *s)
{
  static struct ljs_stack late;
  size_t i;
  while (ls_backlog_take(&s->backlog, &late))
    ;
  for (i = 0; i < s->ntarget; i++)
    ls_target_close(s->target[i]);
  free(s->target);
  ls_stacks_clear(&s->stacks);
  ls_watch_close(s->watch);
  ls_kallsyms_close(s->resolver.kernel);
  ls_sitetable_close(s->resolver.sites);
  ls_modules_close(s->modules);
  ls_parser_end(s->parser);
  ls_userwalk_close(s->walk);
  ls_sampler_close(s->sampler);
}

/*
** When the mappings of processes are read.
*/

#include "look.h"

static void upload(LsSession *s, LsTarget *t)
{
  if (t->image.nvm)
    s->found = 1;
  if (!t->image.nvm && !s->opt->any && !s->opt->command && !s->opt->expect)
    return;
  ls_sampler_process(s->sampler, t->pid, &t->image);
  if (!t->sampled)
    ls_target_cpubegin(t);
  t->sampled = 1;
}

/* -- Time ------------------------------------------------------------------ */

#define MS 1000000u

/* A process has one part of our time in so many, and nanoseconds of it in
** advance: programs that start map one file after the other.
*/
#define SHARES  30
#define ADVANCE (20 * MS)

/* Until when it is not looked at, as CLOCK_MONOTONIC. */
static uint64_t not_before(const LsTarget *t)
{
  uint64_t advance = (uint64_t)ADVANCE * SHARES;
  return t->paid > advance ? t->paid - advance : 0;
}

/* It was looked at for NS nanoseconds until NOW. */
static void charge(LsTarget *t, uint64_t now, uint64_t ns)
{
  t->paid = (t->paid > now ? t->paid : now) + ns * SHARES;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* When it is looked at next. */
static uint64_t due(const LsTarget *t)
{
  return larger(t->stale ? 0 : t->again, not_before(t));
}

#define PAUSE_FIRST   MS          /* After a program was started; then twice */
#define PAUSE_MOST    (2000 * MS) /* as long each time, at most this, */
#define PAUSE_WITHOUT (500 * MS)  /* or, if there is no LuaJIT yet, this; */
#define PAUSE_SHARE   (20 * MS)   /* but longer with more processes, */
#define PAUSE_LOOKS   200         /* and than so many looks take. */

/* Plans the next look at a process. The last one took NS nanoseconds. */
static void plan(const LsSession *s, LsTarget *t, uint64_t now, uint64_t ns)
{
  uint64_t most = t->image.nvm ? PAUSE_MOST : PAUSE_WITHOUT;
  most = larger(most, s->ntarget * (uint64_t)PAUSE_SHARE);
  most = larger(most, ns * PAUSE_LOOKS);
  t->pause = t->pause && t->pause < most / 2 ? t->pause * 2 : most;
  t->again = now + t->pause;
}

void ls_look_started(LsTarget *t)
{
  t->stale = t->other = 1;
  t->pause = PAUSE_FIRST / 2;
  t->vain = t->patience = 0;
}

/* -- Looking --------------------------------------------------------------- */

#define SLICE_NS    20000000 /* For files of one process, until others' turn. */
#define SLICE_FILES 2        /* At first. To read one takes milliseconds. */

/* With -a, whoever has many files does not keep others waiting. */
static int is_long(const LsSession *s, uint64_t since)
{
  return s->opt->all && ls_session_now() > since + SLICE_NS;
}

int ls_look(LsSession *s, LsTarget *t)
{
  int learn = s->opt->all ? SLICE_FILES : LS_MODULES_MAX, changed;
  uint32_t kept = ls_modules_kept(s->modules);
  uint64_t before = ls_session_now(), now;
  s->looking = before;
  if (t->sampled)
    learn = 0;
  for (;;) {
    changed = ls_target_refresh(t, s->modules, learn);
    if (changed > 0)
      upload(s, t);
    if (changed < 0 || !t->stale || learn >= LS_MODULES_MAX ||
        is_long(s, before))
      break;
    learn = learn ? learn * 2 : 1;
  }
  s->looking = 0;
  now = ls_session_now();
  if (kept != ls_modules_kept(s->modules)) /* New files have their budget. */
    before = now;
  charge(t, now, now - before);
  plan(s, t, now, now - before);
  if (changed >= 0)
    ls_refused_note(&s->refused, t);
  return changed < 0 ? -1 : 0;
}

void ls_look_due(LsSession *s, int (*stop)(const void *ctx), const void *ctx)
{
  uint64_t now = ls_session_now();
  size_t i;
  for (i = 0; i < s->ntarget; i++)
    if (!s->target[i]->gone && due(s->target[i]) <= now) {
      if (stop(ctx))
        return;
      ls_look(s, s->target[i]);
    }
}

uint64_t ls_look_next(const LsSession *s)
{
  uint64_t first = UINT64_MAX;
  size_t i;
  for (i = 0; i < s->ntarget; i++)
    if (!s->target[i]->gone && due(s->target[i]) < first)
      first = due(s->target[i]);
  return first;
}

#define BEFORE_NS (1000 * MS) /* For one process, until sampling begins. */

int ls_look_early(const LsSession *s)
{
  return s->opt->all && !s->start && s->looking &&
         ls_session_now() > s->looking + BEFORE_NS;
}

/* -- Addresses ------------------------------------------------------------- */

#define PATIENCE_MOST (1000 * MS) /* Between two looks in vain. */

/* Whether a frame is in no module that is known. A C function that Lua called
** is known by its address, but for the VM's own.
*/
static int is_unknown(const LsSession *s, const LsTarget *t,
                      const struct ljs_frame *f)
{
  const struct ljs_map *map;
  if (f->kind != LJS_FRAME_NATIVE && (f->kind != LJS_FRAME_BUILTIN || f->x > 1))
    return 0;
  map = ls_target_map(t, f->addr);
  return !map || !ls_modules_slot(s->modules, map->module);
}

/* Looks for the module of a frame. Code that is in no file stays unknown: looks
** in vain are further and further apart.
*/
static void look_for(LsSession *s, LsTarget *t, const struct ljs_frame *f)
{
  uint64_t now = ls_session_now();
  if (now < t->vain || now < not_before(t))
    return;
  ls_look(s, t);
  if (!is_unknown(s, t, f)) {
    t->patience = 0;
    return;
  }
  t->patience = t->patience ? t->patience * 2 : MS;
  if (t->patience > PATIENCE_MOST)
    t->patience = PATIENCE_MOST;
  t->vain = ls_session_now() + t->patience;
}

void ls_look_addresses(LsSession *s, LsTarget *t, const struct ljs_stack *st)
{
  uint32_t i;
  for (i = 0; i < st->nframes && i < LJS_MAX_FRAMES; i++)
    if (is_unknown(s, t, &st->frame[i])) {
      look_for(s, t, &st->frame[i]);
      return;
    }
}

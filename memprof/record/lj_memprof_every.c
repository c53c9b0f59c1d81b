/*
** Heap dumps that a recording takes again and again: what a ladder of dumps is
** made of. One that cannot be written is left out, and so is one that is due
** while the one before is being written.
*/

#define lj_memprof_every_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lj_heapdump.h"
#include "lj_heapfork.h"
#include "lj_memprof_dumpname.h"
#include "lj_memprof_every.h"
#include "lj_memprof_file.h"
#include "lj_memprof_state.h"
#include "lj_memprof_time.h"

/* -- Options --------------------------------------------------------------- */

/* The word of the options: that of the marks is below it. */
static uint64_t every_word(const struct luam_Prof_options *opt)
{
  return opt->reserved[LUAM_PROF_MARKS] >> LUAM_EVERY_SHIFT;
}

/* The dumps that are kept. */
static unsigned every_keep(uint64_t word)
{
  return (unsigned)(word >> 32) & LUAM_EVERY_KEEPMAX;
}

int lj_memprof_checkevery(const struct luam_Prof_options *opt)
{
  uint64_t word = every_word(opt);
  uint64_t known = (LUAM_EVERY_KIB(0, LUAM_EVERY_KEEPMAX) >> LUAM_EVERY_SHIFT) |
                   ~(uint32_t)0;
  return word == 0 ||
         ((uint32_t)word != 0 && every_keep(word) != 0 &&
          (word & ~known) == 0 && opt->reserved[LUAM_PROF_LIMIT_NAME] != 0);
}

/*
** The time of the kernel's last tick: it is asked for at each allocation, and
** costs a quarter of lj_memprof_now().
*/
static uint64_t every_now(void)
{
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
  return (uint64_t)ts.tv_sec * (1000 * MP_MS) + (uint64_t)ts.tv_nsec;
}

/* The next dump is due some time, or some bytes, from here on. */
static void every_next(MPEvery *e, uint64_t now, uint64_t bytes)
{
  e->due = e->ns != 0 ? now + e->ns : bytes + e->bytes;
}

int lj_memprof_newevery(MPState *mp, const struct luam_Prof_options *opt)
{
  MPEvery *e = &mp->every;
  uint64_t word = every_word(opt);
  if (word == 0)
    return 1;
  e->keep = every_keep(word);
  e->kept = (unsigned *)calloc(e->keep, sizeof(*e->kept));
  if (opt->reserved[LUAM_PROF_MARKS] & LUAM_EVERY_BYTES)
    e->bytes = (uint64_t)(uint32_t)word << 10;
  else
    e->ns = (uint32_t)word * MP_MS;
  every_next(e, every_now(), (uint64_t)mp->g->gc.total);
  return e->kept != NULL;
}

void lj_memprof_childevery(MPState *mp)
{
  MPEvery *e = &mp->every;
  e->number = e->nkept = 0;
  e->last.id = 0; /* It is the parent's. */
  if (e->due != 0)
    every_next(e, every_now(), (uint64_t)mp->g->gc.total);
}

void lj_memprof_freeevery(MPState *mp)
{
  MPEvery *e = &mp->every;
  if (e->last.id != 0)
    lj_heap_forget(mp->g, e->last.id);
  free(e->kept);
  e->kept = NULL;
  e->due = 0;
}

/* -- Dumps ----------------------------------------------------------------- */

/* The name of a dump: heap.0001.ljd. Returns NULL without memory. */
static char *every_name(const MPState *mp, unsigned number)
{
  char word[24];
  snprintf(word, sizeof(word), "%04u", number);
  return lj_memprof_dumpname(mp->limit.name, word);
}

/* True if the last dump is over. One that is whole is one of those kept. */
static int every_isover(MPEvery *e, lua_State *L)
{
  if (e->last.id == 0)
    return 1;
  if (luaM_memprof_dumpstatus(L, &e->last) == LUAM_PROFILE_SUCCESS &&
      e->last.state == LUAM_DUMP_RUNNING)
    return 0;
  if (e->last.state == LUAM_DUMP_DONE) {
    if (e->nkept == e->keep) /* The oldest one has gone away for it. */
      memmove(e->kept, e->kept + 1, --e->nkept * sizeof(*e->kept));
    e->kept[e->nkept++] = e->number;
  }
  e->last.id = 0;
  return 1;
}

/* Has a child write the next dump to a file. Returns 0 if it cannot. */
static int every_fork(MPState *mp, lua_State *L, MPFile *f)
{
  MPEvery *e = &mp->every;
  struct luam_Prof_options opt;
  memset(&opt, 0, sizeof(opt));
  opt.writer = lj_memprof_writefile;
  opt.arg = f;
  opt.reserved[LUAM_PROF_FORK] = 1;
  opt.reserved[LUAM_PROF_FORK_DUMP] = (uint64_t)(uintptr_t)&e->last;
  if (e->nkept == e->keep)
    f->drop = every_name(mp, e->kept[0]);
  if ((e->nkept < e->keep || f->drop != NULL) &&
      lj_heap_fork(L, mp, &opt, f, 1) == LUAM_PROFILE_SUCCESS)
    return 1;
  e->last.id = 0;
  lj_memprof_dropfile(f);
  return 0;
}

/* Begins the next dump. */
static void every_dump(MPState *mp, lua_State *L)
{
  char *name = every_name(mp, ++mp->every.number);
  MPFile *f = (MPFile *)malloc(sizeof(MPFile));
  if (f == NULL || name == NULL || !lj_memprof_openfile(f, name) ||
      !every_fork(mp, L, f))
    free(f);
  free(name);
}

void lj_memprof_every(MPState *mp, uint64_t bytes)
{
  MPEvery *e = &mp->every;
  uint64_t now = e->ns != 0 ? every_now() : 0;
  global_State *g = mp->g;
  lua_State *L;
  int saved;
  if (LJ_LIKELY((e->ns != 0 ? now : bytes) < e->due))
    return;
  saved = errno;
  L = gcref(g->cur_L) ? gco2th(gcref(g->cur_L)) : mainthread(g);
  if (mp->buf.pid == (long)getpid() && lj_heap_arelists(g) &&
      every_isover(e, L))
    every_dump(mp, L);
  every_next(e, now, bytes);
  errno = saved;
}

#endif

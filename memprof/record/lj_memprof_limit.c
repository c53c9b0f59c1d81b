/*
** Heap dumps that a recording takes by itself. Only recordings with a limit
** have a wrapper for it: the events of others do not pay for that.
**
** A dump is taken in the allocator, before an allocation or when one has
** failed. There, all lists of the VM can be walked: what it is making is not in
** them yet, has no parts yet, or can be told (heap_isunread() in
** lj_heapcode.c). That does not hold of deallocations: while the VM sweeps
** strings, what it has freed may begin a chain. See also the tests in
** test/unit/memprof/test_dumped.c, which try each allocation of a program.
*/

#define lj_memprof_limit_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lj_heaptake.h"
#include "lj_memprof_dumpname.h"
#include "lj_memprof_file.h"
#include "lj_memprof_hook.h"
#include "lj_memprof_limit.h"
#include "lj_memprof_state.h"

#define LIMIT_MORE 8 /* Bytes of a suffix. */

/* -- Options --------------------------------------------------------------- */

int lj_memprof_checklimit(const struct luam_Prof_options *opt)
{
  const char *name =
      (const char *)(uintptr_t)opt->reserved[LUAM_PROF_LIMIT_NAME];
  if (opt->reserved[LUAM_PROF_LIMIT] == 0)
    return name == NULL;
  return name != NULL && *name != '\0';
}

int lj_memprof_newlimit(MPState *mp, const struct luam_Prof_options *opt)
{
  const char *name =
      (const char *)(uintptr_t)opt->reserved[LUAM_PROF_LIMIT_NAME];
  char *dir;
  size_t n;
  mp->limit.bytes = opt->reserved[LUAM_PROF_LIMIT];
  if (mp->limit.bytes == 0)
    return 1;
  /* The program may change its directory. */
  dir = *name != '/' ? getcwd(NULL, 0) : NULL;
  n = (dir ? strlen(dir) : 0) + strlen(name) + 2;
  mp->limit.name = (char *)malloc(n);
  if (mp->limit.name != NULL)
    snprintf(mp->limit.name, n, "%s%s%s", dir ? dir : "", dir ? "/" : "", name);
  free(dir);
  return mp->limit.name != NULL;
}

void lj_memprof_freelimit(MPState *mp)
{
  free(mp->limit.name);
  free(mp->limit.ordered);
  mp->limit.name = mp->limit.ordered = NULL;
}

/* -- Dumps ----------------------------------------------------------------- */

void lj_memprof_childlimit(MPState *mp)
{
  MPLimit *m = &mp->limit;
  char word[24], *name;
  free(m->ordered); /* Nobody else looks at it yet. */
  m->ordered = NULL;
  m->dumps = 0;
  if (m->name == NULL)
    return;
  snprintf(word, sizeof(word), "%ld", (long)getpid());
  name = lj_memprof_dumpname(m->name, word);
  if (name == NULL) { /* It must not have its parent's name. */
    m->bytes = ~(uint64_t)0;
    m->failed = 1;
    return;
  }
  free(m->name);
  m->name = name;
  m->failed = 0;
}

/*
** Writes a dump to a file, which gets its name when it is whole. Returns 0, or
** an errno and *why, a static string or NULL.
*/
static int limit_write(global_State *g, const char *name, const char **why)
{
  lua_State *L = gcref(g->cur_L) ? gco2th(gcref(g->cur_L)) : mainthread(g);
  struct luam_Prof_options opt;
  MPFile f;
  int status;
  memset(&opt, 0, sizeof(opt));
  opt.writer = lj_memprof_writefile;
  opt.arg = &f;
  if (!lj_memprof_openfile(&f, name)) {
    *why = f.why;
    return f.en;
  }
  status = lj_heap_take(L, lj_memprof_state(g), &opt, 1);
  if (status == LUAM_PROFILE_ERRMEM)
    lj_memprof_filefail(&f, ENOMEM, NULL);
  if (status == LUAM_PROFILE_SUCCESS && lj_memprof_namefile(&f)) {
    lj_memprof_closefile(&f);
    *why = f.why;
    return f.en;
  }
  *why = f.why;
  status = f.en != 0 ? f.en : EIO;
  lj_memprof_dropfile(&f);
  return status;
}

/* A child of fork() has nothing to do with its parent's limits. */
static void limit_dump(MPState *mp, const char *word)
{
  int saved = errno;
  const char *why;
  char *name = NULL;
  if (mp->buf.pid == (long)getpid())
    name = lj_memprof_dumpname(mp->limit.name, word);
  if (name != NULL)
    limit_write(mp->g, name, &why);
  free(name);
  errno = saved;
}

/* Numbers the next dump: the first one has no word in its name. */
static void limit_next(MPLimit *m, char word[24])
{
  *word = '\0';
  if (++m->dumps > 1)
    snprintf(word, 24, "%u", m->dumps);
}

/* The VM is about to have more bytes than the limit, which doubles. */
static LJ_NOINLINE void limit_passed(MPState *mp, uint64_t bytes)
{
  MPLimit *m = &mp->limit;
  char word[24];
  do
    m->bytes = m->bytes <= ~(uint64_t)0 / 2 ? 2 * m->bytes : ~(uint64_t)0;
  while (m->bytes < bytes);
  limit_next(m, word);
  limit_dump(mp, word);
}

/* An allocation has failed: the VM will raise an error. */
static LJ_NOINLINE void limit_failed(MPState *mp)
{
  if (mp->limit.failed)
    return;
  mp->limit.failed = 1;
  limit_dump(mp, "oom");
}

/* -- Orders ---------------------------------------------------------------- */

/*
** The name of the first dump: with a limit it is known, else it is the
** recording's, with another suffix if that is .ljm. Returns NULL without
** memory.
*/
static char *limit_first(const MPState *mp)
{
  const char *path = mp->limit.name != NULL ? mp->limit.name : mp->anew.path;
  size_t len = strlen(path), n = len + LIMIT_MORE;
  char *name = (char *)malloc(n);
  if (mp->limit.name == NULL && len > 4 && strcmp(path + len - 4, ".ljm") == 0)
    len -= 4;
  if (name != NULL)
    snprintf(name, n, "%.*s%s", (int)len, path,
             mp->limit.name == NULL ? ".ljd" : "");
  return name;
}

int lj_memprof_orderdump(MPState *mp, char **name, const char **why)
{
  char word[24], *first = limit_first(mp);
  int en = ENOMEM;
  limit_next(&mp->limit, word);
  *name = first != NULL ? lj_memprof_dumpname(first, word) : NULL;
  free(first);
  *why = NULL;
  if (*name != NULL)
    en = limit_write(mp->g, *name, why);
  if (en == 0)
    return 0;
  free(*name);
  *name = NULL;
  return en;
}

/* -- The allocator's wrapper ----------------------------------------------- */

void *lj_memprof_limited(void *ud, void *ptr, size_t osize, size_t nsize)
{
  MPHook *h = (MPHook *)ud;
  MPState *mp = lj_memprof_active(h);
  uint64_t bytes;
  void *p;
  if (mp == NULL || nsize == 0)
    return h->wrapper(ud, ptr, osize, nsize);
  bytes = (uint64_t)h->g->gc.total + (nsize > osize ? nsize - osize : 0);
  if (LJ_UNLIKELY(bytes > mp->limit.bytes))
    limit_passed(mp, bytes);
  if (mp->every.due != 0)
    lj_memprof_every(mp, bytes);
  p = h->wrapper(ud, ptr, osize, nsize);
  /* The event may have ended the recording. */
  if (LJ_UNLIKELY(p == NULL) && (mp = lj_memprof_active(h)) != NULL)
    limit_failed(mp);
  return p;
}

#endif

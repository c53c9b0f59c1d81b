/*
** Writers of the C API: what opens them, and what ends them.
*/

#define lj_memprof_writers_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lj_memprof_file.h"
#include "lj_memprof_writers.h"

#define WRITERS_FIRST ((size_t)1 << 16) /* Bytes that are allocated first. */

/* -- Files and sockets ----------------------------------------------------- */

/* Closes a file at the end of its recording. errno says what failed. */
static int writers_close(void *arg)
{
  MPFile *f = (MPFile *)arg;
  int en;
  lj_memprof_closefile(f);
  en = f->en;
  lj_memprof_forgetanew(f);
  free(f);
  errno = en;
  return en;
}

/* Sets the options for a file that is open, or frees it if it is not. */
static int writers_set(struct luam_Prof_options *opt, MPFile *f, int good)
{
  int en = f->en;
  if (good) {
    opt->writer = lj_memprof_writefile;
    opt->on_stop = writers_close;
    opt->arg = f;
    return LUAM_PROFILE_SUCCESS;
  }
  free(f);
  errno = en;
  return LUAM_PROFILE_ERRIO;
}

/* Memory for a file, or NULL. */
static MPFile *writers_new(const struct luam_Prof_options *opt)
{
  return opt != NULL ? (MPFile *)malloc(sizeof(MPFile)) : NULL;
}

LUAMISC_API int luaM_memprof_tofile(struct luam_Prof_options *opt,
                                    const char *fname)
{
  MPFile *f = writers_new(opt);
  if (f == NULL)
    return LUAM_PROFILE_ERRMEM;
  return writers_set(opt, f, lj_memprof_openfile(f, fname));
}

LUAMISC_API int luaM_memprof_tofd(struct luam_Prof_options *opt, int fd)
{
  MPFile *f = writers_new(opt);
  if (f == NULL)
    return LUAM_PROFILE_ERRMEM;
  return writers_set(opt, f, lj_memprof_openfd(f, fd));
}

LUAMISC_API int luaM_memprof_tosocket(struct luam_Prof_options *opt,
                                      const char *address)
{
  MPFile *f;
  if (!lj_memprof_issocket(address))
    return LUAM_PROFILE_ERR;
  f = writers_new(opt);
  if (f == NULL)
    return LUAM_PROFILE_ERRMEM;
  return writers_set(opt, f, lj_memprof_opensocket(f, address));
}

int lj_memprof_filewriter(const struct luam_Prof_options *opt, MPWriter *more)
{
  if (opt == NULL || opt->writer != lj_memprof_writefile)
    return 0;
  memset(more, 0, sizeof(*more));
  more->again = lj_memprof_fileagain;
  more->begun = lj_memprof_namefile;
  more->forked = lj_memprof_forkedfile;
  more->file = (struct MPFile *)opt->arg;
  return 1;
}

/* -- Memory ---------------------------------------------------------------- */

/* Makes room for so many bytes more. Returns 0 and errno. */
static int writers_grow(struct luam_Memory *m, size_t len)
{
  size_t most = m->max != 0 ? m->max : ~(size_t)0;
  size_t size = m->size != 0 ? m->size : WRITERS_FIRST;
  char *data;
  errno = ENOSPC;
  if (len > most || m->len > most - len)
    return 0;
  while (size < m->len + len)
    size = size > most / 2 ? most : 2 * size;
  if (size == m->size)
    return 1;
  errno = ENOMEM;
  data = (char *)realloc(m->data, size);
  if (data == NULL)
    return 0;
  m->data = data;
  m->size = size;
  return 1;
}

/* A luam_Prof_options.writer into memory, which grows. */
static size_t writers_remember(const void *data, size_t len, void *arg)
{
  struct luam_Memory *m = (struct luam_Memory *)arg;
  if (!writers_grow(m, len)) {
    m->en = errno;
    return 0;
  }
  memcpy(m->data + m->len, data, len);
  m->len += len;
  return len;
}

/* Its on_stop: the memory is the caller's. Returns why it failed, or 0. */
static int writers_keep(void *arg)
{
  errno = ((const struct luam_Memory *)arg)->en;
  return errno;
}

LUAMISC_API int luaM_memprof_tomemory(struct luam_Prof_options *opt,
                                      struct luam_Memory *memory)
{
  if (opt == NULL || memory == NULL)
    return LUAM_PROFILE_ERR;
  memory->data = NULL;
  memory->len = memory->size = 0;
  memory->en = 0;
  opt->writer = writers_remember;
  opt->on_stop = writers_keep;
  opt->arg = memory;
  return LUAM_PROFILE_SUCCESS;
}

int lj_memprof_isourwriter(size_t (*writer)(const void *data, size_t len,
                                            void *arg))
{
  return writer == lj_memprof_writefile || writer == writers_remember;
}

/* -- A start that has failed ----------------------------------------------- */

LUAMISC_API void luaM_memprof_drop(struct luam_Prof_options *opt)
{
  if (opt->writer == lj_memprof_writefile && opt->on_stop == writers_close) {
    lj_memprof_dropfile((MPFile *)opt->arg);
    lj_memprof_forgetanew((MPFile *)opt->arg);
    free(opt->arg);
  } else if (opt->writer == writers_remember) {
    struct luam_Memory *m = (struct luam_Memory *)opt->arg;
    free(m->data);
    m->data = NULL;
    m->len = m->size = 0;
  }
  opt->writer = NULL;
  opt->on_stop = NULL;
  opt->arg = NULL;
}

#else

LUAMISC_API int luaM_memprof_tofile(struct luam_Prof_options *opt,
                                    const char *fname)
{
  UNUSED(opt);
  UNUSED(fname);
  return LUAM_PROFILE_ERR;
}

LUAMISC_API int luaM_memprof_tofd(struct luam_Prof_options *opt, int fd)
{
  UNUSED(opt);
  UNUSED(fd);
  return LUAM_PROFILE_ERR;
}

LUAMISC_API int luaM_memprof_tosocket(struct luam_Prof_options *opt,
                                      const char *address)
{
  UNUSED(opt);
  UNUSED(address);
  return LUAM_PROFILE_ERR;
}

LUAMISC_API int luaM_memprof_tomemory(struct luam_Prof_options *opt,
                                      struct luam_Memory *memory)
{
  UNUSED(opt);
  UNUSED(memory);
  return LUAM_PROFILE_ERR;
}

LUAMISC_API void luaM_memprof_drop(struct luam_Prof_options *opt)
{
  UNUSED(opt);
}

#endif

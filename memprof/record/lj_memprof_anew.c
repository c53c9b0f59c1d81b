/*
** A recording that begins anew in its own memory: in a child process, for which
** fork has copied it, and after a stop by control.
**
** It begins in the middle of an allocation of the VM. There the heap can be
** walked, as in lj_memprof_limit.c, but the VM cannot be used: no trace can be
** flushed. Exact lines need no flush, since the recording never let go of the
** compiler.
*/

#define lj_memprof_anew_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lj_memprof_anew.h"
#include "lj_memprof_clock.h"
#include "lj_memprof_ends.h"
#include "lj_memprof_file.h"
#include "lj_memprof_foreign.h"
#include "lj_memprof_hook.h"
#include "lj_memprof_map.h"
#include "lj_memprof_queue.h"
#include "lj_memprof_sample.h"
#include "lj_memprof_segment.h"
#include "lj_memprof_state.h"
#include "lj_memprof_tail.h"
#include "lj_memprof_timer.h"
#include "lj_memprof_type.h"
#include "lj_symtab.h"
#include "lj_wbuf.h"

/* -- Options --------------------------------------------------------------- */

int lj_memprof_checkanew(const struct luam_Prof_options *opt,
                         const struct MPFile *file)
{
  uint64_t word = opt->reserved[LUAM_PROF_ANEW];
  if (word > (LUAM_ANEW_FOLLOW | LUAM_ANEW_CONTROL))
    return 0;
  return word == 0 || (file != NULL && opt->format == LUAM_PROF_COMPACT);
}

int lj_memprof_newanew(MPState *mp, const struct luam_Prof_options *opt,
                       struct MPFile *file)
{
  MPAnew *a = &mp->anew;
  a->follow = (opt->reserved[LUAM_PROF_ANEW] & LUAM_ANEW_FOLLOW) != 0;
  a->control = (opt->reserved[LUAM_PROF_ANEW] & LUAM_ANEW_CONTROL) != 0;
  if (!a->follow && !a->control)
    return 1;
  a->file = file;
  a->thread = opt->reserved[LUAM_PROF_THREAD];
  a->signo = opt->signo;
  a->duration = mp->clock.end != 0 ? mp->clock.end - mp->clock.start : 0;
  if (!lj_memprof_anewfile(file, NULL))
    return 0;
  a->path = file->path;
  return 1;
}

/* -- The state of a start -------------------------------------------------- */

/* Bytes of the buffer. */
static size_t anew_buffer(const MPState *mp)
{
  return (size_t)(mp->buf.end - mp->buf.base);
}

/*
** Forgets the previous stream's definitions, and what was not yet written.
** Deallocations since then were not seen, so an address may be that of another
** object now.
*/
static void anew_forget(MPState *mp)
{
  MPSegment *s = &mp->segment;
  lj_symtab_free(mp);
  memset(&mp->symtab, 0, sizeof(mp->symtab));
  lj_memprof_undefine(mp);
  lj_memprof_mapfree(&mp->foreign.live);
  memset(&mp->foreign, 0, sizeof(mp->foreign));
  memset(&mp->newest, 0, sizeof(mp->newest));
  memset(&mp->total, 0, sizeof(mp->total));
  memset(&mp->stream, 0, sizeof(mp->stream));
  s->number = s->events = s->recording = s->begun = 0;
}

/* Begins sampling anew, at the same rate. Returns 0 without memory. */
static int anew_sample(MPState *mp)
{
  if (mp->sample == NULL)
    return 1;
  lj_memprof_freesample(mp);
  return lj_memprof_newsample(mp, mp->sampling.bytes, 0);
}

/* Resets the state of the buffer, which is this process's now. */
static void anew_buf(MPBuf *b)
{
  b->error = b->writing = b->dropped = 0;
  b->pid = (int)getpid();
}

/* Makes a queue for another thread. Returns 0 if there is none. */
static int anew_queue(MPState *mp)
{
  MPQueue *q;
  MPThreadHow how;
  if (mp->buf.queue != NULL)
    lj_memprof_dropqueue(mp->buf.queue);
  mp->buf.queue = NULL;
  if (mp->anew.thread == 0)
    return 1;
  lj_memprof_readthread(&how, mp->anew.thread, anew_buffer(mp));
  q = lj_memprof_newthread(&how, anew_buffer(mp));
  if (q == NULL)
    return lj_memprof_filefail(mp->anew.file, errno, NULL);
  q->writer = mp->buf.writer;
  q->arg = mp->buf.arg;
  q->again = mp->buf.again;
  q->next = mp->segment.next;
  mp->buf.queue = q;
  return 1;
}

/* Maps the tail of a file that is open. Returns 0 if that fails. */
static int anew_tail(MPState *mp)
{
  MPFile *f = mp->anew.file;
  int fd, good;
  if (mp->tail.head == NULL)
    return 1;
  fd = lj_memprof_opentail(f, anew_buffer(mp));
  if (fd < 0)
    return 0;
  good = lj_memprof_tailanew(mp, fd);
  if (!good)
    lj_memprof_filefail(f, errno, "its tail cannot be mapped");
  close(fd);
  return good;
}

/* -- Begin and end --------------------------------------------------------- */

/* The clock of a start. */
static void anew_clock(MPState *mp)
{
  uint64_t end = mp->clock.end, marks = mp->clock.marks;
  memset(&mp->clock, 0, sizeof(mp->clock));
  lj_memprof_clockstart(mp, 0, 0, marks);
  mp->clock.end = end;
  if (mp->anew.paused && mp->anew.duration != 0)
    mp->clock.end = mp->clock.start + mp->anew.duration;
}

/* Writes the beginning of the stream to a file that is open. */
static int anew_begin(MPState *mp)
{
  MPFile *f = mp->anew.file;
  MPQueue *q = mp->buf.queue;
  lj_memprof_begin(mp);
  if (mp->buf.error)
    return 0;
  if (q != NULL && !lj_memprof_startthread(q))
    return lj_memprof_filefail(f, EAGAIN, "its thread cannot be made");
  if (!lj_memprof_starttimer(mp, mp->anew.signo, 1))
    return lj_memprof_filefail(f, errno, "its timer cannot be made");
  return lj_memprof_namefile(f);
}

int lj_memprof_anew(MPState *mp)
{
  MPFile *f = mp->anew.file;
  int saved = errno, good;
  anew_buf(&mp->buf);
  good = lj_memprof_reopenfile(f) && anew_tail(mp) && anew_queue(mp);
  if (good) {
    anew_forget(mp);
    anew_clock(mp);
    good =
        anew_sample(mp) ? anew_begin(mp) : lj_memprof_filefail(f, ENOMEM, NULL);
    lj_memprof_foreignstart(mp);
  }
  if (!good) {
    lj_memprof_endtimer(mp);
    if (mp->buf.queue != NULL)
      lj_memprof_endthread(mp->buf.queue);
    lj_memprof_dropfile(f);
    mp->buf.error = 1;
  }
  mp->anew.paused = !good;
  errno = saved;
  return good;
}

int lj_memprof_pause(MPState *mp, const void *ptr, size_t size)
{
  MPFile *f = mp->anew.file;
  int saved = errno;
  if (!mp->detached) {
    lj_memprof_complete(mp, ptr, size);
    lj_memprof_setactive(mp->hook, NULL);
    lj_memprof_finish(mp, 0,
                      mp->hook->freeing ? lj_memprof_estimate(mp)
                                        : (uint64_t)mp->g->gc.total);
    if (mp->buf.queue != NULL)
      lj_memprof_endthread(mp->buf.queue);
  }
  lj_memprof_endtimer(mp);
  mp->detached = 0;
  lj_memprof_endfile(f);
  mp->buf.error = 1; /* Nothing more is written. */
  mp->anew.paused = 1;
  errno = saved;
  return f->en == 0;
}

#endif

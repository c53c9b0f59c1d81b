/*
** The tail: a mapped file that is the buffer of a recording.
**
** The VM writes its events where it always does. Only the position behind the
** last event is published, by one store: the file's header lies right before
** the recording's state, so that no pointer to it has to be loaded.
*/

#define lj_memprof_tail_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lj_memprof_lsan.h"
#include "lj_memprof_state.h"
#include "lj_memprof_tail.h"
#include "lj_wbuf.h"

/* Memory in front of a state without a tail: a multiple of a cache line. */
#define TAIL_PREFIX 64

#if LJ_64
LJ_STATIC_ASSERT(TAIL_PREFIX >= MPTAIL_POS &&
                 TAIL_PREFIX % sizeof(MPCache) == 0);
#endif

/*
** What comes before in the program is stored before what comes behind. TSan has
** no fences; for it, the order that a killed thread leaves is enough.
*/
#ifdef __SANITIZE_THREAD__
#define tail_order() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#else
#define tail_order() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/* -- Memory ---------------------------------------------------------------- */

static MPState *tail_none(size_t size, int blocks)
{
  char *mem = (char *)calloc(1, TAIL_PREFIX + sizeof(MPState));
  MPState *mp;
  if (mem == NULL)
    return NULL;
  mp = (MPState *)(void *)(mem + TAIL_PREFIX);
  if (lj_wbuf_init(&mp->buf, size, blocks))
    return mp;
  free(mem);
  return NULL;
}

int lj_memprof_tailfits(int fd, size_t size)
{
  off_t page = (off_t)sysconf(_SC_PAGESIZE);
  struct stat st;
  return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
         st.st_size >= page + (off_t)size;
}

/* Maps the state of size bytes, with the file's header before it, or NULL. */
static char *tail_mapstate(int fd, size_t page, size_t size)
{
  char *mem = (char *)mmap(NULL, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mem == MAP_FAILED)
    return NULL;
  if (mmap(mem, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) !=
      MAP_FAILED)
    return mem;
  munmap(mem, size);
  return NULL;
}

/* Fills in the header. The recording is not known yet. */
static void tail_fill(MPState *mp)
{
  ljm_Tail *t = mp->tail.head;
  memcpy(t->magic, LJM_TAIL_MAGIC, sizeof(t->magic));
  t->page = mp->tail.page;
  t->base = (uint64_t)(uintptr_t)mp->buf.base;
  t->size = mp->tail.size;
  mptail_publish(mp, mp->buf.base);
}

static MPState *tail_map(size_t size, int blocks, int fd)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t statesize = page + MPTAIL_BEHIND + sizeof(MPState);
  char *mem;
  void *buf;
  MPState *mp;
  statesize = (statesize + page - 1) / page * page;
  mem = tail_mapstate(fd, page, statesize);
  if (mem == NULL)
    return NULL;
  buf = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)page);
  if (buf == MAP_FAILED) {
    munmap(mem, statesize);
    return NULL;
  }
  mp = (MPState *)(void *)(mem + page + MPTAIL_BEHIND);
  lj_lsan_root(mem + page, statesize - page);
  mp->tail.head = (ljm_Tail *)(void *)mem;
  mp->tail.page = page;
  mp->tail.statesize = statesize;
  mp->tail.size = size;
  lj_wbuf_use(&mp->buf, buf, size, blocks);
  tail_fill(mp);
  return mp;
}

MPState *lj_memprof_newstate(size_t size, int blocks, int fd)
{
  return fd >= 0 ? tail_map(size, blocks, fd) : tail_none(size, blocks);
}

void lj_memprof_freestate(MPState *mp)
{
  MPTail t = mp->tail;
  if (t.head == NULL) {
    lj_wbuf_free(&mp->buf);
    free((char *)mp - TAIL_PREFIX);
  } else {
    lj_lsan_unroot((char *)t.head + t.page, t.statesize - t.page);
    munmap(mp->buf.base, t.size);
    munmap(t.head, t.statesize);
  }
}

/* -- The recording --------------------------------------------------------- */

void lj_memprof_tailbegin(MPState *mp)
{
  ljm_Tail *t = mp->tail.head;
  if (t == NULL)
    return;
  t->monotonic = mp->stream.monotonic;
  t->realtime = mp->stream.realtime;
  tail_order();
  t->state = LJM_TAIL_LIVE;
}

/*
** A reader after a kill finds the block that is in the file by now, or none, or
** the new one.
*/
void lj_memprof_tailblock(MPState *mp)
{
  ljm_Tail *t = mp->tail.head;
  if (t == NULL)
    return;
  mptail_publish(mp, mp->buf.base);
  tail_order();
  t->offset = mp->stream.written;
  t->first = mp->stream.blockevents;
  tail_order();
}

void lj_memprof_tailend(MPState *mp)
{
  if (mp->tail.head != NULL && !mp->buf.error)
    mp->tail.head->state = LJM_TAIL_ENDED;
}

/* -- Another file ---------------------------------------------------------- */

/* Maps a file in the place of a mapping. */
static int tail_over(void *p, size_t size, int fd, size_t offset)
{
  return mmap(p, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
              (off_t)offset) != MAP_FAILED;
}

int lj_memprof_tailanew(MPState *mp, int fd)
{
  const MPTail *t = &mp->tail;
  if (!tail_over(mp->buf.base, t->size, fd, t->page) ||
      !tail_over(t->head, t->page, fd, 0))
    return 0;
  lj_wbuf_begin(&mp->buf);
  tail_fill(mp);
  return 1;
}

/* -- After a fork ---------------------------------------------------------- */

/* Puts memory of this process in the place of a mapping. */
static int tail_own(void *p, size_t size)
{
  return mmap(p, size, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

int lj_memprof_tailleave(const MPState *mp)
{
  const MPTail *t = &mp->tail;
  return t->head == NULL ||
         (tail_own(mp->buf.base, t->size) && tail_own(t->head, t->page));
}

#endif

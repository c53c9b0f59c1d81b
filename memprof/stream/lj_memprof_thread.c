/*
** The thread that calls the writer, so that the VM does not wait for it.
**
** It touches the queue, the writer and what compresses, and nothing of the VM
** or of its recording. It has no signals: those of the host stay in its own
** threads.
*/

#define lj_memprof_thread_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lj_memprof_lock.h"
#include "lj_memprof_queue.h"
#include "lj_memprof_time.h"
#include "lj_memprof_worker.h"
#include "lj_memprof_zstd.h"

#define THREAD_QUEUE   (4u << 20) /* If not given, but no less than */
#define THREAD_BUFFERS 4          /* so many buffers. */
#define THREAD_LEAST   2          /* Buffers that a queue must have. */
#define THREAD_MOST    (1u << 30)

/* -- The writer ------------------------------------------------------------ */

/* Gives bytes to the writer until it has them all. */
static int thread_writeall(const MPQueue *q, const uint8_t *p, size_t len)
{
  while (len > 0) {
    size_t n = q->writer(p, len, q->arg);
    if (n == 0 || n > len)
      return 0;
    p += n;
    len -= n;
  }
  return 1;
}

#ifndef LUAJIT_DISABLE_THREAD_SAFE
#define THREAD_RETRY (100 * MP_MS) /* Until there may be space again. */

static struct timespec thread_time(uint64_t ns)
{
  struct timespec ts;
  ts.tv_sec = (time_t)(ns / (1000 * MP_MS));
  ts.tv_nsec = (long)(ns % (1000 * MP_MS));
  return ts;
}

/*
** The writer has taken nothing, and may later. Waits a while; returns 0 if that
** is no use: the VM waits for room, or the recording ends.
*/
static int thread_retry(MPQueue *q)
{
  struct timespec ts = thread_time(lj_memprof_now() + THREAD_RETRY);
  int retry;
  pthread_mutex_lock(&q->lock);
  while (!q->closing && !q->waiting &&
         pthread_cond_timedwait(&q->more, &q->lock, &ts) != ETIMEDOUT)
    ;
  retry = !q->closing && !q->waiting;
  pthread_mutex_unlock(&q->lock);
  return retry;
}
#else
#define thread_retry(q) 0
#endif

/* The same for bytes as they are to be in the stream. */
static int thread_write(MPQueue *q, const uint8_t *p, size_t len)
{
  while (!thread_writeall(q, p, len))
    if (!q->threaded || q->again == NULL || !q->again(q->arg) ||
        !thread_retry(q))
      return 0;
  return 1;
}

/* Writes what has been compressed. end: no more of this file comes. */
static int thread_pack(MPQueue *q, const void *data, size_t len, int end)
{
  const uint8_t *p = lj_memprof_pack(q->packer, data, &len, end);
  return p != NULL && (len == 0 || thread_write(q, p, len));
}

int lj_memprof_emit(MPQueue *q, const void *data, size_t len)
{
  int saved = errno;
  int good = q->packer != NULL ? thread_pack(q, data, len, 0)
                               : thread_write(q, (const uint8_t *)data, len);
  errno = saved;
  return good;
}

/* -- Options --------------------------------------------------------------- */

/* Bytes of the queue. */
static size_t thread_size(const MPThreadHow *how, size_t buffer)
{
  if (how->queue != 0)
    return how->queue;
  return buffer > THREAD_QUEUE / THREAD_BUFFERS ? buffer * THREAD_BUFFERS
                                                : THREAD_QUEUE;
}

int lj_memprof_readthread(MPThreadHow *how, uint64_t word, size_t buffer)
{
  how->queue = (size_t)(word & 0xffffffffu);
  how->zstd = (int)(word >> 32 & 0xff);
  how->policy = (int)(word >> 40 & 0xff);
  return word == LUAM_THREAD(how->queue, how->policy, how->zstd) &&
         (how->queue == 0 ||
          (how->queue / THREAD_LEAST >= buffer && how->queue <= THREAD_MOST)) &&
         how->policy <= LUAM_THREAD_DROP && how->zstd <= LUAM_THREAD_ZSTDMAX;
}

MPQueue *lj_memprof_newthread(const MPThreadHow *how, size_t buffer)
{
  MPQueue *q;
#ifdef LUAJIT_DISABLE_THREAD_SAFE
  errno = ENOSYS;
  return NULL;
#endif
  q = lj_memprof_newqueue(thread_size(how, buffer), 0);
  if (q == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  q->drop = how->policy == LUAM_THREAD_DROP;
  if (how->zstd > 0) {
    q->packer = lj_memprof_newpacker(how->zstd, buffer);
    if (q->packer == NULL) {
      int en = errno;
      lj_memprof_dropqueue(q);
      errno = en;
      return NULL;
    }
  }
  return q;
}

/* -- The thread ------------------------------------------------------------ */

#ifndef LUAJIT_DISABLE_THREAD_SAFE

/*
** Begins the next segment. The lock of all recordings is what a fork waits
** for: a child must not find a file that is half the old one.
*/
static int thread_next(MPQueue *q)
{
  int good;
  lj_memprof_lock();
  good = q->next(q->arg);
  lj_memprof_unlock();
  return good;
}

/* Waits for an item. Returns 0 if none comes. */
static int thread_wait(MPQueue *q)
{
  int more;
  pthread_mutex_lock(&q->lock);
  while (q->in == q->out && !q->closing)
    pthread_cond_wait(&q->more, &q->lock);
  more = q->in != q->out;
  pthread_mutex_unlock(&q->lock);
  return more;
}

/* Writes one item. Returns 0 if that fails. */
static int thread_item(MPQueue *q)
{
  size_t len;
  int kind;
  const uint8_t *p = lj_memprof_peek(q, &len, &kind);
  int good =
      kind == MPQUEUE_SEGMENT ? thread_next(q) : lj_memprof_emit(q, p, len);
  if (good)
    lj_memprof_pop(q);
  return good;
}

static void *thread_main(void *arg)
{
  MPQueue *q = (MPQueue *)arg;
  int good = 1;
  while (good && thread_wait(q))
    good = thread_item(q);
  if (good && q->packer != NULL)
    good = thread_pack(q, "", 0, 1);
  if (!good)
    lj_memprof_failqueue(q);
  pthread_mutex_lock(&q->lock);
  q->ended = 1;
  pthread_cond_broadcast(&q->less);
  pthread_mutex_unlock(&q->lock);
  return NULL;
}

int lj_memprof_startthread(MPQueue *q)
{
  q->threaded = 1;
  if (lj_memprof_startworker(&q->thread, "ljprof-writer", thread_main, q) != 0)
    q->threaded = 0;
  return q->threaded;
}

/* With the lock: waits for the thread, but not longer than exit may take. */
static int thread_waitend(MPQueue *q)
{
  while (!q->ended) {
    uint64_t now = lj_memprof_now(), until = lj_memprof_deadline();
    struct timespec ts = thread_time(now + THREAD_RETRY);
    if (until != 0 && now >= until)
      break;
    pthread_cond_timedwait(&q->less, &q->lock, &ts);
  }
  return q->ended;
}

int lj_memprof_endthread(MPQueue *q)
{
  int ended;
  if (!q->threaded || q->pid != (long)getpid())
    return 1;
  pthread_mutex_lock(&q->lock);
  q->closing = 1;
  pthread_cond_signal(&q->more);
  ended = thread_waitend(q);
  pthread_mutex_unlock(&q->lock);
  if (ended) {
    pthread_join(q->thread, NULL);
    q->threaded = 0;
  }
  return ended;
}

#else

int lj_memprof_startthread(MPQueue *q)
{
  UNUSED(q);
  return 0;
}

int lj_memprof_endthread(MPQueue *q)
{
  UNUSED(q);
  return 1;
}

#endif

#endif

/*
** The bounded queue between the buffer and the writer.
*/

#define lj_memprof_queue_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lj_memprof_queue.h"
#include "lj_memprof_time.h"
#include "lj_memprof_zstd.h"

/* The header of an item, before its bytes. */
typedef struct QueueItem {
  uint32_t len;
  uint32_t kind;
} QueueItem;

#define QUEUE_ALIGN(n)                                                         \
  (((n) + sizeof(QueueItem) - 1) & ~(sizeof(QueueItem) - 1))

/* -- The lock -------------------------------------------------------------- */

#ifndef LUAJIT_DISABLE_THREAD_SAFE
#define queue_lock(q)   pthread_mutex_lock(&(q)->lock)
#define queue_unlock(q) pthread_mutex_unlock(&(q)->lock)

static void queue_initlock(MPQueue *q)
{
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_mutex_init(&q->lock, NULL);
  pthread_cond_init(&q->more, &attr);
  pthread_cond_init(&q->less, &attr);
  pthread_condattr_destroy(&attr);
}

/* A parent's thread may have the lock that a fork has copied. */
static void queue_freelock(MPQueue *q)
{
  if (q->pid != (long)getpid())
    return;
  pthread_mutex_destroy(&q->lock);
  pthread_cond_destroy(&q->more);
  pthread_cond_destroy(&q->less);
}
#else
#define queue_lock(q)     ((void)0)
#define queue_unlock(q)   ((void)0)
#define queue_initlock(q) ((void)0)
#define queue_freelock(q) ((void)0)
#endif

/* -- Life ------------------------------------------------------------------ */

MPQueue *lj_memprof_newqueue(size_t size, size_t reserved)
{
  MPQueue *q = (MPQueue *)calloc(1, sizeof(MPQueue));
  if (q == NULL)
    return NULL;
  q->reserved = QUEUE_ALIGN(reserved);
  q->size = QUEUE_ALIGN(size) + q->reserved;
  q->ring = (uint8_t *)malloc(q->size);
  if (q->ring == NULL) {
    free(q);
    return NULL;
  }
  q->pid = (long)getpid();
  q->refs = 1;
  queue_initlock(q);
  return q;
}

void lj_memprof_holdqueue(MPQueue *q)
{
  __atomic_add_fetch(&q->refs, 1, __ATOMIC_RELAXED);
}

void lj_memprof_dropqueue(MPQueue *q)
{
  if (__atomic_sub_fetch(&q->refs, 1, __ATOMIC_ACQ_REL) != 0)
    return;
  lj_memprof_freepacker(q->packer);
  queue_freelock(q);
  free(q->ring);
  free(q);
}

/* -- Putting --------------------------------------------------------------- */

/*
** Bytes that an item takes, with those at the ring's end in which it does not
** fit.
*/
static size_t queue_need(const MPQueue *q, size_t len)
{
  size_t need = sizeof(QueueItem) + QUEUE_ALIGN(len);
  size_t end = q->size - (size_t)(q->in % q->size);
  return end < need ? end + need : need;
}

/* With the lock: true if there is room. In an empty queue, all begins anew. */
static int queue_fits(MPQueue *q, int kind, size_t len)
{
  size_t most = q->size - (kind == MPQUEUE_BLOCK ? q->reserved : 0);
  if (q->in == q->out)
    q->in = q->out = 0;
  return (size_t)(q->in - q->out) + queue_need(q, len) <= most;
}

#ifndef LUAJIT_DISABLE_THREAD_SAFE
#define QUEUE_SLICE (100 * MP_MS) /* Between two looks for the deadline. */

/*
** With the lock: waits for room. Returns 0 if there will be none: the writer
** has failed, or the process has to exit.
*/
static int queue_wait(MPQueue *q, int kind, size_t len)
{
  while (!q->error && !q->closing && !queue_fits(q, kind, len)) {
    uint64_t now = lj_memprof_now(), until = lj_memprof_deadline();
    struct timespec ts;
    if (until != 0 && now >= until)
      return 0;
    now += QUEUE_SLICE;
    ts.tv_sec = (time_t)(now / (1000 * MP_MS));
    ts.tv_nsec = (long)(now % (1000 * MP_MS));
    q->waiting = 1;
    pthread_cond_timedwait(&q->less, &q->lock, &ts);
    q->waiting = 0;
  }
  return !q->error && !q->closing;
}
#else
#define queue_wait(q, kind, len) 0
#endif

/* With the lock: what to do with an item. MPQUEUE_TAKEN: there is room. */
static int queue_decide(MPQueue *q, int kind, size_t len, int must)
{
  if (q->error || q->closing)
    return MPQUEUE_FAILED;
  if (queue_fits(q, kind, len))
    return MPQUEUE_TAKEN;
  if (!must)
    return MPQUEUE_LATER;
  if (q->drop && kind == MPQUEUE_BLOCK)
    return MPQUEUE_DROPPED;
  return q->threaded && queue_wait(q, kind, len) ? MPQUEUE_TAKEN
                                                 : MPQUEUE_FAILED;
}

/* Fills in an item for which there is room. Returns the position behind it. */
static uint64_t queue_fill(MPQueue *q, int kind, const void *data, size_t len)
{
  size_t need = queue_need(q, len), size = sizeof(QueueItem) + QUEUE_ALIGN(len);
  QueueItem item = {(uint32_t)len, (uint32_t)kind};
  const QueueItem skip = {0, MPQUEUE_SKIP};
  uint8_t *p = q->ring + q->in % q->size;
  if (need != size) {
    memcpy(p, &skip, sizeof(skip));
    p = q->ring;
  }
  memcpy(p, &item, sizeof(item));
  if (len > 0)
    memcpy(p + sizeof(item), data, len);
  return q->in + need;
}

/* The bytes are copied without the lock: only this thread adds items. */
int lj_memprof_enqueue(MPQueue *q, int kind, const void *data, size_t len,
                       int must)
{
  int status;
  uint64_t in;
  queue_lock(q);
  status = queue_decide(q, kind, len, must);
  queue_unlock(q);
  if (status != MPQUEUE_TAKEN)
    return status;
  in = queue_fill(q, kind, data, len);
  queue_lock(q);
  q->in = in;
#ifndef LUAJIT_DISABLE_THREAD_SAFE
  pthread_cond_signal(&q->more);
#endif
  queue_unlock(q);
  return status;
}

/* -- Taking ---------------------------------------------------------------- */

/* With the lock: the oldest item's place, or NULL. */
static const uint8_t *queue_first(MPQueue *q, QueueItem *item)
{
  const uint8_t *p = q->ring + q->out % q->size;
  if (q->in == q->out)
    return NULL;
  memcpy(item, p, sizeof(*item));
  if (item->kind == MPQUEUE_SKIP) {
    q->out += q->size - q->out % q->size;
    p = q->ring;
    memcpy(item, p, sizeof(*item));
  }
  return p;
}

const uint8_t *lj_memprof_peek(MPQueue *q, size_t *len, int *kind)
{
  QueueItem item = {0, 0};
  const uint8_t *p;
  queue_lock(q);
  p = queue_first(q, &item);
  queue_unlock(q);
  *len = item.len;
  *kind = (int)item.kind;
  return p != NULL ? p + sizeof(item) : NULL;
}

void lj_memprof_pop(MPQueue *q)
{
  QueueItem item;
  queue_lock(q);
  if (queue_first(q, &item) != NULL)
    q->out += sizeof(item) + QUEUE_ALIGN(item.len);
#ifndef LUAJIT_DISABLE_THREAD_SAFE
  if (q->waiting)
    pthread_cond_signal(&q->less);
#endif
  queue_unlock(q);
}

size_t lj_memprof_queuedbytes(MPQueue *q)
{
  size_t n;
  queue_lock(q);
  n = (size_t)(q->in - q->out);
  queue_unlock(q);
  return n;
}

void lj_memprof_failqueue(MPQueue *q)
{
  queue_lock(q);
  q->error = 1;
#ifndef LUAJIT_DISABLE_THREAD_SAFE
  pthread_cond_signal(&q->less);
#endif
  queue_unlock(q);
}

#endif

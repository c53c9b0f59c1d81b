/*
** The bounded queue between the buffer and the writer: of the thread that calls
** the writer, or of Lua code that takes the blocks itself.
*/

#ifndef _LJ_MEMPROF_QUEUE_H
#define _LJ_MEMPROF_QUEUE_H

#include "lj_def.h"
#include "lj_wbuf.h"
#include "lmisclib.h"

#ifndef LUAJIT_DISABLE_THREAD_SAFE
#include <pthread.h>
#endif

struct MPPacker;

/* How a thread calls the writer: the option THREAD. */
typedef struct MPThreadHow {
  size_t queue; /* Bytes, or 0. */
  int policy;   /* LUAM_THREAD_*. */
  int zstd;     /* Level, or 0. */
} MPThreadHow;

/* What an item of the queue is. */
enum {
  MPQUEUE_BLOCK,   /* May be dropped. */
  MPQUEUE_KEEP,    /* Must not be. */
  MPQUEUE_SEGMENT, /* No bytes: the next segment begins here. */
  MPQUEUE_SKIP     /* The next item is at the ring's start. */
};

/* What became of an item. */
enum { MPQUEUE_FAILED, MPQUEUE_TAKEN, MPQUEUE_LATER, MPQUEUE_DROPPED };

/*
** Items lie one behind the other in a ring that is allocated once: the VM
** allocates nothing while it records. Positions only grow; modulo size they
** are places in the ring. Who puts (the VM's thread) writes behind `in`, who
** takes reads from `out`; each moves its own position, under the lock.
*/
typedef struct MPQueue {
#ifndef LUAJIT_DISABLE_THREAD_SAFE
  pthread_mutex_t lock;
  pthread_cond_t more; /* There is an item, or it is being closed. */
  pthread_cond_t less; /* An item is gone, or the thread has ended. */
  pthread_t thread;    /* Set while threaded; the starter's. */
#endif
  uint8_t *ring;   /* Of size bytes. */
  size_t size;     /* A multiple of 8. */
  size_t reserved; /* Of it, for what must not be dropped. */
  int drop;        /* When it is full: drop blocks, or wait. */
  int threaded;    /* A thread takes. Set before it runs. */
  int taken;       /* Lua code takes. */
  long pid;        /* The process that made it. */
  int refs;        /* The recording, and who takes. Atomic. */
  /* Under the lock. */
  uint64_t in, out;
  int waiting; /* A thread waits for room. */
  int closing; /* Nothing more comes. */
  int ended;   /* The thread has come to its end. */
  int error;   /* The writer has failed. */
  /* What the thread calls; set before it runs. */
  size_t (*writer)(const void *data, size_t len, void *arg);
  int (*again)(void *arg);
  int (*next)(void *arg); /* See MPWriter; or NULL. */
  void *arg;
  struct MPPacker *packer; /* Compresses; or NULL. */
} MPQueue;

/*
** True if it is in use: else, before there is a thread, the starter writes.
*/
static LJ_AINLINE int lj_memprof_queued(const MPQueue *q)
{
  return q->threaded || q->taken;
}

/* -- The queue (lj_memprof_queue.c) ---------------------------------------- */

/*
** Makes a queue of size bytes and a reserve of so many more. Returns NULL
** without memory. The caller has the only reference.
*/
LJ_FUNC MPQueue *lj_memprof_newqueue(size_t size, size_t reserved);

/* Takes one more reference. */
LJ_FUNC void lj_memprof_holdqueue(MPQueue *q);

/* Gives one back, with the last one the queue. No thread is running on it. */
LJ_FUNC void lj_memprof_dropqueue(MPQueue *q);

/*
** Appends a copy of len bytes. kind: MPQUEUE_*. When the queue is full, must
** decides whether that is tried again later; if it must be done, this waits
** for room, or drops the block. Returns MPQUEUE_FAILED and so on.
*/
LJ_FUNC int lj_memprof_enqueue(MPQueue *q, int kind, const void *data,
                               size_t len, int must);

/*
** The oldest item, which stays in the queue: its bytes, *len and *kind. NULL if
** there is none.
*/
LJ_FUNC const uint8_t *lj_memprof_peek(MPQueue *q, size_t *len, int *kind);

/* Removes what lj_memprof_peek() has returned. */
LJ_FUNC void lj_memprof_pop(MPQueue *q);

/* Bytes that wait in the queue, with what is around them. */
LJ_FUNC size_t lj_memprof_queuedbytes(MPQueue *q);

/*
** The taker has failed: nothing is added any more. A thread that waits for room
** goes on.
*/
LJ_FUNC void lj_memprof_failqueue(MPQueue *q);

/* -- The thread (lj_memprof_thread.c) -------------------------------------- */

/*
** Makes the queue of a recording with the option THREAD, and what compresses.
** buffer: bytes of the recording's. Returns NULL and errno: ENOMEM, ENOSYS, or
** ENOENT without libzstd. The caller sets writer, again, next and arg.
*/
LJ_FUNC MPQueue *lj_memprof_newthread(const MPThreadHow *how, size_t buffer);

/*
** Reads the option THREAD, which is not zero. Returns 0 if it cannot be met as
** it is.
*/
LJ_FUNC int lj_memprof_readthread(MPThreadHow *how, uint64_t word,
                                  size_t buffer);

/*
** Gives bytes to the writer, compressed if that is wanted: called by the
** thread, and by the starter before there is one. Returns 0 if the writer
** fails.
*/
LJ_FUNC int lj_memprof_emit(MPQueue *q, const void *data, size_t len);

/* Starts the thread. Returns 0 if there is none. */
LJ_FUNC int lj_memprof_startthread(MPQueue *q);

/*
** Nothing more comes: waits until the thread has written all. Returns 0 if it
** is still at it when the process has to exit; the writer is in its hands then.
** In a child of fork() there is no thread, and nothing to wait for. If the
** writer has failed, q->error is set.
*/
LJ_FUNC int lj_memprof_endthread(MPQueue *q);

#endif

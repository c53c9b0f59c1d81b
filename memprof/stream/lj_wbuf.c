/*
** The bounded buffer between the recorder and the writer: blocks, checksums.
*/

#define lj_wbuf_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include "format/ljm_format.h"
#include "lj_memprof_queue.h"
#include "lj_wbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/ljm_block.h"

/* Bytes kept free at the end: a time mark, a change of the stack and an event
** always fit.
*/
#define WBUF_SLACK (3 * MP_EVENT_MAX)

int lj_wbuf_init(MPBuf *b, size_t size, int blocks)
{
  void *mem = malloc(size);
  if (mem != NULL)
    lj_wbuf_use(b, mem, size, blocks);
  return mem != NULL;
}

void lj_wbuf_use(MPBuf *b, void *mem, size_t size, int blocks)
{
  b->base = (uint8_t *)mem;
  b->end = b->base + size;
  b->hard = b->end - WBUF_SLACK;
  b->blocks = blocks != 0;
  b->error = b->writing = b->dropped = 0;
  b->queue = NULL;
  b->pid = (int)getpid();
  lj_wbuf_begin(b);
}

void lj_wbuf_free(MPBuf *b)
{
  free(b->base);
  b->base = NULL;
}

void lj_wbuf_begin(MPBuf *b)
{
  b->p = b->base + (b->blocks ? LJM_BLOCK_HEADER : 0);
  b->soft = b->p;
  b->keep = 0;
}

/* Hands bytes to the writer until it has them all. Returns 0 if it fails. */
static int wbuf_write(MPBuf *b, const uint8_t *p, size_t len)
{
  int saved = errno;
  b->writing = 1;
  while (len > 0) {
    size_t n = b->writer(p, len, b->arg);
    if (n == 0 || n > len)
      break;
    p += n;
    len -= n;
  }
  b->writing = 0;
  errno = saved;
  return len == 0;
}

/*
** Passes bytes to the queue or the writer. Returns 0 if that has to be tried
** again later.
*/
static int wbuf_give(MPBuf *b, const uint8_t *p, size_t len, int must)
{
  int kind = b->keep || !b->blocks ? MPQUEUE_KEEP : MPQUEUE_BLOCK, status;
  if (b->queue == NULL || !lj_memprof_queued(b->queue)) {
    if (b->queue != NULL ? lj_memprof_emit(b->queue, p, len)
                         : wbuf_write(b, p, len))
      return 1;
    if (!must && b->again != NULL && b->again(b->arg))
      return 0;
    b->error = 1;
    return 1;
  }
  status = lj_memprof_enqueue(b->queue, kind, p, len, must);
  b->dropped = status == MPQUEUE_DROPPED;
  b->error = status == MPQUEUE_FAILED;
  return status != MPQUEUE_LATER;
}

/*
** Writes out what is in the buffer and empties it. Unless it must be done now,
** a writer may have it tried again later: then all is as it was, and this
** returns 0.
*/
int lj_wbuf_flush(MPBuf *b, uint64_t firstevent, int must)
{
  size_t len = (size_t)(b->p - b->base);
  size_t empty = b->blocks ? LJM_BLOCK_HEADER : 0;
  /* After a fork, the stream belongs to the parent. */
  if (!b->error && len > empty && b->pid == (int)getpid()) {
    if (b->blocks)
      ljm_block_seal(b->base, len - LJM_BLOCK_HEADER, firstevent);
    if (!wbuf_give(b, b->base, len, must))
      return 0;
  }
  lj_wbuf_begin(b);
  return 1;
}

uint8_t *lj_wbuf_record(MPBuf *b, int code)
{
  *b->p++ = (uint8_t)LJM_RECORD_BYTE(code);
  b->p += 2; /* Its length, filled in by lj_wbuf_recordend(). */
  return b->p;
}

void lj_wbuf_recordend(MPBuf *b, uint8_t *mark)
{
  size_t len = (size_t)(b->p - mark);
  lj_assertX(len < (1u << 14), "record too long");
  mark[-2] = (uint8_t)(len | 0x80);
  mark[-1] = (uint8_t)(len >> 7);
}

void lj_wbuf_string(MPBuf *b, const char *s, size_t len)
{
  if (len > LJM_NAME_MAX)
    len = LJM_NAME_MAX;
  lj_wbuf_uleb(b, len);
  memcpy(b->p, s, len);
  b->p += len;
}

#endif

/*
** How a stream begins and ends: its prologues, what it records about itself,
** and the totals by which a reader can prove that nothing was lost.
*/

#define lj_memprof_stream_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lj_memprof_clock.h"
#include "lj_memprof_name.h"
#include "lj_memprof_old.h"
#include "lj_memprof_sample.h"
#include "lj_memprof_state.h"
#include "lj_memprof_stream.h"
#include "lj_wbuf.h"
#include "luajit.h"

#define STREAM_PRODUCER "ljprof memprof 0.1.0"

/* -- Metadata ------------------------------------------------------------- */

uint64_t lj_memprof_realtime(void)
{
  struct timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The inode of this process's pid namespace, or 0. */
static uint64_t stream_pidns(void)
{
  char link[64];
  ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);
  const char *p;
  if (n <= 0)
    return 0;
  link[n] = '\0';
  p = strchr(link, '['); /* Reads "pid:[4026531836]". */
  return p ? strtoull(p + 1, NULL, 10) : 0;
}

/* The start of this process in clock ticks since boot, or 0. */
static uint64_t stream_processstart(void)
{
  char stat[1024];
  const char *p;
  ssize_t n;
  int i, fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return 0;
  n = read(fd, stat, sizeof(stat) - 1);
  close(fd);
  if (n <= 0)
    return 0;
  stat[n] = '\0';
  /* The command's name may hold anything: count from the last bracket. */
  p = strrchr(stat, ')');
  for (i = 0; p != NULL && i < 20; i++)
    p = strchr(p + 1, ' ');
  return p ? strtoull(p + 1, NULL, 10) : 0;
}

static void stream_putkey(MPBuf *b, const char *key, int tag)
{
  lj_wbuf_string(b, key, strlen(key));
  *b->p++ = (uint8_t)tag;
}

static void stream_putint(MPBuf *b, const char *key, uint64_t value)
{
  stream_putkey(b, key, LJM_META_UINT);
  lj_wbuf_uleb(b, value);
}

static void stream_putstring(MPBuf *b, const char *key, const char *value)
{
  stream_putkey(b, key, LJM_META_STRING);
  lj_wbuf_string(b, value, strlen(value));
}

void lj_memprof_origin(MPOrigin *o)
{
  o->pid = (uint64_t)getpid();
  o->pidns = stream_pidns();
  o->processstart = stream_processstart();
  o->realtime = lj_memprof_realtime();
  o->monotonic = lj_memprof_now();
}

/* Begins the metadata: what those of all streams have. */
static uint8_t *stream_metabegin(MPBuf *b, const MPOrigin *o)
{
  uint8_t *mark = lj_wbuf_record(b, LJM_REC_META);
  stream_putstring(b, "producer", STREAM_PRODUCER);
  stream_putstring(b, "vm", LUAJIT_VERSION);
  stream_putstring(b, "arch", LJ_ARCH_NAME);
  stream_putint(b, "word", sizeof(void *));
  stream_putint(b, "gc64", LJ_GC64);
  stream_putint(b, "pid", o->pid);
  stream_putint(b, "pidns", o->pidns);
  stream_putint(b, "process_start", o->processstart);
  stream_putint(b, "realtime", o->realtime);
  stream_putint(b, "monotonic", o->monotonic);
  stream_putint(b, "buffer", (uint64_t)(b->end - b->base));
  return mark;
}

void lj_memprof_metaheap(MPBuf *b, const MPOrigin *o, const MPDumpId *id,
                         const global_State *g, uint32_t strings)
{
  uint8_t *mark = stream_metabegin(b, o);
  stream_putint(b, "live", (uint64_t)g->gc.total);
  stream_putint(b, "strings", strings);
  stream_putint(b, "dump", id->id);
  if (id->recording != 0)
    stream_putint(b, "recording", id->recording);
  lj_wbuf_recordend(b, mark);
}

/* Appends the metadata of a recording that begins now. */
static void stream_meta(MPState *mp)
{
  MPBuf *b = &mp->buf;
  MPOrigin origin;
  uint8_t *mark;
  uint64_t bytes, seed;
  lj_memprof_origin(&origin);
  mp->stream.monotonic = origin.monotonic;
  mark = stream_metabegin(b, &origin);
  mp->stream.live = (uint64_t)mp->g->gc.total;
  stream_putint(b, "live", mp->stream.live);
  stream_putint(b, "lines", (uint64_t)mp->lines);
  stream_putint(b, "stack", mp->depth);
  if (mp->sample != NULL) {
    lj_memprof_metasample(mp, &bytes, &seed);
    stream_putint(b, "sample", bytes);
    stream_putint(b, "seed", seed);
  }
  lj_wbuf_recordend(b, mark);
}

/* -- Beginning ------------------------------------------------------------ */

/* Appends bytes as they are. */
static void stream_bytes(MPState *mp, const void *p, size_t len)
{
  memcpy(mp->buf.p, p, len);
  mp->buf.p += len;
}

void lj_memprof_begin(MPState *mp)
{
  static const char syms[LJM_PROLOGUE_LEN] = {'l', 'j', 's', LJM_VERSION};
  static const char body[LJM_PROLOGUE_LEN] = {'l', 'j', 'm', LJM_VERSION};
  if (mp->format != LUAM_PROF_COMPACT) {
    lj_memprof_oldbegin(mp);
    lj_memprof_flush(mp);
    return;
  }
  /* The prologues are no block: they go out without a header. */
  mp->buf.blocks = 0;
  lj_wbuf_begin(&mp->buf);
  stream_bytes(mp, syms, sizeof(syms));
  lj_wbuf_uleb(&mp->buf, (uint64_t)(uintptr_t)mp->g);
  *mp->buf.p++ = LJM_SYM_FINAL;
  stream_bytes(mp, body, sizeof(body));
  lj_memprof_write(mp, 1);
  mp->buf.blocks = 1;
  lj_wbuf_begin(&mp->buf);
  lj_memprof_beginblock(mp);
  stream_meta(mp);
  lj_memprof_flush(mp);
  lj_memprof_nameheap(mp);
}

/* -- End ------------------------------------------------------------------ */

/* Appends the totals, the last record. */
static void stream_totals(MPState *mp, int swapped, uint64_t live)
{
  const MPForeign *f = &mp->foreign;
  MPBuf *b = &mp->buf;
  uint8_t *mark;
  if (lj_wbuf_room(b) < MP_RECORD_MAX)
    lj_memprof_flush(mp);
  mark = lj_wbuf_record(b, LJM_REC_TOTALS);
  lj_wbuf_uleb(b, (swapped ? LJM_TOTALS_SWAPPED : 0) |
                      (mp->stream.lost ? LJM_TOTALS_LOST : 0) |
                      (mp->sample ? LJM_TOTALS_SAMPLED : 0));
  lj_wbuf_uleb(b, mp->total.nevents[LJM_ALLOC]);
  lj_wbuf_uleb(b, mp->total.nevents[LJM_REALLOC]);
  lj_wbuf_uleb(b, mp->total.nevents[LJM_FREE]);
  lj_wbuf_uleb(b, mp->total.bytesin);
  lj_wbuf_uleb(b, mp->total.bytesout);
  lj_wbuf_uleb(b, live);
  lj_wbuf_uleb(b, mp->stream.lost);
  lj_wbuf_uleb(b, mp->clock.seen - mp->clock.start);
  lj_wbuf_uleb(b, f->nevents[LJM_ALLOC]);
  lj_wbuf_uleb(b, f->nevents[LJM_REALLOC]);
  lj_wbuf_uleb(b, f->nevents[LJM_FREE]);
  lj_wbuf_uleb(b, f->bytesin);
  lj_wbuf_uleb(b, f->bytesout);
  lj_wbuf_recordend(b, mark);
}

void lj_memprof_finish(MPState *mp, int swapped, uint64_t live)
{
  mp->clock.seen = lj_memprof_now();
  if (mp->format == LUAM_PROF_COMPACT)
    stream_totals(mp, swapped, live);
  else
    *mp->buf.p++ = LJM_SYM_FINAL;
  lj_memprof_write(mp, 1);
}

#endif

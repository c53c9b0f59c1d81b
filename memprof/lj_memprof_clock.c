/*
** The clock, and what a recording says about itself.
*/

#define lj_memprof_clock_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "luajit.h"

#define MEMPROF_PRODUCER "ljprof memprof 0.1.0"

static uint64_t clock_read(clockid_t id)
{
  struct timespec ts;
  clock_gettime(id, &ts);
  return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t lj_memprof_now(void)
{
  return clock_read(CLOCK_MONOTONIC);
}

/* The inode of this process's pid namespace, or 0. */
static uint64_t clock_pidns(void)
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
static uint64_t clock_processstart(void)
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

static void clock_putkey(MPBuf *b, const char *key, int tag)
{
  lj_wbuf_string(b, key, strlen(key));
  *b->p++ = (uint8_t)tag;
}

static void clock_putint(MPBuf *b, const char *key, uint64_t value)
{
  clock_putkey(b, key, LJM_META_UINT);
  lj_wbuf_uleb(b, value);
}

static void clock_putstring(MPBuf *b, const char *key, const char *value)
{
  clock_putkey(b, key, LJM_META_STRING);
  lj_wbuf_string(b, value, strlen(value));
}

/* Begins the metadata of a stream: what all of them have. */
static uint8_t *clock_begin(MPBuf *b)
{
  uint8_t *mark = lj_wbuf_record(b, LJM_REC_META);
  clock_putstring(b, "producer", MEMPROF_PRODUCER);
  clock_putstring(b, "vm", LUAJIT_VERSION);
  clock_putstring(b, "arch", LJ_ARCH_NAME);
  clock_putint(b, "word", sizeof(void *));
  clock_putint(b, "gc64", LJ_GC64);
  clock_putint(b, "pid", (uint64_t)getpid());
  clock_putint(b, "pidns", clock_pidns());
  clock_putint(b, "process_start", clock_processstart());
  clock_putint(b, "realtime", clock_read(CLOCK_REALTIME));
  clock_putint(b, "monotonic", lj_memprof_now());
  clock_putint(b, "buffer", (uint64_t)(b->end - b->base));
  return mark;
}

/* Appends the metadata of a heap dump. */
void lj_memprof_metaheap(MPBuf *b, const global_State *g, uint32_t strings)
{
  uint8_t *mark = clock_begin(b);
  clock_putint(b, "live", (uint64_t)g->gc.total);
  clock_putint(b, "strings", strings);
  lj_wbuf_recordend(b, mark);
}

/* Appends the metadata of a recording that begins now. */
void lj_memprof_meta(MPState *mp)
{
  MPBuf *b = &mp->buf;
  uint8_t *mark = clock_begin(b);
  uint64_t bytes, seed;
  mp->live = (uint64_t)mp->g->gc.total;
  clock_putint(b, "live", mp->live);
  clock_putint(b, "lines", (uint64_t)mp->lines);
  clock_putint(b, "stack", mp->depth);
  if (mp->sample != NULL) {
    lj_memprof_metasample(mp, &bytes, &seed);
    clock_putint(b, "sample", bytes);
    clock_putint(b, "seed", seed);
  }
  lj_wbuf_recordend(b, mark);
}

#endif

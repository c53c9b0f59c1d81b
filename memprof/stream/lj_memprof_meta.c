/*
** Metadata: what a stream records about itself.
*/

#define lj_memprof_meta_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <string.h>

#include "lj_memprof_meta.h"
#include "lj_wbuf.h"
#include "luajit.h"
#include "format/ljm_format.h"

#define META_PRODUCER "ljprof memprof 0.1.0"

static void meta_key(MPBuf *b, const char *key, int tag)
{
  lj_wbuf_string(b, key, strlen(key));
  *b->p++ = (uint8_t)tag;
}

void lj_memprof_metaint(MPBuf *b, const char *key, uint64_t value)
{
  meta_key(b, key, LJM_META_UINT);
  lj_wbuf_uleb(b, value);
}

static void meta_string(MPBuf *b, const char *key, const char *value)
{
  meta_key(b, key, LJM_META_STRING);
  lj_wbuf_string(b, value, strlen(value));
}

void lj_memprof_metaname(MPBuf *b, const char *key, const char *value)
{
  if (*value != '\0')
    meta_string(b, key, value);
}

uint8_t *lj_memprof_metabegin(MPBuf *b, const MPOrigin *o)
{
  uint8_t *mark = lj_wbuf_record(b, LJM_REC_META);
  meta_string(b, "producer", META_PRODUCER);
  meta_string(b, "vm", LUAJIT_VERSION);
  meta_string(b, "arch", LJ_ARCH_NAME);
  lj_memprof_metaint(b, "word", sizeof(void *));
  lj_memprof_metaint(b, "gc64", LJ_GC64);
  lj_memprof_metaint(b, "pid", o->pid);
  lj_memprof_metaint(b, "pidns", o->pidns);
  lj_memprof_metaint(b, "process_start", o->processstart);
  lj_memprof_metaint(b, "realtime", o->realtime);
  lj_memprof_metaint(b, "monotonic", o->monotonic);
  lj_memprof_metaname(b, "comm", o->comm);
  lj_memprof_metaname(b, "cgroup", o->cgroup);
  lj_memprof_metaname(b, "host", o->host);
  lj_memprof_metaint(b, "buffer", (uint64_t)(b->end - b->base));
  return mark;
}

void lj_memprof_metaheap(MPBuf *b, const MPOrigin *o, const MPDumpId *id,
                         const global_State *g, uint32_t strings,
                         const MPProcess *process)
{
  uint8_t *mark = lj_memprof_metabegin(b, o);
  lj_memprof_metaint(b, "live", (uint64_t)g->gc.total);
  lj_memprof_metaint(b, "strings", strings);
  lj_memprof_metaint(b, "dump", id->id);
  if (id->recording != 0)
    lj_memprof_metaint(b, "recording", id->recording);
  if (process->rss != 0) {
    lj_memprof_metaint(b, "rss", process->rss);
    lj_memprof_metaint(b, "swap", process->swap);
  }
  if (process->malloced != 0) {
    lj_memprof_metaint(b, "malloc_used", process->malloced);
    lj_memprof_metaint(b, "malloc_free", process->mallocfree);
  }
  lj_wbuf_recordend(b, mark);
}

#endif

/*
** The memory of the process around the objects of a dump. LuaJIT's allocator
** has its memory in segments; large blocks, of 128 KiB and more, may be apart
** from them. It tells nobody where they are: its state is read, once that is
** known to be what it seems.
*/

#define lj_heapmapped_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 33)
#define MAPPED_MALLOC 1
#include <dlfcn.h>
#include <malloc.h>
#endif
#endif

#include "lj_heapmapped.h"
#include "lj_memprof_hook.h"
#include "lj_memprof_kernel.h"
#ifndef LJ_MEMPROF_MODULE
#include "lj_alloc.h"
#endif
#if LJ_HASJIT
#include "lj_dispatch.h"
#include "lj_jit.h"
#endif

#define MAPPED_MOST  65536 /* Segments; a longer list is none. */
#define MAPPED_PAGES 512   /* Looked at in one go. */
#define MAPPED_RUNS  512   /* At most in a record. */

/* For functions that read what may be a foreign allocator's. */
#define MAPPED_ANY __attribute__((no_sanitize_address, noinline))

/* -- What the kernel counts ------------------------------------------------ */

/* A number of KiB in bytes; what is not known is 0. */
static uint64_t mapped_kib(const char *text, const char *word)
{
  uint64_t n = lj_memprof_numberof(text, word);
  return n == MP_NONUMBER ? 0 : n * 1024;
}

#ifdef MAPPED_MALLOC
/*
** What the C library's malloc() counts. It takes its locks, so the program must
** be outside of it. Where another malloc() is in its place, it counts nothing.
*/
static void mapped_malloc(MPProcess *p)
{
  void *info = dlsym(RTLD_DEFAULT, "mallinfo2");
  void *alloc = dlsym(RTLD_DEFAULT, "malloc");
  Dl_info a, b;
  struct mallinfo2 m;
  if (info == NULL || alloc == NULL || dladdr(info, &a) == 0 ||
      dladdr(alloc, &b) == 0 || a.dli_fbase != b.dli_fbase)
    return;
  m = ((struct mallinfo2(*)(void))info)();
  p->malloced = (uint64_t)m.uordblks + (uint64_t)m.hblkhd;
  p->mallocfree = (uint64_t)m.fordblks;
}
#endif

void lj_heap_process(MPDump *d)
{
  char text[4096];
  int saved = errno;
  lj_memprof_readfile("/proc/self/smaps_rollup", text, sizeof(text));
  d->process.rss = mapped_kib(text, "Rss:");
  d->process.swap = mapped_kib(text, "Swap:");
#ifdef MAPPED_MALLOC
  if (!d->inside && d->process.rss != 0)
    mapped_malloc(&d->process);
#endif
  errno = saved;
}

/* -- Pages ----------------------------------------------------------------- */

/* What the kernel tells of pages of this process, by their numbers. */
typedef struct MPPages {
  int fd;
  uintptr_t size;  /* Bytes of a page. */
  uintptr_t first; /* The pages that were looked at last, */
  size_t n;        /* which are so many: */
  uint64_t entry[MAPPED_PAGES];
} MPPages;

#define PAGES_RESIDENT (U64x(80000000, 00000000))
#define PAGES_SWAPPED  (U64x(40000000, 00000000))

/* What is told of a page; 0 also if nothing is. */
static uint64_t pages_entry(MPPages *pg, uintptr_t page)
{
  if (page - pg->first >= pg->n) {
    ssize_t got = pread(pg->fd, pg->entry, sizeof(pg->entry),
                        (off_t)(page * sizeof(pg->entry[0])));
    pg->first = page;
    pg->n = got > 0 ? (size_t)got / sizeof(pg->entry[0]) : 0;
  }
  return pg->n > 0 ? pg->entry[page - pg->first] : 0;
}

/* True if the page of p can be read. */
static int pages_has(MPPages *pg, const void *p)
{
  return (pages_entry(pg, (uintptr_t)p / pg->size) &
          (PAGES_RESIDENT | PAGES_SWAPPED)) != 0;
}

/* -- Records --------------------------------------------------------------- */

/*
** Writes runs of pages, the first one resident, as many as a record can have.
** Returns the number of pages.
*/
static size_t mapped_runs(MPDump *d, MPPages *pg, uintptr_t page, size_t n)
{
  size_t i, run = 0;
  uint64_t last = PAGES_RESIDENT;
  int runs = 0;
  for (i = 0; i < n; i++, run++) {
    uint64_t resident = pages_entry(pg, page + i) & PAGES_RESIDENT;
    if (resident == last)
      continue;
    if (++runs == MAPPED_RUNS)
      break;
    lj_heap_uleb(d, run);
    run = 0;
    last = resident;
  }
  lj_heap_uleb(d, run);
  return i;
}

/* Writes which pages of an area are resident. */
static void mapped_area(MPDump *d, MPPages *pg, int kind, const void *p,
                        size_t size)
{
  uintptr_t page = (uintptr_t)p / pg->size;
  size_t n = (size + pg->size - 1) / pg->size;
  while (n > 0 && !lj_heap_failed(d)) {
    uint8_t *mark = lj_heap_record(d, LJM_REC_MAPPED);
    size_t done;
    lj_heap_uleb(d, (uint64_t)kind);
    lj_heap_uleb(d, (uint64_t)page * pg->size);
    lj_heap_uleb(d, pg->size);
    done = mapped_runs(d, pg, page, n);
    lj_wbuf_recordend(&d->buf, mark);
    page += done;
    n -= done;
  }
}

/* -- LuaJIT's allocator ---------------------------------------------------- */

/* A segment, as its state and the segments themselves have it. */
typedef struct MPHeapSegment {
  char *base;
  size_t size;
  const struct MPHeapSegment *next;
} MPHeapSegment;

/*
** Its state has two maps of 32 bits, six words, 66 and 32 lists of free blocks,
** and then the newest segment. It is the first block of a page; the word before
** it is its size, of which the lowest bits are flags: 2 is "in use".
*/
#define MAPPED_STATE (2 * sizeof(void *))
#define MAPPED_FIRST (2 * sizeof(uint32_t) + (6 + 66 + 32) * sizeof(void *))
#define MAPPED_BLOCK                                                           \
  (MAPPED_FIRST + 5 * sizeof(void *)) /* Most of its bytes. */

/*
** Is it the state of LuaJIT's allocator? Where that is not linked, as in
** memprof.so, it may be anything: all that is read is in the same page.
*/
static MAPPED_ANY int segment_isstate(const global_State *g, MPPages *pg,
                                      uintptr_t state)
{
#if defined(LUAJIT_USE_SYSMALLOC) && !defined(LJ_MEMPROF_MODULE)
  UNUSED(g);
  UNUSED(pg);
  UNUSED(state);
  return 0;
#elif !defined(LJ_MEMPROF_MODULE)
  UNUSED(pg);
  UNUSED(state);
  return lj_memprof_isbelow(g, lj_alloc_f);
#else
  uintptr_t size;
  UNUSED(g);
  if (state % 4096 != MAPPED_STATE || !pages_has(pg, (const void *)state))
    return 0;
  size = ((const uintptr_t *)state)[-1];
  return (size & 2) != 0 && (size & ~(uintptr_t)7) > MAPPED_FIRST &&
         (size & ~(uintptr_t)7) <= MAPPED_BLOCK;
#endif
}

/* Is it a segment that may be LuaJIT's? */
static MAPPED_ANY int segment_check(MPPages *pg, const MPHeapSegment *s)
{
  uintptr_t base;
  if (((uintptr_t)s & (sizeof(void *) - 1)) != 0 || !pages_has(pg, s) ||
      !pages_has(pg, (const char *)(s + 1) - 1))
    return 0;
  base = (uintptr_t)s->base;
  return base != 0 && (base | s->size) % 4096 == 0 && s->size != 0 &&
         base + s->size > base;
}

/* The newest segment, or NULL if it is another allocator. */
static MAPPED_ANY const MPHeapSegment *segment_first(const global_State *g,
                                                     MPPages *pg)
{
  uintptr_t state = (uintptr_t)lj_memprof_below(g);
  const MPHeapSegment *first = (const MPHeapSegment *)(state + MAPPED_FIRST);
  const MPHeapSegment *s;
  int n = 0, has = 0;
  if (!segment_isstate(g, pg, state))
    return NULL;
  for (s = first; s != NULL; s = s->next) {
    if (++n > MAPPED_MOST || !segment_check(pg, s))
      return NULL;
    has |= state - (uintptr_t)s->base < s->size;
  }
  return has ? first : NULL;
}

/* -- All of it ------------------------------------------------------------- */

#if LJ_HASJIT
/* Pages with machine code of traces; two of them may share one. */
static void mapped_code(MPDump *d, MPPages *pg)
{
  const jit_State *J = G2J(d->g);
  MSize i;
  for (i = 1; i < J->sizetrace && !lj_heap_failed(d); i++) {
    const GCtrace *T = (const GCtrace *)gcref(J->trace[i]);
    uintptr_t at = T != NULL ? (uintptr_t)T->mcode % pg->size : 0;
    if (T != NULL && T->szmcode != 0)
      mapped_area(d, pg, LJM_MAPPED_CODE, T->mcode, at + T->szmcode);
  }
}
#endif

void lj_heap_mapped(MPDump *d)
{
  MPPages pg;
  const MPHeapSegment *s;
  int saved = errno;
  pg.n = pg.first = 0;
  pg.size = (uintptr_t)sysconf(_SC_PAGESIZE);
  pg.fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  errno = saved;
  if (pg.fd < 0)
    return;
  for (s = segment_first(d->g, &pg); s != NULL; s = s->next)
    mapped_area(d, &pg, LJM_MAPPED_HEAP, s->base, s->size);
#if LJ_HASJIT
  mapped_code(d, &pg);
#endif
  close(pg.fd);
  errno = saved;
}

#endif

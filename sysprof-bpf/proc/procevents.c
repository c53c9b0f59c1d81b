/*
** Process events, from the records of a perf event that counts nothing, one on
** each CPU.
*/

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "procevents.h"

#define PAGES 32 /* Of each CPU's buffer; a power of 2. */

typedef struct Cpu {
  int fd;
  struct perf_event_mmap_page *page; /* And PAGES of records behind it. */
} Cpu;

struct LsProcEvents {
  int epoll;
  int ncpu;
  size_t pagesize;
  Cpu *cpu;
};

static int open_cpu(LsProcEvents *w, int cpu)
{
  struct perf_event_attr attr = {
      .size = sizeof(attr),
      .type = PERF_TYPE_SOFTWARE,
      .config = PERF_COUNT_SW_DUMMY,
      .mmap = 1,
      .mmap2 = 1,
      .comm = 1,
      .comm_exec = 1,
      .task = 1,
      .watermark = 1,
      .wakeup_watermark = 1,
  };
  struct epoll_event ev = {.events = EPOLLIN};
  Cpu *c = &w->cpu[cpu];
  void *p;
  c->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
                       PERF_FLAG_FD_CLOEXEC);
  if (c->fd < 0)
    return errno == ENODEV ? 0 : -1;
  p = mmap(NULL, (PAGES + 1) * w->pagesize, PROT_READ | PROT_WRITE, MAP_SHARED,
           c->fd, 0);
  if (p == MAP_FAILED)
    return -1;
  c->page = p;
  return epoll_ctl(w->epoll, EPOLL_CTL_ADD, c->fd, &ev);
}

LsProcEvents *ls_procevents_open(void)
{
  LsProcEvents *w = calloc(1, sizeof(*w));
  int i;
  if (!w)
    return NULL;
  w->ncpu = (int)sysconf(_SC_NPROCESSORS_CONF);
  w->pagesize = (size_t)sysconf(_SC_PAGESIZE);
  w->epoll = epoll_create1(EPOLL_CLOEXEC);
  w->cpu = calloc(w->ncpu, sizeof(*w->cpu));
  for (i = 0; w->cpu && i < w->ncpu; i++)
    w->cpu[i].fd = -1;
  for (i = 0; w->cpu && i < w->ncpu; i++)
    if (open_cpu(w, i))
      break;
  if (w->cpu && i == w->ncpu)
    return w;
  i = errno;
  ls_procevents_close(w);
  errno = i;
  return NULL;
}

void ls_procevents_close(LsProcEvents *w)
{
  int i;
  if (!w)
    return;
  for (i = 0; w->cpu && i < w->ncpu; i++) {
    if (w->cpu[i].page)
      munmap(w->cpu[i].page, (PAGES + 1) * w->pagesize);
    if (w->cpu[i].fd >= 0)
      close(w->cpu[i].fd);
  }
  if (w->epoll >= 0)
    close(w->epoll);
  free(w->cpu);
  free(w);
}

int ls_procevents_fd(const LsProcEvents *w)
{
  return w->epoll;
}

/* A record, copied out of the ring. */
typedef union Record {
  struct perf_event_header h;
  struct {
    struct perf_event_header h;
    uint32_t pid, tid;
    uint64_t addr, len, pgoff;
    uint32_t maj, min;
    uint64_t ino, ino_generation;
    uint32_t prot, flags;
    char name[];
  } mmap2;
  struct {
    struct perf_event_header h;
    uint32_t pid, tid;
  } comm;
  struct {
    struct perf_event_header h;
    uint32_t pid, ppid, tid, ptid;
  } task;
  char bytes[4096 + 512]; /* A path is the longest part. */
} Record;

static void report(const Record *r, LsProcEventFunc *func, void *ctx)
{
  switch (r->h.type) {
  case PERF_RECORD_MMAP2:
    if (r->mmap2.ino) /* Of a file. */
      func(ctx, LS_PROCEVENT_MAP, (pid_t)r->mmap2.pid, 0);
    break;
  case PERF_RECORD_COMM:
    if (r->h.misc & PERF_RECORD_MISC_COMM_EXEC)
      func(ctx, LS_PROCEVENT_EXEC, (pid_t)r->comm.pid, 0);
    break;
  case PERF_RECORD_FORK:
    if (r->task.pid != r->task.ppid)
      func(ctx, LS_PROCEVENT_FORK, (pid_t)r->task.pid, (pid_t)r->task.ppid);
    break;
  case PERF_RECORD_LOST:
    func(ctx, LS_PROCEVENT_LOST, 0, 0);
    break;
  default:
    break;
  }
}

static void read_cpu(const LsProcEvents *w, const Cpu *c, LsProcEventFunc *func,
                     void *ctx)
{
  const uint8_t *ring = (const uint8_t *)c->page + w->pagesize;
  size_t size = PAGES * w->pagesize;
  uint64_t head = __atomic_load_n(&c->page->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = c->page->data_tail;
  Record r;
  while (tail < head) {
    size_t i, n;
    for (i = 0; i < sizeof(r.h); i++)
      r.bytes[i] = (char)ring[(tail + i) % size];
    n = r.h.size;
    if (n < sizeof(r.h))
      break;
    for (i = sizeof(r.h); i < n && i < sizeof(r.bytes); i++)
      r.bytes[i] = (char)ring[(tail + i) % size];
    report(&r, func, ctx);
    tail += n;
  }
  __atomic_store_n(&c->page->data_tail, head, __ATOMIC_RELEASE);
}

void ls_procevents_read(LsProcEvents *w, LsProcEventFunc *func, void *ctx)
{
  int i;
  for (i = 0; i < w->ncpu; i++)
    if (w->cpu[i].page)
      read_cpu(w, &w->cpu[i], func, ctx);
}

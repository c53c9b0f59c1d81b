/*
** The BPF program, from user space.
*/

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capable.h"
#include "sampler.h"
#include "sampler.skel.h"
#include "tick.h"

struct LsSampler {
  LsSamplerOptions opt;
  struct sampler_bpf *bpf;
  struct ring_buffer *ring;
  struct ljs_stack stack;   /* A copy, for its alignment and its length. */
  struct ljs_proc proc;     /* Likewise, for its version. */
  LsStackFunc *func;        /* The function that takes stacks, */
  void *ctx;                /* and with what. */
  LsStrangerFunc *stranger; /* Likewise, of strangers; or NULL. */
  void *stranger_ctx;
  struct bpf_program *first, *next; /* Then, by tail calls; or NULL. */
  int ncpu;
  int *event;                      /* One of each CPU, or -1. */
  struct bpf_link *tick;           /* In place of these. */
  struct bpf_link *ending, *ended; /* Of threads. */
  struct bpf_link *threads;        /* Looks at them; or NULL. */
  LsTick where;                    /* Where the tick's timer is. */
  uint32_t version;                /* Of the mappings that were given last. */
  uint32_t pages[LJS_MODULES];     /* Of the tables of each module. */
};

/* -- Loading -------------------------------------------------------------- */

static int verbose; /* libbpf's printer has no context. */

static int print_libbpf(enum libbpf_print_level level, const char *fmt,
                        va_list args) __attribute__((format(printf, 2, 0)));

static int print_libbpf(enum libbpf_print_level level, const char *fmt,
                        va_list args)
{
  if (!verbose || level == LIBBPF_DEBUG)
    return 0;
  return vfprintf(stderr, fmt, args);
}

/* Sets the constants of the program, before it is loaded. */
static int set_constants(LsSampler *s)
{
  const LsSamplerOptions *opt = &s->opt;
  struct stat st;
  if (stat("/proc/self/ns/pid", &st))
    return -1;
  s->bpf->rodata->pidns_dev = st.st_dev;
  s->bpf->rodata->pidns_ino = st.st_ino;
  s->bpf->rodata->no_kernel = !opt->kernel;
  s->bpf->rodata->no_user = !opt->user;
  s->bpf->rodata->no_native = !opt->native;
  s->bpf->rodata->no_lua = !opt->lua;
  s->bpf->rodata->no_strangers = !opt->strangers;
  s->bpf->rodata->hz = opt->hz;
  s->bpf->rodata->tick_hz = ls_tick_hz();
  s->bpf->rodata->tick_bases = s->where.bases;
  s->bpf->rodata->tick_regs = s->where.regs;
  if (opt->ring) {
    s->bpf->rodata->ring_size = opt->ring;
    bpf_map__set_max_entries(s->bpf->maps.ring, opt->ring);
  }
  if (opt->depth) {
    if (opt->depth < LJS_MAX_NATIVE && opt->native)
      s->bpf->rodata->max_native = opt->depth;
    if (opt->depth < LJS_MAX_LUA)
      s->bpf->rodata->max_lua = opt->depth;
  }
  s->bpf->rodata->old_regs =
      libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_task_pt_regs,
                              NULL) != 1;
  return 0;
}

/* Chooses the programs: the first one, and the next one if tail calls lead from
** step to step.
*/
static void choose_programs(LsSampler *s)
{
  int tick = s->opt.event == LS_EVENT_TICK;
  int tails =
      s->opt.tail_calls || libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT,
                                                   BPF_FUNC_loop, NULL) != 1;
  struct bpf_program *unused;
  if (tails) {
    s->first = tick ? s->bpf->progs.tick_tail : s->bpf->progs.sample_tail;
    s->next = tick ? s->bpf->progs.tick_part : s->bpf->progs.sample_part;
  } else {
    s->first = tick ? s->bpf->progs.tick : s->bpf->progs.sample;
  }
  bpf_object__for_each_program(unused, s->bpf->obj)
  {
    bpf_program__set_autoload(
        unused, unused == s->first || unused == s->next ||
                    unused == s->bpf->progs.ending ||
                    unused == s->bpf->progs.ended ||
                    (s->opt.once && unused == s->bpf->progs.threads));
  }
}

/* Before 6.1 programs of events can only use tables that are allocated whole.
** Such ones are smaller: 10 and 50 MB of the kernel's memory.
*/
static void preallocate(LsSampler *s)
{
  bpf_map__set_map_flags(s->bpf->maps.procs, 0);
  bpf_map__set_max_entries(s->bpf->maps.procs, 256);
  bpf_map__set_map_flags(s->bpf->maps.pages, 0);
  bpf_map__set_max_entries(s->bpf->maps.pages, 12288);
}

/* Returns 0, or an error. */
static int try_load(LsSampler *s, int whole)
{
  s->bpf = sampler_bpf__open();
  if (!s->bpf || set_constants(s))
    return -errno;
  choose_programs(s);
  if (whole || s->next)
    preallocate(s);
  return sampler_bpf__load(s->bpf);
}

static int load(LsSampler *s)
{
  uint32_t zero = 0;
  int fd, err = try_load(s, 0);
  if (err == -EINVAL && !s->next) {
    sampler_bpf__destroy(s->bpf);
    err = try_load(s, 1);
  }
  if (err) {
    errno = -err;
    return -1;
  }
  if (!s->next)
    return 0;
  fd = bpf_program__fd(s->next);
  return bpf_map_update_elem(bpf_map__fd(s->bpf->maps.tail), &zero, &fd,
                             BPF_ANY);
}

static int take_stack(void *ctx, void *data, size_t size)
{
  LsSampler *s = ctx;
  size_t head = offsetof(struct ljs_stack, frame);
  if (size < head || size > sizeof(s->stack))
    return 0;
  memcpy(&s->stack, data, size);
  if (s->stack.nframes > (size - head) / sizeof(struct ljs_frame))
    return 0;
  s->func(s->ctx, &s->stack);
  return 0;
}

static int take_stranger(void *ctx, void *data, size_t size)
{
  LsSampler *s = ctx;
  uint32_t pid;
  if (size < sizeof(pid) || !s->stranger)
    return 0;
  memcpy(&pid, data, sizeof(pid));
  s->stranger(s->stranger_ctx, (pid_t)pid);
  return 0;
}

LsSampler *ls_sampler_open(const LsSamplerOptions *opt, char *why, size_t size)
{
  LsSampler *s = calloc(1, sizeof(*s));
  int err;
  if (!s) {
    snprintf(why, size, "out of memory");
    return NULL;
  }
  verbose = opt->verbose;
  libbpf_set_print(print_libbpf);
  s->opt = *opt;
  if (opt->event == LS_EVENT_TICK && ls_tick_find(&s->where, why, size)) {
    ls_sampler_close(s);
    return NULL;
  }
  if (!load(s)) {
    s->ring =
        ring_buffer__new(bpf_map__fd(s->bpf->maps.ring), take_stack, s, NULL);
    if (s->ring &&
        !ring_buffer__add(s->ring, bpf_map__fd(s->bpf->maps.strangers),
                          take_stranger, s))
      return s;
  }
  err = errno;
  ls_capable_why(err, why, size);
  ls_sampler_close(s);
  return NULL;
}

void ls_sampler_close(LsSampler *s)
{
  if (!s)
    return;
  ls_sampler_stop(s);
  bpf_link__destroy(s->ending);
  bpf_link__destroy(s->ended);
  bpf_link__destroy(s->threads);
  ring_buffer__free(s->ring);
  sampler_bpf__destroy(s->bpf);
  free(s);
}

/* -- Tables --------------------------------------------------------------- */

/* Uploads a page. The kernel's allocator may be out of pages for a moment: then
** it is tried again.
*/
static int put_page(LsSampler *s, uint32_t module, uint32_t n,
                    const struct ljs_page *page)
{
  struct timespec moment = {0, 20000};
  uint64_t key = LJS_PAGE_KEY(module, n);
  int tries = 500, err;
  do {
    err = bpf_map_update_elem(bpf_map__fd(s->bpf->maps.pages), &key, page,
                              BPF_ANY);
  } while (err && errno == ENOMEM && tries-- && !nanosleep(&moment, NULL));
  return err;
}

/* Puts rows into pages, and their `pc` into directories: DIR gets those of
** these.
*/
static int put_rows(LsSampler *s, uint32_t module, const struct ljs_row *row,
                    size_t n, uint32_t dir[LJS_DIRS])
{
  struct ljs_page page, pcs;
  size_t i, k, npages = (n + LJS_PAGE_ROWS - 1) / LJS_PAGE_ROWS;
  memset(&pcs, 0xff, sizeof(pcs));
  memset(dir, 0xff, LJS_DIRS * sizeof(*dir));
  for (i = 0; i < npages; i++) {
    const struct ljs_row *from = row + i * LJS_PAGE_ROWS;
    k = n - i * LJS_PAGE_ROWS;
    memset(&page, 0xff, sizeof(page)); /* Unused entries are never found. */
    memcpy(page.row, from,
           (k < LJS_PAGE_ROWS ? k : LJS_PAGE_ROWS) * sizeof(*row));
    if (put_page(s, module, i, &page))
      return -1;
    k = i % LJS_PAGE_PCS;
    pcs.pc[k] = from->pc;
    if (k == 0)
      dir[i / LJS_PAGE_PCS] = from->pc;
    if (k + 1 < LJS_PAGE_PCS && i + 1 < npages)
      continue;
    if (put_page(s, module, LJS_PAGE_DIR | (uint32_t)(i / LJS_PAGE_PCS), &pcs))
      return -1;
    memset(&pcs, 0xff, sizeof(pcs));
  }
  return 0;
}

#define ROWS_MAX ((size_t)LJS_DIRS * LJS_PAGE_PCS * LJS_PAGE_ROWS)

int ls_sampler_module(LsSampler *s, uint32_t id, const struct ljs_row *row,
                      size_t n, const struct ljs_vm *vm)
{
  struct ljs_module m = {.hasvm = vm != NULL};
  m.nrows = n < ROWS_MAX ? n : ROWS_MAX;
  if (vm)
    m.vm = *vm;
  if (id >= LJS_MODULES) {
    errno = ENOSPC;
    return -1;
  }
  s->pages[id] = (uint32_t)((m.nrows + LJS_PAGE_ROWS - 1) / LJS_PAGE_ROWS);
  if (put_rows(s, id, row, m.nrows, m.dir)) {
    int err = errno;
    ls_sampler_drop(s, id); /* The part that was uploaded. */
    errno = err;
    return -1;
  }
  return bpf_map_update_elem(bpf_map__fd(s->bpf->maps.modules), &id, &m,
                             BPF_ANY);
}

void ls_sampler_drop(LsSampler *s, uint32_t id)
{
  static const struct ljs_module none;
  int pages = bpf_map__fd(s->bpf->maps.pages);
  uint32_t i, n;
  uint64_t key;
  if (id >= LJS_MODULES)
    return;
  n = s->pages[id];
  bpf_map_update_elem(bpf_map__fd(s->bpf->maps.modules), &id, &none, BPF_ANY);
  for (i = 0; i < n; i++) {
    key = LJS_PAGE_KEY(id, i);
    bpf_map_delete_elem(pages, &key);
    if (i % LJS_PAGE_PCS) /* One directory for so many. */
      continue;
    key = LJS_PAGE_KEY(id, LJS_PAGE_DIR | i / LJS_PAGE_PCS);
    bpf_map_delete_elem(pages, &key);
  }
  s->pages[id] = 0;
}

int ls_sampler_distrust(LsSampler *s, uint32_t id)
{
  int fd = bpf_map__fd(s->bpf->maps.modules);
  struct ljs_module m;
  if (bpf_map_lookup_elem(fd, &id, &m))
    return -1;
  m.hasvm = 0;
  return bpf_map_update_elem(fd, &id, &m, BPF_ANY);
}

int ls_sampler_process(LsSampler *s, pid_t pid, const struct ljs_proc *proc)
{
  uint32_t key = pid;
  s->proc = *proc;
  s->proc.version = ++s->version;
  return bpf_map_update_elem(bpf_map__fd(s->bpf->maps.procs), &key, &s->proc,
                             BPF_ANY);
}

int ls_sampler_forget(LsSampler *s, pid_t pid)
{
  uint32_t key = pid;
  return bpf_map_delete_elem(bpf_map__fd(s->bpf->maps.procs), &key);
}

/* -- Clocks --------------------------------------------------------------- */

static int open_event(const LsSampler *s, int cpu)
{
  int cycles = s->opt.event == LS_EVENT_CYCLES;
  struct perf_event_attr attr = {
      .size = sizeof(attr),
      .type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
      .config = cycles ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES
                       : (uint64_t)PERF_COUNT_SW_CPU_CLOCK,
      .freq = 1,
      .sample_freq = s->opt.hz,
      .disabled = 1,
  };
  return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
                      PERF_FLAG_FD_CLOEXEC);
}

#define TICKS_WAIT 20 /* For the first that is seen. */

/* Attaches the program to ticks and waits for the first. An idle CPU has none,
** so this CPU is kept busy.
*/
static int start_tick(LsSampler *s, char *why, size_t size)
{
  clock_t end = clock() + TICKS_WAIT * CLOCKS_PER_SEC / ls_tick_hz();
  s->tick = bpf_program__attach(s->first);
  if (!s->tick) {
    ls_capable_why(errno, why, size);
    return -1;
  }
  while (!__atomic_load_n(&s->bpf->bss->ticking, __ATOMIC_RELAXED)) {
    if (clock() < end)
      continue;
    snprintf(why, size, "the kernel's tick is not seen: leave out -e tick");
    ls_sampler_stop(s);
    return -1;
  }
  return 0;
}

/* The most samples a second that the kernel takes; it lowers that itself when
** they take too long. UINT_MAX: not known.
*/
static unsigned max_rate(void)
{
  FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
  char line[32];
  unsigned long rate = UINT_MAX;
  if (!f)
    return UINT_MAX;
  if (fgets(line, sizeof(line), f))
    rate = strtoul(line, NULL, 10);
  fclose(f);
  return (unsigned)rate;
}

static int start_events(LsSampler *s, char *why, size_t size)
{
  int prog = bpf_program__fd(s->first);
  int cpu, n = 0;
  s->ncpu = libbpf_num_possible_cpus();
  s->event = s->ncpu > 0 ? malloc(s->ncpu * sizeof(int)) : NULL;
  if (!s->event) {
    snprintf(why, size, "out of memory");
    return -1;
  }
  memset(s->event, -1, s->ncpu * sizeof(int));
  for (cpu = 0; cpu < s->ncpu; cpu++) {
    int fd = s->event[cpu] = open_event(s, cpu);
    if (fd < 0 && errno == ENODEV) /* Not there, or switched off. */
      continue;
    if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) ||
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
      if (s->opt.event == LS_EVENT_CYCLES &&
          (errno == ENOENT || errno == EOPNOTSUPP))
        snprintf(why, size,
                 "this machine counts no cycles: leave out -e cycles");
      else if (errno == EINVAL && s->opt.hz > max_rate())
        snprintf(why, size,
                 "the kernel refuses %u samples a second: it takes at most %u "
                 "(sysctl kernel.perf_event_max_sample_rate)",
                 s->opt.hz, max_rate());
      else
        ls_capable_why(errno, why, size);
      ls_sampler_stop(s);
      return -1;
    }
    n++;
  }
  if (!n)
    snprintf(why, size, "no CPU has a clock for samples");
  return n ? 0 : -1;
}

int ls_sampler_start(LsSampler *s, char *why, size_t size)
{
  /* Without these, CPU time is as last read. */
  s->ending = bpf_program__attach(s->bpf->progs.ending);
  s->ended = bpf_program__attach(s->bpf->progs.ended);
  return s->opt.event == LS_EVENT_TICK ? start_tick(s, why, size)
                                       : start_events(s, why, size);
}

void ls_sampler_stop(LsSampler *s)
{
  int cpu;
  for (cpu = 0; s->event && cpu < s->ncpu; cpu++)
    if (s->event[cpu] >= 0)
      close(s->event[cpu]);
  free(s->event);
  s->event = NULL;
  bpf_link__destroy(s->tick);
  s->tick = NULL;
}

/* -- Taking what was sampled ---------------------------------------------- */

int ls_sampler_fd(const LsSampler *s)
{
  return ring_buffer__epoll_fd(s->ring);
}

int ls_sampler_stacks(LsSampler *s, LsStackFunc *func, void *ctx)
{
  s->func = func;
  s->ctx = ctx;
  return ring_buffer__consume(s->ring);
}

void ls_sampler_strangers(LsSampler *s, LsStrangerFunc *func, void *ctx)
{
  s->stranger = func;
  s->stranger_ctx = ctx;
}

int ls_sampler_threads(LsSampler *s, LsThreadFunc *func, void *ctx)
{
  struct ljs_thread thread[64];
  ssize_t n = -1, i;
  int fd;
  if (!s->threads)
    s->threads = bpf_program__attach_iter(s->bpf->progs.threads, NULL);
  fd = s->threads ? bpf_iter_create(bpf_link__fd(s->threads)) : -1;
  if (fd < 0)
    return -1;
  /* The kernel writes whole ones only, as many as there is room for. */
  while ((n = read(fd, thread, sizeof(thread))) > 0)
    for (i = 0; i < n / (ssize_t)sizeof(*thread); i++)
      func(ctx, &thread[i]);
  close(fd);
  return n < 0 ? -1 : 0;
}

void ls_sampler_switch(LsSampler *s)
{
  __atomic_store_n(&s->bpf->bss->generation, !s->bpf->bss->generation,
                   __ATOMIC_SEQ_CST);
}

#define BATCH 1024

int ls_sampler_counts(LsSampler *s, LsCountFunc *func, void *ctx)
{
  int fd = bpf_map__fd(s->bpf->bss->generation ? s->bpf->maps.counts0
                                               : s->bpf->maps.counts1);
  struct ljs_key *key = malloc(BATCH * sizeof(*key));
  uint64_t *value = malloc(BATCH * sizeof(*value));
  uint32_t in = 0, out = 0, n, i;
  int first = 1, err = key && value ? 0 : -1;
  while (!err) {
    n = BATCH;
    err = bpf_map_lookup_and_delete_batch(fd, first ? NULL : &in, &out, key,
                                          value, &n, NULL);
    if (err && errno != ENOENT)
      break;
    for (i = 0; i < n; i++)
      func(ctx, &key[i], value[i]);
    in = out;
    first = 0;
  }
  if (err && errno == ENOENT) /* That was all. */
    err = 0;
  free(key);
  free(value);
  return err;
}

void ls_sampler_ends(LsSampler *s, LsEndFunc *func, void *ctx)
{
  int fd = bpf_map__fd(s->bpf->maps.ends), more;
  uint32_t key, next;
  struct ljs_end end;
  more = !bpf_map_get_next_key(fd, NULL, &key);
  while (more) {
    more = !bpf_map_get_next_key(fd, &key, &next);
    if (!bpf_map_lookup_elem(fd, &key, &end) && end.done) {
      func(ctx, (pid_t)end.pid, end.cpu);
      bpf_map_delete_elem(fd, &key);
    }
    key = next;
  }
}

void ls_sampler_statistics(const LsSampler *s, uint64_t count[LJS_STATISTICS])
{
  int ncpu = libbpf_num_possible_cpus(), cpu;
  uint64_t *value = ncpu > 0 ? calloc(ncpu, sizeof(*value)) : NULL;
  uint32_t i;
  memset(count, 0, LJS_STATISTICS * sizeof(*count));
  for (i = 0; value && i < LJS_STATISTICS; i++)
    if (!bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.statistics), &i, value))
      for (cpu = 0; cpu < ncpu; cpu++)
        count[i] += value[cpu];
  free(value);
}

/*
** The BPF program: takes the stack of a sampled process when its CPU's clock
** fires. The clock is an event of perf, or the kernel's existing timer tick.
**
** Stacks are counted here: a stack goes to user space only when it is new in
*the
** current interval. If the ring buffer is full then, the sample is dropped, and
** counted as dropped. User space switches between two tables of
** counts, and empties the one that is not in use.
*/

#include "kernel.h"
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "ljs.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* -- Set before the program is loaded ------------------------------------- */

const volatile __u64 pidns_dev = 0, pidns_ino = 0; /* Of the sampler. */
const volatile __u32 no_kernel = 0, no_user = 0;
const volatile __u32 no_native = 0, no_lua = 0;
const volatile __u32 max_native = LJS_MAX_NATIVE, max_lua = LJS_MAX_LUA;
const volatile __u32 old_regs = 0; /* The kernel has no bpf_task_pt_regs(). */
const volatile __u32 hz = 0, tick_hz = 0; /* Samples, and ticks, a second. */
const volatile __s64 tick_bases = 0, tick_regs = 0; /* See tick.h. */

__u32 generation = 0; /* Which table of counts is in use: 0 or 1. */
__u32 ticking = 0;    /* A tick was seen. */

/* -- Maps ----------------------------------------------------------------- */

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, __u32);
  __type(value, struct ljs_proc);
} procs SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 4096);
  __type(key, __u32);
  __type(value, struct ljs_module);
} modules SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, __u64); /* LJS_PAGE_KEY. */
  __type(value, struct ljs_page);
} pages SEC(".maps");

struct counts {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, struct ljs_key);
  __type(value, __u64);
};

struct counts counts0 SEC(".maps"), counts1 SEC(".maps");

#define RING_SIZE (4 << 20)

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, RING_SIZE);
} ring SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, LJS_STATISTICS);
  __type(key, __u32);
  __type(value, __u64);
} statistics SEC(".maps");

/* -- The unwinder's surroundings ------------------------------------------ */

#define SEARCH_MAPS 11 /* 2^n is more than LJS_MAX_MAPS. */

static __always_inline int ljs_read(void *dst, __u32 n, __u64 addr)
{
  return bpf_probe_read_user(dst, n, (const void *)addr) ? -1 : 0;
}

static __always_inline struct ljs_module *ljs_find_module(__u32 module)
{
  return bpf_map_lookup_elem(&modules, &module);
}

#include "unwind.h"

/* The state of a CPU, too large for the stack. */
struct scratch {
  __u32 busy;
  __u32 owed; /* Samples due by ticks, times tick_hz. */
  __u64 kernel[LJS_MAX_KERNEL];
  struct ljs_walk walk;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline struct scratch *get_scratch(void)
{
  __u32 zero = 0;
  return bpf_map_lookup_elem(&scratches, &zero);
}

/* The mapping that holds PC. */
static __always_inline struct ljs_map *find_map(struct ljs_proc *proc, __u64 pc)
{
  __u32 lo = 0, hi = proc->nmaps, i;
  for (i = 0; i < SEARCH_MAPS; i++) {
    __u32 mid = (lo + hi) / 2;
    if (lo >= hi || mid >= LJS_MAX_MAPS)
      break;
    if (pc < proc->map[mid].start)
      hi = mid;
    else if (pc >= proc->map[mid].end)
      lo = mid + 1;
    else
      return &proc->map[mid];
  }
  return 0;
}

static __always_inline struct ljs_page *find_page(__u32 module, __u32 n)
{
  __u64 key = LJS_PAGE_KEY(module, n);
  return bpf_map_lookup_elem(&pages, &key);
}

/* Which of an array's entries is the last one with pc_of(I) <= PC; 0 if none
** is. Without a branch that depends on what is compared, which the verifier
** would follow both ways: 2^steps paths. What is not used is UINT32_MAX.
*/
#define FIND_LAST(last, first_half, max, pc_of)                                \
  do {                                                                         \
    __u32 half_;                                                               \
    (last) = 0;                                                                \
    _Pragma("unroll") for (half_ = (first_half); half_; half_ /= 2)            \
    {                                                                          \
      __u32 i_ = (last) + half_;                                               \
      if (i_ < (max))                                                          \
        (last) += half_ & (__u32)((((__u64)pc - (pc_of)) >> 63) - 1);          \
    }                                                                          \
  } while (0)

/* The last row at or before an address, by two pages. */
static __always_inline struct ljs_row *search_rows(__u32 module, __u64 pc)
{
  struct ljs_module *m = ljs_find_module(module);
  struct ljs_page *page;
  __u32 n, at;
  if (!m || pc >> 32)
    return 0;
  FIND_LAST(n, LJS_DIRS / 2, LJS_DIRS, m->dir[i_]);
  page = find_page(module, LJS_PAGE_DIR | n);
  if (!page)
    return 0;
  FIND_LAST(at, 512, LJS_PAGE_PCS, page->pc[i_]);
  page = find_page(module, n * LJS_PAGE_PCS + at);
  if (!page)
    return 0;
  FIND_LAST(at, 128, LJS_PAGE_ROWS, page->row[i_].pc);
  if (at >= LJS_PAGE_ROWS || page->row[at].pc > pc)
    return 0;
  return &page->row[at];
}

/* A cache of rows. Most samples have the same callers; a search touches twenty
** cold cache lines, the cache one.
*/
#define LATELY 256

struct lately {
  __u64 pc;
  __u32 version; /* Of the mappings of a process, from 1. */
  __u32 module;
  struct ljs_row row;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, LATELY);
  __type(key, __u32);
  __type(value, struct lately);
} lately_rows SEC(".maps");

static __always_inline struct lately *lately(__u32 version, __u64 pc)
{
  __u32 at = (__u32)(ljs_mix(version, pc) >> 56) % LATELY;
  return bpf_map_lookup_elem(&lately_rows, &at);
}

/* Searches the last row at or before an address. Returns 1, and it is found
** lately, or 0. Not inlined: verified once only.
*/
__noinline int search(__u64 pc)
{
  struct scratch *s = get_scratch();
  struct ljs_proc *proc;
  struct ljs_map *map;
  struct ljs_row *row;
  struct lately *l;
  __u32 pid, module;
  __u64 bias;
  if (!s)
    return 0;
  s->walk.code = LJS_NO_MODULE;
  pid = s->walk.out.pid;
  proc = bpf_map_lookup_elem(&procs, &pid);
  if (!proc)
    return 0;
  s->walk.version = proc->version; /* They may be newer than the walk. */
  map = find_map(proc, pc);
  if (!map)
    return 0;
  module = map->module;
  bias = map->bias;
  if (*(volatile __u32 *)&proc->version != s->walk.version)
    return 0; /* The entry was reused meanwhile. */
  s->walk.code = module;
  row = search_rows(module, pc - bias);
  l = lately(s->walk.version, pc);
  if (!row || !l)
    return 0;
  l->pc = pc;
  l->version = s->walk.version;
  l->module = module;
  l->row = *row;
  return 1;
}

static __always_inline struct ljs_row *ljs_find_row(struct ljs_walk *w,
                                                    __u64 pc)
{
  struct lately *l = lately(w->version, pc);
  if (!l || l->pc != pc || l->version != w->version) {
    if (!search(pc))
      return 0;
    l = lately(w->version, pc);
    if (!l)
      return 0;
  }
  w->code = l->module;
  return &l->row;
}

/* -- One sample ----------------------------------------------------------- */

static __always_inline void count_statistic(__u32 which)
{
  __u64 *n = bpf_map_lookup_elem(&statistics, &which);
  if (n)
    *n += 1;
}

/* The saved user space registers of the thread. */
static __always_inline struct pt_regs *user_regs(void)
{
  if (!old_regs) {
    return (struct pt_regs *)bpf_task_pt_regs(
        (void *)bpf_get_current_task_btf());
  } else { /* They are at the very top of the kernel's stack. */
    struct task_struct *task = (struct task_struct *)bpf_get_current_task();
    void *stack = BPF_CORE_READ(task, stack);
    return stack + 16384 - sizeof(struct ljs_user_regs);
  }
}

static __always_inline void user_regs_saved(struct ljs_walk *w)
{
  struct pt_regs *regs = user_regs();
  w->pc = BPF_CORE_READ(regs, ip);
  w->sp = BPF_CORE_READ(regs, sp);
  w->bp = BPF_CORE_READ(regs, bp);
  w->bx = BPF_CORE_READ(regs, bx);
  w->dx = BPF_CORE_READ(regs, dx);
}

/* The kernel's frames. Unless LEAF is 0, those before it are of the interrupt
** that takes the sample, and where the kernel cannot unwind that, LEAF is all
** that is known.
*/
static __always_inline void kernel_frames(struct scratch *s, void *ctx,
                                          __u64 leaf)
{
  long n = bpf_get_stack(ctx, s->kernel, sizeof(s->kernel), 0);
  __u8 flags = 0;
  __u32 i;
  for (i = 0; i < LJS_MAX_KERNEL; i++) {
    if (n < (i + 1) * 8l)
      break;
    if (leaf && s->kernel[i] != leaf)
      continue;
    leaf = 0;
    ljs_push(&s->walk, s->kernel[i], 0, 0,
             LJS_WHAT(LJS_FRAME_KERNEL, flags, 0));
    flags = LJS_FLAG_RETURN;
  }
  if (leaf)
    ljs_push(&s->walk, leaf, 0, 0, LJS_WHAT(LJS_FRAME_KERNEL, 0, 0));
}

#define SYS_EXECVE   59
#define SYS_EXECVEAT 322

/* A sample in the kernel: is the user's stack gone? A process that ends gives
** its memory back before it is done. So does one that executes another program,
** which has got other memory by then: the registers are still those of the old
** program, or those that the new one will begin with. A system call leaves its
** own place in rcx, and a new program has 0 there. Then the kernel's frames are
** the whole stack.
*/
static __always_inline int is_stack_gone(const struct ljs_walk *w)
{
  struct task_struct *task = (struct task_struct *)bpf_get_current_task();
  __u64 call, word;
  if (!BPF_CORE_READ(task, mm))
    return 1;
  call = BPF_CORE_READ(user_regs(), orig_ax);
  if (call != SYS_EXECVE && call != SYS_EXECVEAT)
    return 0;
  return BPF_CORE_READ(user_regs(), cx) != w->pc ||
         ljs_read(&word, sizeof(word), w->sp);
}

/* The rest of a sample in the kernel: the thread's frames in user space. */
static __always_inline void below_kernel(struct ljs_walk *w)
{
  user_regs_saved(w);
  if (is_stack_gone(w))
    w->mode = LJS_DONE;
}

/* A new walk. begin_event() or begin_tick() sets its registers. */
static __always_inline void begin(struct scratch *s,
                                  const struct ljs_proc *proc)
{
  struct ljs_walk *w = &s->walk;
  ljs_begin(w);
  w->nvm = proc->nvm;
  w->vm = proc->vm;
  w->version = proc->version;
  w->nonative = no_native;
  w->nolua = no_lua;
  w->maxnative = max_native;
  w->maxlua = max_lua;
  if (no_user)
    w->mode = LJS_DONE;
}

/* The walk begins where an event of perf found the thread. */
static __always_inline void begin_event(struct scratch *s, void *ctx)
{
  const struct ljs_user_regs *regs = ctx;
  struct ljs_walk *w = &s->walk;
  if ((regs->cs & 3) == 3) {
    w->pc = regs->rip;
    w->sp = regs->rsp;
    w->bp = regs->rbp;
    w->bx = regs->rbx;
    w->dx = regs->rdx;
  } else {
    if (!no_kernel)
      kernel_frames(s, ctx, 0);
    below_kernel(w);
  }
}

/* The walk begins where the tick's interrupt found the thread. If that is in
** user space, its registers were saved where those of a system call are.
*/
static __always_inline void begin_tick(struct scratch *s, void *ctx,
                                       struct hrtimer *timer)
{
  struct pt_regs *regs = 0;
  if (bpf_probe_read_kernel(&regs, sizeof(regs), (void *)timer + tick_regs) ||
      !regs || (BPF_CORE_READ(regs, cs) & 3)) {
    user_regs_saved(&s->walk);
    return;
  }
  if (!no_kernel)
    kernel_frames(s, ctx, BPF_CORE_READ(regs, ip));
  below_kernel(&s->walk);
}

/* What user space has seen and can name later: VMs, and the functions and
** traces of frames.
*/
#define MET_BITS 16

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1 << MET_BITS);
  __type(key, __u32);
  __type(value, __u64);
} met SEC(".maps");

/* Is it new in the process, and so may be freed soon? */
static __always_inline __u32 is_new(__u32 pid, __u64 what, __u64 more)
{
  __u64 key = ljs_mix(ljs_mix(ljs_mix(0, pid), what), more), *old;
  __u32 at = (__u32)(key >> (64 - MET_BITS));
  old = bpf_map_lookup_elem(&met, &at);
  if (!old || *old == key)
    return 0;
  *old = key;
  return 1;
}

/* Kinds of frames whose names are read from the process. */
#define ASKED                                                                  \
  (1u << LJS_FRAME_LUA | 1u << LJS_FRAME_BUILTIN | 1u << LJS_FRAME_TRACE |     \
   1u << LJS_FRAME_JIT)

/* Is frame I of the stack in something new? Not inlined: verified once only. */
__noinline int frame_is_new(__u32 i)
{
  struct scratch *s = get_scratch();
  const struct ljs_frame *f;
  __u32 x;
  if (!s || i >= LJS_MAX_FRAMES)
    return 0;
  f = &s->walk.out.frame[i];
  if (!(ASKED >> (f->kind & 31) & 1))
    return 0;
  x = f->kind == LJS_FRAME_BUILTIN ? f->x : 0;
  return (int)is_new(s->walk.out.pid, f->addr,
                     (__u64)x << 32 | f->check << 8 | f->kind);
}

/* Must user space be woken for a stack? That takes an interrupt of this CPU and
** one of another, and more time than the rest of a sample. Without it, stacks
** are read when a table of counts is emptied.
*/
static __always_inline __u64 wakeup(const struct ljs_stack *out)
{
  __u32 n = out->nframes, i, urgent = 0;
  __u64 last = 0;
  if (out->g)
    urgent = is_new(out->pid, out->g, 0);
#pragma nounroll
  for (i = 0; i < LJS_MAX_FRAMES && i < n; i++) {
    if (out->frame[i].addr != last)
      urgent |= (__u32)frame_is_new(i);
    last = out->frame[i].addr;
  }
  if (!urgent && bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < RING_SIZE / 4)
    return BPF_RB_NO_WAKEUP;
  count_statistic(LJS_WOKEN);
  return BPF_RB_FORCE_WAKEUP;
}

/* Sends a new stack to user space. Returns 0, or -1 if the ring is full. */
static __always_inline int deliver(struct ljs_stack *out)
{
  __u32 n = out->nframes;
  __u64 size;
  if (n > LJS_MAX_FRAMES)
    n = LJS_MAX_FRAMES;
  size = sizeof(*out) - sizeof(out->frame) + n * sizeof(struct ljs_frame);
  if (size > sizeof(*out))
    return -1;
  return bpf_ringbuf_output(&ring, out, size, wakeup(out)) ? -1 : 0;
}

/* Counts the finished stack. Not inlined: verified only once. */
__noinline int finish(void)
{
  struct scratch *s = get_scratch();
  struct ljs_stack *out;
  struct ljs_key key = {0};
  __u64 *n, one = 1;
  if (!s)
    return 0;
  out = &s->walk.out;
  out->key = ljs_mix(out->key, out->cut);
  key.key = out->key;
  key.pid = out->pid;
  key.tid = out->tid;
  if (generation & 1)
    n = bpf_map_lookup_elem(&counts1, &key);
  else
    n = bpf_map_lookup_elem(&counts0, &key);
  if (n) {
    __sync_fetch_and_add(n, 1);
  } else if (deliver(out)) {
    count_statistic(LJS_DROPPED_RING);
  } else {
    long err;
    if (generation & 1)
      err = bpf_map_update_elem(&counts1, &key, &one, BPF_NOEXIST);
    else
      err = bpf_map_update_elem(&counts0, &key, &one, BPF_NOEXIST);
    if (err)
      count_statistic(LJS_DROPPED_FULL);
  }
  s->busy = 0;
  return 0;
}

#define PIDNS_INIT 0xeffffffcu /* Fixed for the initial namespace. */

#define LEVELS 8 /* Of pid namespaces that are looked at. */

/* The number of a task in the sampler's pid namespace; 0 if it has none. */
static __always_inline __u32 number_of(struct task_struct *task)
{
  struct pid *pid = BPF_CORE_READ(task, thread_pid);
  __u32 level = BPF_CORE_READ(pid, level), i;
  for (i = 0; i < LEVELS; i++) {
    struct upid upid;
    if (i > level ||
        bpf_probe_read_kernel(&upid, sizeof(upid),
                              (void *)&pid->numbers[0] + i * sizeof(upid)))
      return 0;
    if (BPF_CORE_READ(upid.ns, ns.inum) == (__u32)pidns_ino)
      return upid.nr;
  }
  return 0;
}

/* Ids of the current thread and process in the sampler's pid namespace. Returns
** 0 if they are not in it.
*/
static __always_inline int current_ids(struct bpf_pidns_info *ids)
{
  struct task_struct *task;
  if (pidns_ino == PIDNS_INIT) { /* The kernel's own numbers, then. */
    __u64 both = bpf_get_current_pid_tgid();
    ids->pid = (__u32)both;
    ids->tgid = both >> 32;
    return 1;
  }
  if (!bpf_get_ns_current_pid_tgid(pidns_dev, pidns_ino, ids, sizeof(*ids)))
    return 1;
  task = (struct task_struct *)bpf_get_current_task();
  ids->pid = number_of(task);
  ids->tgid = number_of(BPF_CORE_READ(task, group_leader));
  return ids->tgid != 0;
}

/* Starts a stack if this is a sampled process. */
static __always_inline struct scratch *start(void)
{
  struct bpf_pidns_info ids;
  struct ljs_proc *proc;
  struct scratch *s;
  __u32 pid;
  if (!current_ids(&ids))
    return 0;
  pid = ids.tgid;
  proc = bpf_map_lookup_elem(&procs, &pid);
  s = get_scratch();
  if (!proc || !s)
    return 0;
  count_statistic(LJS_FIRED);
  if (s->busy) {
    count_statistic(LJS_DROPPED_BUSY);
    return 0;
  }
  s->busy = 1;
  s->walk.out.pid = ids.tgid;
  s->walk.out.tid = ids.pid;
  begin(s, proc);
  return s;
}

/* Starts a sample of an event of perf. */
static __always_inline struct scratch *start_event(void *ctx)
{
  struct scratch *s = start();
  if (s)
    begin_event(s, ctx);
  return s;
}

/* Is a sample due at this tick? There are hz samples in tick_hz ticks. */
static __always_inline int is_due(void)
{
  struct scratch *s = get_scratch();
  if (!s)
    return 0;
  s->owed += hz;
  if (s->owed < tick_hz)
    return 0;
  s->owed -= tick_hz;
  return 1;
}

/* Starts a sample if the timer that has expired is this CPU's tick. It is one
** of the CPU's own variables, so it is known by its distance from another.
*/
static __always_inline struct scratch *start_tick(__u64 *ctx)
{
  struct hrtimer *timer = (struct hrtimer *)ctx[0];
  struct scratch *s;
  if ((__s64)timer->base->cpu_base - (__s64)timer != tick_bases)
    return 0;
  if (!ticking)
    ticking = 1;
  if (!is_due())
    return 0;
  s = start();
  if (s)
    begin_tick(s, ctx, timer);
  return s;
}

/* -- CPU time of processes that end --------------------------------------- */

/* By the kernel's own number of the process: there is no other when its memory
** is freed.
*/
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u32);
  __type(value, struct ljs_end);
} ends SEC(".maps");

/* A thread ends. */
SEC("tp_btf/sched_process_exit")
int ending(void *ctx)
{
  __u32 tgid = bpf_get_current_pid_tgid() >> 32, pid;
  struct ljs_end end = {0};
  struct bpf_pidns_info ids;
  (void)ctx;
  if (!current_ids(&ids))
    return 0;
  pid = end.pid = ids.tgid;
  if (bpf_map_lookup_elem(&procs, &pid))
    bpf_map_update_elem(&ends, &tgid, &end, BPF_NOEXIST);
  return 0;
}

/* A thread has been waited for, and has used all the time that it will. */
SEC("tp_btf/sched_process_free")
int ended(__u64 *ctx)
{
  struct task_struct *task = (struct task_struct *)ctx[0];
  __u32 tgid = task->tgid;
  struct ljs_end *end = bpf_map_lookup_elem(&ends, &tgid);
  __u64 cpu;
  if (!end)
    return 0;
  cpu = task->signal->sum_sched_runtime;
  if (cpu > end->cpu)
    end->cpu = cpu;
  if (!task->signal->nr_threads)
    end->done = 1;
  return 0;
}

/* -- Kernels with bpf_loop() ---------------------------------------------- */

struct loop {
  struct scratch *s;
};

static long loop_step(__u32 i, void *arg)
{
  struct loop *loop = arg;
  (void)i;
  return ljs_step(&loop->s->walk);
}

/* All of the walk. */
static __always_inline int walk_loop(struct scratch *s)
{
  struct loop loop = {s};
  if (!s)
    return 0;
  bpf_loop(LJS_STEPS, loop_step, &loop, 0);
  if (s->walk.mode != LJS_DONE)
    ljs_cut(&s->walk, LJS_CUT_STEPS);
  finish();
  return 0;
}

SEC("perf_event")
int sample(void *ctx)
{
  return walk_loop(start_event(ctx));
}

SEC("tp_btf/hrtimer_expire_entry")
int tick(void *ctx)
{
  return walk_loop(start_tick(ctx));
}

/* -- Kernels without: one program after the other ------------------------- */

#define TAIL_STEPS 48 /* Of one program; the kernel allows 33 in a row. */

struct {
  __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
  __uint(max_entries, 1);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(__u32));
} tail SEC(".maps");

/* One step: a function of its own, so that it is verified only once. */
__noinline int step_tail(void)
{
  struct scratch *s = get_scratch();
  return s ? ljs_step(&s->walk) : 1;
}

/* Continues with the next program of the chain; returns only on failure. */
static __always_inline int walk_on(struct scratch *s, void *ctx)
{
  if (!s)
    return 0;
  bpf_tail_call(ctx, &tail, 0);
  ljs_cut(&s->walk, LJS_CUT_STEPS);
  finish();
  return 0;
}

/* A part of the walk. */
static __always_inline int walk_part(void *ctx)
{
  struct scratch *s = get_scratch();
  __u32 i;
  if (!s)
    return 0;
  for (i = 0; i < TAIL_STEPS; i++) {
    if (step_tail()) {
      finish();
      return 0;
    }
  }
  return walk_on(s, ctx);
}

SEC("perf_event")
int sample_tail(void *ctx)
{
  return walk_on(start_event(ctx), ctx);
}

SEC("perf_event")
int sample_part(void *ctx)
{
  return walk_part(ctx);
}

/* A chain is of one kind of programs. */
SEC("tp_btf/hrtimer_expire_entry")
int tick_tail(void *ctx)
{
  return walk_on(start_tick(ctx), ctx);
}

SEC("tp_btf/hrtimer_expire_entry")
int tick_part(void *ctx)
{
  return walk_part(ctx);
}

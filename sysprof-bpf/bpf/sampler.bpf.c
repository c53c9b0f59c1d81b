/*
** The BPF program: takes the stack of a sampled process when its CPU's clock
** fires. The clock is an event of perf, or the kernel's existing timer tick.
**
** Stacks are counted here: a stack goes to user space only when it is new in
** the current interval. If the ring buffer is full then, the sample is dropped,
** and counted as dropped. User space switches between two tables of counts, and
** empties the one that is not in use.
*/

#include "kernel.h"
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "ljs.h"
#include "bpfmaps.h"
#include "search.h"
#include "registers.h"
#include "deliver.h"
#include "ids.h"
#include "ends.h"
#include "strangers.h"
#include "threads.h"
#include "unwind_walk.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* -- One sample ----------------------------------------------------------- */

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
  if (!proc && !no_strangers)
    meet(pid);
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

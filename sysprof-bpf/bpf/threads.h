/*
** The threads of the sampled processes, with the registers that each had when
** it entered the kernel. A thread that waits has no clock, so it is not
** sampled; its stack is walked in user space, from these registers.
*/

#ifndef LJS_THREADS_H
#define LJS_THREADS_H

/* The saved user space registers of a thread. */
static __always_inline struct pt_regs *regs_of(struct task_struct *task)
{
  if (!old_regs)
    return (struct pt_regs *)bpf_task_pt_regs((void *)task);
  return BPF_CORE_READ(task, stack) + 16384 - sizeof(struct ljs_user_regs);
}

/* Writes a struct ljs_thread if the thread is of a sampled process. */
SEC("iter/task")
int threads(struct bpf_iter__task *ctx)
{
  struct task_struct *task = ctx->task;
  struct ljs_thread t = {0};
  struct pt_regs *regs;
  if (!task || !BPF_CORE_READ(task, mm))
    return 0;
  t.pid = number_of(BPF_CORE_READ(task, group_leader));
  if (!bpf_map_lookup_elem(&procs, &t.pid))
    return 0;
  t.tid = number_of(task);
  t.running = BPF_CORE_READ(task, on_cpu) != 0;
  t.switches = BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
  regs = regs_of(task);
  t.pc = BPF_CORE_READ(regs, ip);
  t.sp = BPF_CORE_READ(regs, sp);
  t.bp = BPF_CORE_READ(regs, bp);
  t.bx = BPF_CORE_READ(regs, bx);
  t.dx = BPF_CORE_READ(regs, dx);
  bpf_seq_write(ctx->meta->seq, &t, sizeof(t));
  return 0;
}

#endif

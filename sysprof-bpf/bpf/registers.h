/*
** Where a walk begins: the registers of the thread in user space, and the
** kernel's frames above them.
*/

#ifndef LJS_REGISTERS_H
#define LJS_REGISTERS_H

#include "unwind_walk.h"

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

/* Start the walk at the registers that the thread had when it entered the
** kernel.
*/
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

#endif

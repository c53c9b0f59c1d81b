/*
** The few parts of the kernel's structures that the BPF program looks at. The
** loader finds where they are in the kernel at hand.
*/

#ifndef LJS_KERNEL_H
#define LJS_KERNEL_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)),           \
                             apply_to = record)

struct pt_regs {
  unsigned long bx, bp, cx, dx, orig_ax, ip, cs, sp;
};

struct ns_common {
  unsigned int inum;
};

struct pid_namespace {
  struct ns_common ns;
};

struct upid {
  int nr;
  struct pid_namespace *ns;
};

struct pid {
  unsigned int level;
  struct upid numbers[1];
};

struct hrtimer_cpu_base {
};

struct hrtimer_clock_base {
  struct hrtimer_cpu_base *cpu_base;
};

struct hrtimer {
  struct hrtimer_clock_base *base;
};

struct signal_struct {
  int nr_threads;
  unsigned long long sum_sched_runtime; /* Of threads that are gone. */
};

struct task_struct {
  int tgid;
  int on_cpu;
  unsigned long nvcsw, nivcsw; /* Times it gave up its CPU, or lost it. */
  struct signal_struct *signal;
  void *stack;
  void *mm;
  struct task_struct *group_leader;
  struct pid *thread_pid;
};

struct seq_file {
};

struct bpf_iter_meta {
  struct seq_file *seq;
};

/* The argument of a program for each thread of the machine. */
struct bpf_iter__task {
  struct bpf_iter_meta *meta;
  struct task_struct *task;
};

#pragma clang attribute pop

/* What a program of a perf event gets, as the UAPI has it. */
struct ljs_user_regs {
  unsigned long r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx,
      rsi, rdi, orig_rax, rip, cs, eflags, rsp, ss;
};

#endif

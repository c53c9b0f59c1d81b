/*
** The BPF program's life: load it, give it tables, switch its clocks on, and
** take what it has sampled.
*/

#ifndef LS_SAMPLER_H
#define LS_SAMPLER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ljs.h"

typedef struct LsSampler LsSampler;

/* What says when to sample. */
enum {
  LS_EVENT_CLOCK,  /* A clock of our own for each CPU. */
  LS_EVENT_CYCLES, /* Cycles of the CPU. */
  LS_EVENT_TICK,   /* The kernel's timer tick. */
  LS_EVENTS
};

/* What is to be sampled, and how. */
typedef struct LsSamplerOptions {
  unsigned hz;      /* Samples of a CPU a second; not more than ticks. */
  int event;        /* LS_EVENT_*. */
  int kernel, user; /* Kinds of frames that are wanted. */
  int native, lua;  /* Among those of user space. */
  unsigned depth;   /* Most frames of a kind; 0: as many as there is room. */
  int tail_calls;   /* Even if the kernel can do better. */
  int verbose;      /* Tell what libbpf says. */
} LsSamplerOptions;

/* Takes a new stack. It is valid only during the call. */
typedef void LsStackFunc(void *ctx, const struct ljs_stack *s);

/* Takes a count of a stack. */
typedef void LsEndFunc(void *ctx, pid_t pid, uint64_t cpu);
typedef void LsCountFunc(void *ctx, const struct ljs_key *key, uint64_t count);

LsSampler *ls_sampler_open(const LsSamplerOptions *opt, char *why, size_t size);
void ls_sampler_close(LsSampler *s);
int ls_sampler_module(LsSampler *s, uint32_t id, const struct ljs_row *row,
                      size_t n, const struct ljs_vm *vm);
int ls_sampler_distrust(LsSampler *s, uint32_t id);
int ls_sampler_process(LsSampler *s, pid_t pid, const struct ljs_proc *proc);
int ls_sampler_forget(LsSampler *s, pid_t pid);
int ls_sampler_start(LsSampler *s, char *why, size_t size);
void ls_sampler_stop(LsSampler *s);
int ls_sampler_fd(const LsSampler *s);
int ls_sampler_stacks(LsSampler *s, LsStackFunc *func, void *ctx);
void ls_sampler_switch(LsSampler *s);
void ls_sampler_ends(LsSampler *s, LsEndFunc *func, void *ctx);
int ls_sampler_counts(LsSampler *s, LsCountFunc *func, void *ctx);
void ls_sampler_books(const LsSampler *s, uint64_t book[LJS_BOOKS]);

#endif

/*
** The BPF program: loads it, uploads its tables, starts and stops sampling, and
** takes what it has sampled.
*/

#ifndef LS_SAMPLER_H
#define LS_SAMPLER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ljs.h"

typedef struct LsSampler LsSampler;

/* The source of samples. */
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
  unsigned ring;    /* Bytes of the ring buffer; 0: as many as is best. */
  int once;         /* Threads that wait are looked at, too. */
  int strangers;    /* Processes that run and are not sampled are told of. */
  int tail_calls;   /* Even if the kernel can do better. */
  int verbose;      /* Print messages of libbpf. */
} LsSamplerOptions;

/* Takes a new stack. It is valid only during the call. */
typedef void LsStackFunc(void *ctx, const struct ljs_stack *s);

/* Takes a process that runs and is not sampled. */
typedef void LsStrangerFunc(void *ctx, pid_t pid);

/* Takes the CPU time of a process that has ended, in nanoseconds. */
typedef void LsEndFunc(void *ctx, pid_t pid, uint64_t cpu);

/* Takes a count of a stack. */
typedef void LsCountFunc(void *ctx, const struct ljs_key *key, uint64_t count);

/* Takes a thread. */
typedef void LsThreadFunc(void *ctx, const struct ljs_thread *t);

/* Load the BPF program. OPT is copied. The caller closes it. On failure returns
** NULL, with one line in WHY, of SIZE bytes.
*/
LsSampler *ls_sampler_open(const LsSamplerOptions *opt, char *why, size_t size);

/* Stop sampling and unload the program. S may be NULL. */
void ls_sampler_close(LsSampler *s);

/* Upload the tables of module ID: N rows sorted by pc, and the VM in it unless
** VM is NULL. Returns 0, or -1 with errno.
*/
int ls_sampler_module(LsSampler *s, uint32_t id, const struct ljs_row *row,
                      size_t n, const struct ljs_vm *vm);

/* Free the tables of module ID: no process maps it any more. */
void ls_sampler_drop(LsSampler *s, uint32_t id);

/* Make the program ignore the VM in a module from now on. Returns 0, or -1 with
** errno.
*/
int ls_sampler_distrust(LsSampler *s, uint32_t id);

/* Sample PID from now on, or with new mappings. PROC is copied. Returns 0, or
** -1 with errno.
*/
int ls_sampler_process(LsSampler *s, pid_t pid, const struct ljs_proc *proc);

/* Sample PID no more. Returns 0, or -1 with errno. */
int ls_sampler_forget(LsSampler *s, pid_t pid);

/* Start sampling on all CPUs. Returns 0, or -1 with one line in WHY, of SIZE
** bytes.
*/
int ls_sampler_start(LsSampler *s, char *why, size_t size);

/* Stop sampling. What was sampled can still be taken. */
void ls_sampler_stop(LsSampler *s);

/* A file descriptor for poll, readable when there are new stacks. It belongs to
** S.
*/
int ls_sampler_fd(const LsSampler *s);

/* Take all new stacks. Returns how many there were, or < 0 on failure. */
int ls_sampler_stacks(LsSampler *s, LsStackFunc *func, void *ctx);

/* Have FUNC called with CTX, within ls_sampler_stacks, for each process that
** runs and is not sampled: when it is met first, and again after 2, 4, ...
** ms, and then each half a second.
*/
void ls_sampler_strangers(LsSampler *s, LsStrangerFunc *func, void *ctx);

/* Look at all threads of the sampled processes, for which `once` must be set.
** Returns 0, or -1 with errno.
*/
int ls_sampler_threads(LsSampler *s, LsThreadFunc *func, void *ctx);

/* Make the program count in the other one of its two tables. */
void ls_sampler_switch(LsSampler *s);

/* Take the CPU time of each sampled process that has ended and was waited for,
** once. It is known some milliseconds after that.
*/
void ls_sampler_ends(LsSampler *s, LsEndFunc *func, void *ctx);

/* Take and clear all counts of the table that is not in use. Returns 0, or -1
** with errno.
*/
int ls_sampler_counts(LsSampler *s, LsCountFunc *func, void *ctx);

/* The counters of the program so far, over all CPUs. */
void ls_sampler_statistics(const LsSampler *s, uint64_t count[LJS_STATISTICS]);

#endif

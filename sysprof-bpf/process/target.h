/*
** A process that is sampled: its mappings, its Lua, its CPU time.
*/

#ifndef LS_TARGET_H
#define LS_TARGET_H

#include <sys/types.h>

#include "cgroup.h"
#include "luasites.h"
#include "modules.h"

#define LS_TARGET_VMS 64 /* VMs that are remembered to be what they seem. */
#define LS_DOUBTS     20 /* Failed checks in a row; one more rejects the VM. */

typedef struct LsTarget {
  pid_t pid;
  uint64_t start; /* Clock ticks since boot. */
  char command[64];
  LsOwner owner;              /* Who pays for its files. */
  char cgroup[LS_CGROUP_MAX]; /* Path of its control group, or empty. */
  struct ljs_proc image;      /* As the BPF program has it. */
  LsLua *lua;
  uint64_t vm[LS_TARGET_VMS]; /* Global states that were looked at, so many, */
  unsigned nvm;
  unsigned doubts;     /* and how often one did not agree with its code. */
  uint64_t cpu_before; /* CPU time when sampling it began, and when it was */
  uint64_t cpu_now;    /* last seen, in nanoseconds. */
  int cpu_final;       /* It has ended, and that is all it used. */
  int pidfd;           /* Readable once it has ended; or -1. */
  int sampled;         /* The BPF program has its mappings. */
  int stale;           /* They have changed, */
  int other;           /* or it runs another program. */
  unsigned refusing;   /* Files that were not read, or not whole: lately, */
  unsigned refused;    /* and most of them at a time; */
  const char *why;     /* what there was too much of; */
  unsigned counted;    /* and so many of these are in LsRefused. */
  int held;            /* It held up who reads its memory: that was said. */
  uint64_t paid;       /* CLOCK_MONOTONIC until when looking at it has used
                       ** its share of our time. */
  uint64_t again;      /* CLOCK_MONOTONIC when they are read again, */
  uint64_t pause;      /* and how long after that once more. */
  uint64_t vain;       /* Until when no address is looked for, as it was not */
  uint64_t patience;   /* found; and how long that was. */
  unsigned gone;       /* It has ended; then, how many turns ago. */
} LsTarget;

/* Open process PID, which the caller closes. NULL and errno: ESRCH if there is
** none.
*/
LsTarget *ls_target_open(pid_t pid);

/* Free a target. T may be NULL. */
void ls_target_close(LsTarget *t);

/* Read the mappings again, and at most LEARN files that are new; `stale` is set
** if there are more. Returns 1 if they have changed, 0 if not, -1 and errno if
** the process has ended or cannot be read.
*/
int ls_target_refresh(LsTarget *t, LsModules *ms, int learn);

/* Read the CPU time of the process to cpu_now, in nanoseconds. Returns 0, or -1
** once it was waited for.
*/
int ls_target_cpu(LsTarget *t);

/* Its CPU time until now does not count. */
void ls_target_cpubegin(LsTarget *t);

/* Whether the process has ended. */
int ls_target_ended(const LsTarget *t);

/* Compare the VM whose global state is at G with the layout of module M.
** Returns 1 if they agree, 0 if that is not known yet, -1 with one line in WHY
** if not: the layout must not be used then.
*/
int ls_target_trust(LsTarget *t, const LsModule *m, uint64_t g,
                    char why[LS_WHY]);

/* The name of thread TID, or of the process if TID is PID, cut to SIZE bytes
** with its NUL. Returns 0, or -1 if there is none.
*/
int ls_target_name(pid_t pid, pid_t tid, char *name, size_t size);

/* The mapping that has PC, an address of the process, or NULL. It belongs to T,
** and is valid until ls_target_refresh.
*/
const struct ljs_map *ls_target_map(const LsTarget *t, uint64_t pc);

#endif

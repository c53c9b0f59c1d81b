/*
** A process that is sampled: its mappings, its Lua, its CPU time.
*/

#ifndef LS_TARGET_H
#define LS_TARGET_H

#include <sys/types.h>

#include "luasites.h"
#include "modules.h"

#define LS_TARGET_VMS 64 /* VMs that are remembered to be what they seem. */
#define LS_DOUBTS     20 /* More in a row are no bad luck. */

typedef struct LsTarget {
  pid_t pid;
  uint64_t start; /* Clock ticks since boot. */
  char command[64];
  struct ljs_proc image; /* As the BPF program has it. */
  LsLua *lua;
  uint64_t vm[LS_TARGET_VMS]; /* Global states that were looked at, so many, */
  unsigned nvm;
  unsigned doubts;     /* and how often one did not agree with its code. */
  uint64_t cpu_before; /* CPU time when sampling it began, and when it was */
  uint64_t cpu_now;    /* last seen, in nanoseconds. */
  int cpu_final;       /* It has ended, and that is all it used. */
  int pidfd;           /* Tells when it has ended; or -1. */
  int sampled;         /* The BPF program has its mappings. */
  int stale;           /* They have changed, */
  int other;           /* or it runs another program. */
  unsigned gone;       /* It has ended; then, how many turns ago. */
} LsTarget;

LsTarget *ls_target_open(pid_t pid);
void ls_target_close(LsTarget *t);
int ls_target_refresh(LsTarget *t, LsModules *ms, int learn);
int ls_target_cpu(LsTarget *t);
int ls_target_ended(const LsTarget *t);
int ls_target_trust(LsTarget *t, const LsModule *m, uint64_t g,
                    char why[LS_WHY]);
int ls_target_name(pid_t pid, pid_t tid, char *name, size_t size);
const struct ljs_map *ls_target_map(const LsTarget *t, uint64_t pc);

#endif

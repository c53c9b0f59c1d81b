/*
** One run of the sampler: its processes, what was sampled of them, statistics.
*/

#ifndef LS_SESSION_H
#define LS_SESSION_H

#include "backlog.h"
#include "options.h"
#include "output.h"
#include "parser.h"
#include "refused.h"
#include "resolve.h"
#include "statistics.h"
#include "userwalk.h"
#include "watch.h"

#define LS_TARGETS_MAX 4096

/* A process that is to be looked at for a LuaJIT. */
typedef struct LsYoung {
  pid_t pid;
  uint64_t due, pause; /* When, by CLOCK_MONOTONIC, and how long after that. */
} LsYoung;

#define LS_YOUNG 256

typedef struct LsSession {
  const LsOptions *opt;
  LsSampler *sampler;
  LsUserWalk *walk; /* For threads that wait; or NULL. */
  LsParser *parser; /* What reads their files. */
  LsModules *modules;
  LsWatch *watch;          /* Or NULL: nothing begins that is of interest. */
  LsYoung young[LS_YOUNG]; /* With -a: programs that began, so many, */
  size_t nyoung;           /* and may map a LuaJIT. */
  LsResolver resolver;
  LsStacks stacks;
  LsBacklog backlog; /* Of the ring buffer; before what is in it. */
  int taking;        /* The ring buffer is being read. */
  LsOutput *output;
  LsTarget **target;
  size_t ntarget;
  uint64_t cpu_gone; /* CPU time of those that are forgotten. */
  LsStatistics stats;
  uint64_t looking;  /* CLOCK_MONOTONIC since when files are read; or 0. */
  uint64_t start;    /* CLOCK_MONOTONIC when the clocks were started. */
  uint64_t turned;   /* Nanoseconds after it: the tables of counts changed. */
  int found;         /* A LuaJIT has been found. */
  LsRefused refused; /* What processes had too much of. */
  LsTarget *doubt;   /* Its VM is not what its code says, */
  char why[LS_WHY];  /* for this reason. */
} LsSession;

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t ls_session_now(void);

/* The process with number PID, or NULL; the newest one, if PID was used again.
** It belongs to S, as all processes below.
*/
LsTarget *ls_session_target(const LsSession *s, pid_t pid);

/* Begin to sample PID. NULL and errno if it has ended or cannot be read, ENOSPC
** if there are LS_TARGETS_MAX.
*/
LsTarget *ls_session_add(LsSession *s, pid_t pid);

/* Add all processes in which there may be a LuaJIT. */
void ls_session_find_all(LsSession *s);

/* Note that a process has ended. What was sampled of it stays. */
void ls_session_gone(LsSession *s, LsTarget *t);

/* Read the CPU time of all sampled processes and the samples due to it to
** stats.cpu_ns and stats.cpu_fired. Returns 0; or -1, with both unchanged, if
** that of one is not known at the moment.
*/
int ls_session_cpu(LsSession *s);

/* Begin to count CPU time, when sampling has started. */
void ls_session_begin(LsSession *s);

/* Check the VM of a stack of T, and resolve its sites, outermost first. Returns
** their number.
*/
size_t ls_session_sites(LsSession *s, LsTarget *t, const struct ljs_stack *st,
                        uint32_t site[LS_SITES_MAX]);

/* Make room in the ring buffer while something else is done, as reading a file:
** its stacks are resolved by the next ls_session_take.
*/
void ls_session_collect(LsSession *s);

/* Take and resolve all new stacks. */
void ls_session_take(LsSession *s);

/* Take the counts of the table that the program has not used since the last
** turn, and make it use that one from now on.
*/
void ls_session_turn(LsSession *s);

/* Stop sampling, take all that is left, and sum up the statistics. */
void ls_session_finish(LsSession *s);

/* Free all that belongs to *S but the output. */
void ls_session_close(LsSession *s);

#endif

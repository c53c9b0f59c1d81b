/*
** One run of the sampler: which processes, what was sampled of them, the books.
*/

#ifndef LS_SESSION_H
#define LS_SESSION_H

#include "books.h"
#include "options.h"
#include "output.h"
#include "resolve.h"
#include "watch.h"

#define LS_TARGETS_MAX 4096

typedef struct LsSession {
  const LsOptions *opt;
  LsSampler *sampler;
  LsModules *modules;
  LsWatch *watch;
  LsResolver resolver;
  LsStacks stacks;
  LsOutput *output;
  LsTarget **target;
  size_t ntarget;
  uint64_t cpu_gone; /* CPU time of those that are forgotten. */
  LsBooks books;
  uint64_t start;   /* CLOCK_MONOTONIC when the clocks were started. */
  uint64_t turned;  /* Nanoseconds after it: the tables of counts changed. */
  int found;        /* A LuaJIT has been found. */
  LsTarget *doubt;  /* Its VM is not what its code says, */
  char why[LS_WHY]; /* for this reason. */
} LsSession;

uint64_t ls_session_now(void);
LsTarget *ls_session_target(const LsSession *s, pid_t pid);
LsTarget *ls_session_add(LsSession *s, pid_t pid);
void ls_session_refresh(LsSession *s, LsTarget *t);
void ls_session_find_all(LsSession *s);
void ls_session_gone(LsSession *s, LsTarget *t);
int ls_session_cpu(LsSession *s);
void ls_session_begin(LsSession *s);
void ls_session_take(LsSession *s);
void ls_session_turn(LsSession *s);
void ls_session_finish(LsSession *s);
void ls_session_close(LsSession *s);

#endif

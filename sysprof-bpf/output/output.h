/*
** Outputs of a profile: a stream, or folded stacks.
*/

#ifndef LS_OUTPUT_H
#define LS_OUTPUT_H

#include "modules.h"
#include "sitetable.h"
#include "stacks.h"
#include "stream.h"

typedef struct LsOutput LsOutput;

/* What all kinds of output have in common, and what each does. */
struct LsOutput {
  const LsSiteTable *sites;
  const LsModules *modules;
  /* COUNT samples of the stack, of a thread of that process. */
  void (*sample)(LsOutput *o, const LsProcess *p, const LsNamedStack *s,
                 uint64_t count);
  /* All samples so far were taken until NS nanoseconds after the start. */
  void (*time)(LsOutput *o, uint64_t ns);
  /* Writes all that is left. */
  void (*end)(LsOutput *o, const LsStatistic *stats, size_t n);
  /* Frees it. */
  void (*close)(LsOutput *o);
  /* Set by these: */
  uint64_t written; /* Samples, or stacks, that are in the file and whole; */
  int err;          /* errno of the first failure, or 0. */
};

/* How folded stacks are written. */
typedef struct LsFolded {
  int threads;   /* They begin with the name of their thread, */
  int processes; /* and with the name of their process. */
  int native;    /* All frames, not Lua's only. */
  double every;  /* > 0: in parts of that many seconds, an empty line behind
                 ** each. 0: all at the end. */
} LsFolded;

/* Folded stacks to FD. FD, SITES and MODULES belong to the caller and must live
** as long; WANT is copied. NULL without memory.
*/
LsOutput *ls_output_folded(int fd, const LsSiteTable *sites,
                           const LsModules *modules, const LsFolded *want);

/* A stream to FD. FD, SITES and MODULES belong to the caller and must live as
** long; INFO is copied. NULL without memory.
*/
LsOutput *ls_output_stream(int fd, const LsSiteTable *sites,
                           const LsModules *modules, const LsStreamInfo *info);

#endif

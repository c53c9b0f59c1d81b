/*
** Single-steps a LuaJIT process, unwinds it at every instruction, and compares
** with what its stack really is.
*/

#ifndef JUDGE_H
#define JUDGE_H

#include "truth.h"

#define JUDGE_CLASSES 512

/* What may be wrong with a stack. */
enum {
  JUDGE_CUT,    /* It does not reach the root, or has a mark. */
  JUDGE_NATIVE, /* Native frames are not what they are, */
  JUDGE_LEAF,   /* or the innermost one is not where the process is. */
  JUDGE_LUA,    /* Lua frames are not what they were, nor what they will be. */
  JUDGE_PLACE,  /* They are, but not where they are among native frames. */
  JUDGE_LINE,   /* They are, but not on that line, */
  JUDGE_NOPC,   /* or on no known line. */
  JUDGE_JIT,    /* On a trace, but it is not known which. */
  JUDGE_MOVED,  /* Cut, or too short, while the Lua stack was being moved. */
  JUDGE_THROWN, /* Without frames that an error was about to throw away. */
  JUDGE_KINDS
};

/* Failures that are alike. */
typedef struct JudgeClass {
  uint32_t kind;
  uint64_t where; /* Address of the instruction. */
  uint64_t count; /* Steps. */
  char text[160];
  char *example;
} JudgeClass;

typedef struct Judge {
  uint64_t steps, ops, traced; /* traced: steps with a trace on the stack. */
  uint64_t bad[JUDGE_KINDS];   /* Steps. */
  uint64_t reads;              /* Of all walks. */
  uint64_t untold; /* Steps whose stack is right up to a function, of the C
                   ** library's beginnings and ends, that has no table. */
  uint32_t nclass;
  JudgeClass class[JUDGE_CLASSES];
} Judge;

/* Go N steps from where the process is. Returns 0 if it has ended. */
int judge_run(Judge *j, Tracee *t, uint64_t n);

/* The same for a process without a VM, from its first instruction on. */
int judge_native(Judge *j, Tracee *t, uint64_t n);

/* The line of bytecode X of a proto; -1 if it has none. */
int64_t judge_line(Tracee *t, uint64_t pt, uint32_t x);

/* Print the books. */
void judge_print(const Judge *j, const char *title, int examples);

void judge_end(Judge *j);

/* The share of steps with failures of some kinds, bit JUDGE_* for each. */
double judge_failed(const Judge *j, uint32_t kinds);

#endif

/*
** Bounds on what the files that a process maps may cost: whoever is sampled
** decides which files are read, and must not use up what the others need.
*/

#ifndef LS_BUDGET_H
#define LS_BUDGET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The owner of a file: the process that maps it first is charged for it. */
typedef struct LsOwner {
  pid_t pid;
  uid_t uid;
  uint64_t start; /* Clock ticks since boot: pids are used again. */
} LsOwner;

/* The costs of a file. */
typedef struct LsCost {
  uint64_t pages; /* Of unwind tables, in the kernel. */
  uint64_t bytes; /* Of memory. */
  uint64_t cpu;   /* Nanoseconds of CPU time to read it, */
  uint64_t ns;    /* and until it was read, whatever it waited for. */
} LsCost;

typedef struct LsBudget LsBudget;

/* Empty accounts. The caller closes them. NULL without memory. */
LsBudget *ls_budget_open(void);

/* Free all of it. B may be NULL. */
void ls_budget_close(LsBudget *b);

/* Whether OWNER, or NULL for ourselves, may have one more file read: one that
** never was if FRESH. Returns NULL, or what there is too much of: constant
** text.
*/
const char *ls_budget_refuse(LsBudget *b, const LsOwner *owner, int fresh);

/* Whether OWNER may keep what a file costs. Returns as ls_budget_refuse. */
const char *ls_budget_exceeds(LsBudget *b, const LsOwner *owner,
                              const LsCost *cost);

/* A file of OWNER has been read, and is kept. Without memory it is free. */
void ls_budget_charge(LsBudget *b, const LsOwner *owner, const LsCost *cost,
                      int fresh);

/* It is kept no more. The time that it took is spent. */
void ls_budget_return(LsBudget *b, const LsOwner *owner, const LsCost *cost);

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t ls_budget_now(void);

#endif

/*
** A process under ptrace: it is stopped, looked at and single-stepped.
*/

#ifndef TRACEE_H
#define TRACEE_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "modules.h"
#include "target.h"
#include "walk.h"

#define TRACEE_PAGES 512 /* A power of 2. */
#define TRACEE_NAME  2048

typedef struct Tracee {
  pid_t pid;
  int ended;
  int signalled; /* The last step was that to a signal's handler. */
  struct user_regs_struct regs; /* While it is stopped. */
  LsTarget *target;             /* Its mappings, */
  LsModules *modules;           /* and what is known of their files. */
  struct TraceeTables *tables;
  WalkInput in;
  /* The VM in it; vm is NULL without one. */
  const struct ljs_vm *vm;
  const struct ljs_map *vmmap;
  uint64_t lo, hi; /* The interpreter's code. */
  /* Pages that were read since it was stopped. */
  uint32_t moment;
  uint32_t when[TRACEE_PAGES];
  uint64_t page[TRACEE_PAGES];
  uint8_t data[TRACEE_PAGES][4096];
} Tracee;

/* Start a program, ARGV as for execvp, which is stopped before it begins. NULL
** if it cannot be started.
*/
Tracee *tracee_start(const char *const *argv);

/* Kill it, if it runs, and give all back. */
void tracee_end(Tracee *t);

/* Run it up to where it asks for a file "mark:..." to be removed: its name
** without "mark:" goes to NAME. Returns 0 if it has ended instead.
*/
int tracee_mark(Tracee *t, char name[TRACEE_NAME]);

/* Run one instruction. Returns 0 if it has ended. */
int tracee_step(Tracee *t);

/* Leave it to others, stopped where it is. It can only be ended then. */
void tracee_leave(Tracee *t);

/* Copy N bytes at ADDR. Returns 0, or -1 if they are not all there. */
int tracee_read(Tracee *t, void *dst, uint32_t n, uint64_t addr);

/* A number of N bytes at ADDR, 0 if it is not there. */
uint64_t tracee_uint(Tracee *t, uint64_t addr, uint32_t n);

/* A reference of the VM at ADDR. */
uint64_t tracee_ref(Tracee *t, uint64_t addr);

/* The stack, now. */
void tracee_walk(Tracee *t, Walk *out);

/* What is at an address, to be printed: "symbol+0x10 (file)". */
const char *tracee_where(Tracee *t, uint64_t addr);

/* Where the function begins that ADDR is in; ADDR if that is not known. */
uint64_t tracee_function(Tracee *t, uint64_t addr);

/* Look at its mappings again. */
void tracee_refresh(Tracee *t);

#endif

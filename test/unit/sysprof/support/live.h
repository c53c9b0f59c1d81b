/*
** A LuaJIT process that is stopped and looked at.
*/

#ifndef LIVE_H
#define LIVE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "ljs.h"

typedef struct Live {
  pid_t pid;
  FILE *out; /* What it prints. */
  struct ljs_vm vm;
  uint64_t l, g;  /* Coroutine and global state of the innermost C frame. */
  uint64_t frame; /* The interpreter's rsp there. */
} Live;

/* Start a program; ARGV as for execvp. Its VM is in the file MODULE, or in the
** program itself if that is NULL.
*/
void live_start(Live *p, const char *const *argv, const char *module);

/* Kill it. */
void live_end(Live *p);

/* Wait until it has stopped itself. Returns 0 if it has ended instead. */
int live_wait(Live *p);
void live_continue(Live *p);

/* Find the innermost C frame of the VM on the process's stack. */
void live_find(Live *p);

/* Walk the Lua stack of p->l, which has called a C function: all functions go
** to S, as the BPF side would put them.
*/
void live_walk(const Live *p, struct ljs_stack *s);

/* The layout of the VM in a file; the test fails if there is none. */
void live_layout(const char *path, struct ljs_vm *vm);

#endif

/*
** The stacks of all threads of the processes, once.
*/

#ifndef LS_ONCE_H
#define LS_ONCE_H

#include "session.h"

/* One thread. */
typedef struct LsOnceThread {
  LsTarget *target;
  struct ljs_thread now;   /* As it was last looked at. */
  struct ljs_stack *stack; /* Owned; or NULL. */
  int done;                /* The stack is that of one moment. */
  int ran;                 /* It ran then. */
  int gone;                /* It has ended. */
} LsOnceThread;

typedef struct LsOnce {
  LsSession *s;
  LsOnceThread *thread; /* In the order of the kernel. */
  size_t n;
  int err; /* errno of a failure, or 0. */
} LsOnce;

/* Take the stacks of all threads and print them. The sampler has been started.
** Returns the exit status.
*/
int ls_once(LsSession *s);

/* Print all threads of target T: text or JSON. FIRST: it is the first target.
** Returns how many of them have no stack.
*/
size_t ls_once_print(const LsOnce *o, LsTarget *t, int first);

#endif

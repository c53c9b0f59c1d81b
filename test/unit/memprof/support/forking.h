/*
** What tests of dumps by a child process share. The C library's write(),
** renameat(), clock_gettime() and open() can be told what to do, by --wrap.
*/

#ifndef FORKING_H
#define FORKING_H

#include <signal.h>

#include "rec.h"

/* -- What is wrapped ------------------------------------------------------- */

/* How calls go in processes other than the test's own. */
typedef struct ForkWrap {
  long parent;   /* The test's own. */
  int hangwrite; /* write() never returns. */
  int hangkeep;  /* renameat() to FILE.old never returns. */
  int nospace;   /* The write() of so many that finds no space, or 0. */
  int writes;    /* So far. */
  uint64_t
      frozen;    /* What time it is, in seconds, or 0. If it is not, the kernel
                 ** does not tell how much memory the process has: that is
                 ** another figure each time. */
  uint64_t last; /* Each look at it is a second later, up to this one. */
} ForkWrap;

/* Set to nothing before each test. */
extern ForkWrap fork_wrap;

/* The child that hangs, or 0; shared. */
extern volatile long *fork_hanging;

ssize_t __real_write(int fd, const void *p, size_t n);

/* -- Fixtures -------------------------------------------------------------- */

/* The test's own directory, */
extern char fork_dir[64];

/* and the signals of children that it got. */
extern volatile sig_atomic_t fork_sigchlds;

/* Before and after each test. */
void fork_setup(void);
void fork_teardown(void);

/* The path of a file in the directory. Valid for three more. */
const char *fork_file(const char *name);

/* The names in the directory, sorted. */
const char *fork_names(void);

/* Writes a text to a file. */
void fork_put(const char *path, const char *text);

/* -- Dumps ----------------------------------------------------------------- */

/* A VM with a heap of all types of objects. */
lua_State *fork_vm(void);

/* Calls dump(NAME, {fork = true}), whose results are a, b, c. */
void fork_dumpto(lua_State *L, const char *name);

/* A global as a string, or "nil". */
const char *fork_global(lua_State *L, const char *name);

/* Waits until a child hangs. Returns it. */
long fork_awaithanging(void);

/* True if there is no such child, not even one that waits to be collected. */
int fork_isgone(long pid);

#endif

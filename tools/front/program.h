/*
** The programs that ljprof runs.
*/

#ifndef FT_PROGRAM_H
#define FT_PROGRAM_H

#include <sys/types.h>

/* Exit statuses, those of lj-sysprof; 0 is all well. */
enum { FT_EXIT_PART = 1, FT_EXIT_NOTHING = 2, FT_EXIT_USAGE = 64 };

/* A program that runs; its output is read from pipes. */
typedef struct FtChild {
  pid_t pid; /* 0: none. */
  int out;   /* Its standard output; or -1. */
  int err;   /* Its standard error; or -1. */
} FtChild;

#define FT_FAIL_MAX 1024 /* Bytes of an error; more are cut. */

/* Print an error of one line. Control characters in it become "?". Always
** returns -1.
*/
int ft_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Execute program ARGV[0], which is beside ours or in PATH, in place of ours.
** Returns the exit status if that fails, with a message.
*/
int ft_exec(char **argv);

/* Start it with pipes. It ends with us. Returns 0, or -1 with a message. */
int ft_start(FtChild *c, char **argv);

/* End it if it still runs, and wait for it. Returns its exit status, or 128 + N
** if signal N ended it.
*/
int ft_end(FtChild *c);

#endif

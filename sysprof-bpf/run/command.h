/*
** A command that is started to be sampled.
*/

#ifndef LS_COMMAND_H
#define LS_COMMAND_H

#include <sys/types.h>

typedef struct LsCommand {
  pid_t pid;
  int go;     /* Written to when it may run. */
  int failed; /* Read from if it could not be started. */
  int status; /* For exit(), once it has ended. */
  int ended;
} LsCommand;

/* Fork the process that will execute ARGV; it waits for ls_command_go. Returns
** 0, or -1 with errno.
*/
int ls_command_fork(LsCommand *c, char **argv);

/* Let it execute the command. */
void ls_command_go(LsCommand *c);

/* Why it could not be executed, once it has ended: errno, or 0 if it was. */
int ls_command_failed(const LsCommand *c);

/* Whether it has ended; with BLOCK, waits until it has. Returns 1 if so: then
** `status` is set.
*/
int ls_command_wait(LsCommand *c, int block);

#endif

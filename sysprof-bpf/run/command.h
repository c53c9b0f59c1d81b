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

int ls_command_fork(LsCommand *c, char **argv);
void ls_command_go(LsCommand *c);
int ls_command_failed(const LsCommand *c);
int ls_command_wait(LsCommand *c, int block);

#endif

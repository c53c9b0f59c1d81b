/*
** ljprof run: what is recorded, and how.
*/

#ifndef FT_RUN_H
#define FT_RUN_H

#include "host.h"
#include "place.h"
#include "user.h"

typedef struct FtRun {
  char **command; /* Ends with NULL. */
  int cpu;        /* What is wanted, and then what is done. */
  int memory;
  unsigned hz;        /* Samples a second. */
  unsigned stack;     /* Frames of an allocation. */
  const char *sample; /* Bytes between two samples of memory; or NULL. */
  FtUser user;        /* As whom it runs. */
  FtHost host;
  FtPlace place;
  LpBuf module;  /* memprof.so, if it is used; */
  LpBuf preload; /* what brings it into a program, if that is used. */
} FtRun;

/* Decide how memory is recorded: sets R->module and R->preload, and R->memory
** to 0 if it cannot be, with a message. HOW is appended to, in words.
*/
void ft_environment_choose(FtRun *r, LpBuf *how);

/* Set the variables of the command's environment in this process. */
void ft_environment_set(const FtRun *r);

/* Why there is no recording of memory, in a message. */
void ft_environment_explain(const FtRun *r);

/* A command that waits to be run. */
typedef struct FtRecording FtRecording;

/* Fork it, and start to sample it: sets R->cpu to 0, with a message, if that
** cannot be. Returns NULL, with a message, if there is nothing to be recorded
** or a signal to us came first.
*/
FtRecording *ft_record_prepare(FtRun *r);

/* Run it to its end, and free it. Returns its exit status, 128 + N if signal N
** ended it, 126 or 127 if it cannot be executed; *STARTED is 0 then.
*/
int ft_record_run(FtRecording *r, int *started);

/* End the program if a page cannot have this name: of a folder, a device, a
** symbolic link.
*/
void ft_page_check(const char *page);

/* Make the page of N recordings, and print their summary to standard error
** unless QUIET; NAME may begin with options of lj-parse-memprof. What has the
** page's name is kept as PAGE.old. Returns the status of lj-parse-memprof; from
** FT_EXIT_NOTHING on there is no page, unless a limit was exceeded.
*/
int ft_page_make(const char *page, char **name, size_t n, int quiet);

/* Show a page in the user's browser. A message if that cannot be. */
void ft_page_open(const char *page);

#endif

/*
** Live bytes of lines, from a memory recording that is still written.
*/

#ifndef FT_MEMORY_H
#define FT_MEMORY_H

#include "lines.h"
#include "program.h"

/* A report of the recording that is under way. */
typedef struct FtMemory {
  const char *file; /* NULL: there is none. */
  FtChild child;
  LpBuf text; /* What it has written so far. */
} FtMemory;

/* A recording that process PID has open to write, by its name; or NULL. The
** caller frees it.
*/
char *ft_memory_find(pid_t pid);

/* Begin to read the recording. Returns 0, or -1 with a message. */
int ft_memory_start(FtMemory *m);

/* Read what the report has written. Returns 1 when it is whole: its bytes are
** in *T then; 0 if there is more to come.
*/
int ft_memory_read(FtMemory *m, FtLines *t);

/* End the report. */
void ft_memory_end(FtMemory *m);

#endif

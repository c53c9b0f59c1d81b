/*
** The file that a profile is written to. A regular file is written beside its
** name, and takes the name when there is something in it; so a run that fails
** leaves what was there.
*/

#ifndef LS_OUTFILE_H
#define LS_OUTFILE_H

#include <limits.h>
#include <stddef.h>

typedef struct LsOutfile {
  int fd;  /* To write to, blocking; -1: none. */
  int own; /* It is to be closed. */
  int dir; /* The folder of the names below; -1: written in place. */
  char base[NAME_MAX + 1]; /* The name it will have, */
  char temp[NAME_MAX + 1]; /* and the one it has until then; "": none. */
} LsOutfile;

/* Opens NAME for writing; "-" is standard output. FIFOs that have a reader and
** character devices are written in place, and so is what a link of /proc/PID/fd
** leads to, if it is one of these. Other symbolic links, and all else that is
** not a regular file, are refused. Returns 0; or -1 with one line in WHY, which
** does not repeat NAME, and no file is made or changed.
*/
int ls_outfile_open(LsOutfile *f, const char *name, char *why, size_t size);

/* Gives the file its name. A file that has it becomes NAME.old, in the place of
** an older one. Does nothing for what is written in place, nor the second time.
** Returns 0; or -1 with one line in WHY: then the profile is still in `temp`,
** and stays there.
*/
int ls_outfile_keep(LsOutfile *f, char *why, size_t size);

/* Close the file. If ls_outfile_keep has not named it, it is removed. */
void ls_outfile_close(LsOutfile *f);

#endif

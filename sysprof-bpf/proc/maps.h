/*
** The executable mappings of a process, and the files behind them.
*/

#ifndef LS_MAPS_H
#define LS_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

typedef struct LsMapping {
  uint64_t start, end; /* END is behind the last address. */
  uint64_t offset;     /* Of START in the file, in bytes. */
  uint64_t dev, ino;   /* Of the file; dev as stat has it. 0 without one. */
  char *path;          /* As the kernel has it: "" without one; a file that
                       ** is gone has " (deleted)" behind; [vdso]. */
  int exec;            /* It can be executed. */
  int anon;            /* There is no file, and it is not the kernel's. */
} LsMapping;

/* The executable mappings of PID, by address. They belong to the caller: see
** ls_maps_free. Returns -1 and errno: ESRCH if there is no such process,
** EACCES or EPERM if it is not ours to look at.
*/
int ls_maps_read(pid_t pid, LsMapping **out, size_t *n);

/* Add the executable mappings in the lines of F, as /proc/PID/maps has them, to
** the *N in *OUT, which the caller frees. Returns -1 and errno.
*/
int ls_maps_lines(FILE *f, LsMapping **out, size_t *n);

/* Free mappings. */
void ls_maps_free(LsMapping *m, size_t n);

/* Open the file that is mapped, wherever PID sees it and even if it has been
** deleted; [vdso] is copied from its memory. Returns a file descriptor to be
** read from, or -1 and errno: ESTALE if there is another file by now.
*/
int ls_maps_open(pid_t pid, const LsMapping *m);

/* Describe the file that is mapped, as stat does. Returns as ls_maps_open. */
int ls_maps_stat(pid_t pid, const LsMapping *m, struct stat *st);

/* Whether a mapping is the code that the kernel gives to every process. */
int ls_maps_vdso(const LsMapping *m);

#endif

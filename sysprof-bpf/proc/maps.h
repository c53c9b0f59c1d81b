/*
** The executable mappings of a process, and the files behind them.
*/

#ifndef LS_MAPS_H
#define LS_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "elf.h"

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

/* Free mappings. */
void ls_maps_free(LsMapping *m, size_t n);

/* Open the file that is mapped, wherever PID sees it and even if it has been
** deleted. Returns a file descriptor to be read from, or -1 and errno: ESTALE
** if there is another file by now.
*/
int ls_maps_open(pid_t pid, const LsMapping *m);

/* Open it as an ELF file; [vdso] is copied from the memory of the process.
** Returns as ls_elf_open.
*/
LsElf *ls_maps_elf(pid_t pid, const LsMapping *m);

/* Whether a mapping is the code that the kernel gives to every process. */
int ls_maps_vdso(const LsMapping *m);

#endif

/*
** Files of the kernel below /proc and /sys.
*/

#ifndef _LJ_MEMPROF_KERNEL_H
#define _LJ_MEMPROF_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "lj_def.h"

#define MP_NONUMBER (~(uint64_t)0)

/*
** Reads the first size - 1 bytes of a file, at most, as a string: "" if it
** cannot be read. Returns how many there are.
*/
LJ_FUNC size_t lj_memprof_readfile(const char *path, char *to, size_t size);

/* The number behind a word at the beginning of a line, or MP_NONUMBER. */
LJ_FUNC uint64_t lj_memprof_numberof(const char *text, const char *word);

#endif

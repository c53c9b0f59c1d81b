/*
** Reasons why the kernel has refused perf events or BPF programs.
*/

#ifndef LS_CAPABLE_H
#define LS_CAPABLE_H

#include <stddef.h>

/* Write the reason of errno ERR to WHY, of SIZE bytes: one line, with what
** would permit it.
*/
void ls_capable_why(int err, char *why, size_t size);

/* Whether this process has the capability to read any other one. */
int ls_capable_reads(void);

#endif

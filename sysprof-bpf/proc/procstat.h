/*
** What /proc says of a process or a thread in its file `stat`.
*/

#ifndef LS_PROCSTAT_H
#define LS_PROCSTAT_H

#include <stddef.h>

#define LS_PROCSTAT_SIZE 1024 /* Bytes that the fields take, at most. */

/* Read the file at PATH, such as /proc/1/stat, into BUF. Returns the fields
** behind the name, which may have any characters, from the letter of the state
** on; or NULL if it cannot be read.
*/
const char *ls_procstat(const char *path, char buf[LS_PROCSTAT_SIZE]);

#endif

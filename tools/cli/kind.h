/*
** The kinds of files, looked up before any is read: a heap dump comes before
** the recording that it is joined with.
*/

#ifndef LP_KIND_H
#define LP_KIND_H

#include <stddef.h>

/* The kind of a file by its beginning: 'm', 'p' or 'd'; 0 if that is not known,
** as of a pipe, which cannot be read twice.
*/
int lp_kind_of(const char *name);

/* Move heap dumps before all other of N names, whose order stays. Returns how
** many there are; *OTHERS counts what may be recordings of memory.
*/
size_t lp_kind_order(const char **name, size_t n, size_t *others);

#endif

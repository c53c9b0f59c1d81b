/*
** Names of the kernel's functions.
*/

#ifndef LS_KALLSYMS_H
#define LS_KALLSYMS_H

#include <stdint.h>

typedef struct LsKallsyms LsKallsyms;

/* Read PATH, or /proc/kallsyms if it is NULL. The caller closes it. NULL and
** errno: EPERM if the kernel hides addresses (kptr_restrict), ENODATA if there
** are no functions at all.
*/
LsKallsyms *ls_kallsyms_open(const char *path);

/* Free all, names too. K may be NULL. */
void ls_kallsyms_close(LsKallsyms *k);

/* The function that is at ADDR, as "name" or "name [module]", valid until
** close; or NULL.
*/
const char *ls_kallsyms_find(const LsKallsyms *k, uint64_t addr);

#endif

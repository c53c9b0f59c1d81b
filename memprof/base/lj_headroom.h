/*
** Memory that is left: whether a fork can be afforded.
*/

#ifndef _LJ_HEADROOM_H
#define _LJ_HEADROOM_H

#include <stddef.h>
#include <stdint.h>

#include "lj_def.h"

/*
** True if need bytes are left: of the system's memory, and of the limits of
** the cgroups (v2 or v1) that this process is in. What cannot be read is not
** limited. Else a sentence is put into why, which has room for size bytes.
** root goes before the paths of /proc and /sys: "", but in tests.
*/
LJ_FUNC int lj_headroom_has(const char *root, uint64_t need, char *why,
                            size_t size);

/* Bytes of page tables, which a fork copies; 0 if that is not known. */
LJ_FUNC uint64_t lj_headroom_pagetables(void);

#endif

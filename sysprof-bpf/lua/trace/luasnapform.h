/*
** The forms of snapshots: what a VM of some year has in its traces.
*/

#ifndef LS_LUASNAPFORM_H
#define LS_LUASNAPFORM_H

#include "luasnap.h"

/* Read the snapshots of a trace, in the only form whose counts agree with what
** they count, and set t->nsnap and t->nsnapmap. NULL if none agrees, or more
** than one, or without memory; the caller frees it. *OFFSETS: whether they have
** `mcofs`, which is 0 otherwise.
*/
LsRawSnap *ls_snapform_read(LsIr *t, bool *offsets);

#endif

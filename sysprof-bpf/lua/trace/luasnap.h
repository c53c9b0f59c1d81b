/*
** Snapshots of a trace: where in the program its code is, and which functions
** were inlined there.
*/

#ifndef LS_LUASNAP_H
#define LS_LUASNAP_H

#include "luatrace.h"
#include "tracecode.h"

#define LS_SNAPMAP_MAX 0x40000 /* Entries of a map: more is no trace. */

/* Read the snapshots of a trace, whose IR is read, to T->snap and T->place,
** which belong to T, and to t->raw and t->map, with the functions that its
** constants refer to. Without memory, or if they make no sense, there are none.
** C is the trace's code.
*/
void ls_snaps_read(LsFuncs *fs, LsIr *t, const LsCode *c, LsTrace *T);

#endif

/*
** Where the code of each snapshot begins, by the offsets that the VM keeps.
*/

#ifndef LS_LUAMCOFS_H
#define LS_LUAMCOFS_H

#include "luaexits.h"

/* Where the code of each of T's snapshots begins, by their offsets. C is the
** trace's code, or NULL if that is not known. Returns an array of t->nsnap,
** which never decreases and which the caller frees; NULL without memory.
*/
LsBegin *ls_mcofs_read(const LsIr *t, const LsCode *c, const LsRawSnap *raw);

#endif

/*
** Where the code of each snapshot begins, by the exits of the code.
*/

#ifndef LS_LUAEXITS_H
#define LS_LUAEXITS_H

#include "luasnapform.h"
#include "tracecode.h"

/* Where the code of a snapshot begins: offsets in bytes. */
typedef struct LsBegin {
  uint32_t early, late; /* Not before, not after. */
  uint32_t likely;
} LsBegin;

/* Find where the code of each of T's snapshots begins, for versions that do not
** keep that, by its code C. Returns an array of t->nsnap, which never decreases
** and which the caller frees; or NULL if the code contradicts itself, or
** without memory.
*/
LsBegin *ls_exits_read(const LsIr *t, const LsCode *c, const LsRawSnap *raw);

#endif

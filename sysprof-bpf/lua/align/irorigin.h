/*
** Which bytecode instructions emitted the IR of a trace.
*/

#ifndef LS_IRORIGIN_H
#define LS_IRORIGIN_H

#include "irclaim.h"
#include "iremit.h"

/* Write to CLAIM, for each IR instruction from REF on up to END, what it may be
** of: all of them were emitted on a path. What emits none is of nothing.
*/
void ls_origin_read(const LsEmission *e, const LsPath *path, uint32_t ref,
                    uint32_t end, LsClaim *claim);

#endif

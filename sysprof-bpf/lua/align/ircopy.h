/*
** A loop's IR, as the copy that it is of the IR in front of it.
*/

#ifndef LS_IRCOPY_H
#define LS_IRCOPY_H

#include "irclaim.h"
#include "traceir.h"

/* Add, to what the IR instructions of a trace's loop are of, what those are of
** that they were copied from. CLAIM is numbered from LS_REF_BIAS on.
*/
void ls_copy_read(const LsIr *t, LsClaim *claim);

#endif

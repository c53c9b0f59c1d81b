/*
** Version 0x10: prologues, then blocks that stand on their own.
*/

#ifndef LP_COMPACT_H
#define LP_COMPACT_H

#include "input.h"
#include "record.h"

void lp_compact_read(LpInput *in, const LpSink *sink);

#endif

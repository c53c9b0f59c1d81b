/*
** Version 0x10: prologues, then blocks that stand on their own.
*/

#ifndef LP_COMPACT_H
#define LP_COMPACT_H

#include "input.h"
#include "record.h"

/* Read a stream whose first prologue is next in IN. Damage is reported to the
** sink.
*/
void lp_compact_read(LpInput *in, const LpSink *sink);

#endif

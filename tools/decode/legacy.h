/*
** Decodes legacy formats: the RFC's version 1, and versions 1 to 3 of other
** recorders.
*/

#ifndef LP_LEGACY_H
#define LP_LEGACY_H

#include "input.h"
#include "record.h"

/* Read a stream whose first prologue is next in IN. Damage is reported to the
** sink.
*/
void lp_legacy_read(LpInput *in, const LpSink *sink);

#endif

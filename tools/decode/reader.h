/*
** Decodes streams of all versions into records.
*/

#ifndef LP_READER_H
#define LP_READER_H

#include "input.h"
#include "record.h"

/* Read a whole stream of any version. Damage is reported to the sink; nothing
** is returned.
*/
void lp_reader_run(LpInput *in, const LpSink *sink);

#endif

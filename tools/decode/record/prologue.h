/*
** The prologue of a stream's body, for the readers of single versions.
*/

#ifndef LP_PROLOGUE_H
#define LP_PROLOGUE_H

#include "input.h"
#include "record.h"

/* The letter of the body whose prologue is next, and its version; 0 if there is
** no prologue. A body (m, p, d) that is not among those in READ is reported to
** the sink as not supported: then it is -1.
*/
int lp_prologue_body(LpInput *in, const LpSink *sink, const char *read,
                     unsigned *version);

#endif

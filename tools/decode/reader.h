/*
** Bytes -> records, for every version of the stream.
*/

#ifndef LP_READER_H
#define LP_READER_H

#include "input.h"
#include "record.h"

void lp_reader_run(LpInput *in, const LpSink *sink);

/* For the readers of single versions. */
int lp_reader_body(LpInput *in, unsigned *version);
void lp_reader_refuse(LpInput *in, const LpSink *sink, int body);
void lp_reader_damage(LpInput *in, const LpSink *sink, LpDamageKind kind,
                      const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif

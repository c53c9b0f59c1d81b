/*
** A sink in front of another one: events wait here for a second thread, which
** hands them on while the reader is decoding the next ones.
*/

#ifndef LP_AHEAD_H
#define LP_AHEAD_H

#include "record.h"

/* So many events are handed on at once, before a thread is worth its while. */
#define LP_AHEAD_AFTER (UINT64_C(1) << 18)

typedef struct LpAhead LpAhead;

LpAhead *lp_ahead_open(const LpSink *behind, uint64_t after);
LpSink lp_ahead_sink(LpAhead *a);
void lp_ahead_wait(LpAhead *a);
void lp_ahead_close(LpAhead *a);
unsigned lp_ahead_cpus(void);

#endif

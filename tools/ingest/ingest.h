/*
** Ingest: counts one stream into a profile. A sink for the reader.
*/

#ifndef LP_INGEST_H
#define LP_INGEST_H

#include "stream.h"

/* How much of a stream could be read; also the exit status for it. */
typedef enum LpStatus {
  LP_WHOLE,
  LP_PART,
  LP_UNREADABLE,
  LP_EXCEEDED /* All is well but that a limit was exceeded. */
} LpStatus;

/* Initialize ST, which adds a stream to PROF. Returns the sink for the reader;
** its context is ST.
*/
LpSink lp_stream_open(LpStream *st, LpProfile *prof);

/* Its sink, once more. */
LpSink lp_stream_sink(LpStream *st);

/* Bring the profile up to date with what was read so far. It can be reported,
** and reading can go on.
*/
void lp_stream_finalize(LpStream *st);

/* The segment that was read ends at OFFSET. Returns 1 if it is whole, and the
** next one of its recording can be read into ST, with lp_stream_next. The
** profile is up to date then. The caller still has to close ST.
*/
int lp_stream_pause(LpStream *st, uint64_t offset);

/* Go on with the next segment. MONOTONIC is the clock of its process at its
** beginning, in nanoseconds.
*/
void lp_stream_next(LpStream *st, uint64_t monotonic);

/* The stream ends at OFFSET: check it, finalize the profile and free the
** memory. Status and counters of ST stay valid.
*/
void lp_stream_close(LpStream *st, uint64_t offset);

/* How much of the stream could be read. */
LpStatus lp_stream_status(const LpStream *st);

/* The sink's body function, for sinks that wrap this one. ST is an LpStream;
** BODY is m, p or d.
*/
void lp_stream_body(void *st, int body);

#endif

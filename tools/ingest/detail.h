/*
** Detailed ingest: counters beside plain sums of events. Weights of samples,
** and what is counted on request only (LP_WANT_*).
*/

#ifndef LP_DETAIL_H
#define LP_DETAIL_H

#include "object_age.h"
#include "peak.h"
#include "stream.h"

typedef struct LpDetail {
  unsigned what;   /* LP_WANT_*. */
  int track_ages;  /* The live map has numbers of objects, not of origins. */
  LpWeight come;   /* All that came, */
  LpWeight gone;   /* and went, */
  LpWeight older;  /* of these, what was there before. */
  LpWeight own;    /* Objects live that came, */
  uint64_t most;   /* and the most of them at once. */
  LpFixed live;    /* Bytes of the difference, */
  LpFixed highest; /* and the most of them since the last time mark. */
  LpWeight at_mark[2]; /* come and gone at the last time mark. */
  uint64_t samples;    /* Of CPU time since then. */
  uint64_t marked;     /* When that was. */
  LpPeak peak;
  LpObjectAges ages;
  LpTimeSeries timeseries;
  LpSnapper snapper;
  LpSlicer slicer; /* Of origins, or of nodes with samples. */
  /* While the profile is finalized, what it was without this stream. */
  int finalized;
  uint64_t peak_bytes, peak_ns;
  LpTimeSeries others;
} LpDetail;

/* The detailed counters. They are allocated if what is wanted needs them; else
** NULL is returned.
*/
LpDetail *lp_detail_begin(LpStream *st);

/* The counters of an origin are about to change, for the first time in the
** current step of the slices.
*/
void lp_detail_touch(LpDetail *w, const LpOrigins *o, uint32_t origin);

/* COUNT samples were added to those of a stack. */
void lp_detail_sampled(LpStream *st, uint32_t stack, uint64_t count);

/* A time mark of the stream at NS nanoseconds, before st->ns is set to it. */
void lp_detail_time(LpStream *st, uint64_t ns);

/* Add peak, young objects and time series of the stream to the profile. More
** events may follow.
*/
void lp_detail_finalize(LpStream *st);

/* Undo lp_detail_finalize before more events are counted. */
void lp_detail_resume(LpStream *st);

/* Free the memory. What was finalized stays in the profile, and its slices get
** those of the stream.
*/
void lp_detail_close(LpStream *st);

#endif

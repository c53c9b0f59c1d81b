/*
** What is counted of a stream beside sums of whole numbers: samples, which
** stand for more than themselves, and all that somebody has to want.
*/

#ifndef LP_DETAIL_H
#define LP_DETAIL_H

#include "object_age.h"
#include "timeseries.h"
#include "live.h"
#include "peak.h"
#include "profile.h"
#include "snaps.h"

typedef struct LpDetail {
  unsigned what;       /* LP_WANT_*. */
  int track_ages;      /* The live map has numbers of ages, not of origins. */
  LpWeight come;       /* All that came, */
  LpWeight gone;       /* and went. */
  LpWeight own;        /* Objects live that came, */
  uint64_t most;       /* and the most of them at once. */
  LpFixed live;        /* Bytes of the difference, */
  LpFixed highest;     /* and the most of them since the last time mark. */
  LpWeight at_mark[2]; /* What had come and gone at the last time mark. */
  uint64_t samples;    /* Of CPU time since then. */
  uint64_t marked;     /* When that was. */
  LpPeak peak;
  LpObjectAges ages;
  LpTimeSeries timeseries;
  LpSnapper snapper;
  /* While the profile is settled, what it was without this stream. */
  int finalized;
  uint64_t peak_bytes, peak_ns;
  LpTimeSeries others;
} LpDetail;

struct LpStream;

void lp_detail_open(struct LpStream *st);
void lp_detail_events(struct LpStream *st, const LpEvent *ev, size_t n);
void lp_detail_time(struct LpStream *st, uint64_t ns);
void lp_detail_finalize(struct LpStream *st);
void lp_detail_resume(struct LpStream *st);
void lp_detail_close(struct LpStream *st);

#endif

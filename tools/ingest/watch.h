/*
** What is counted of a stream beside sums of whole numbers: samples, which
** stand for more than themselves, and all that somebody has to want.
*/

#ifndef LP_WATCH_H
#define LP_WATCH_H

#include "ages.h"
#include "course.h"
#include "live.h"
#include "peak.h"
#include "profile.h"
#include "snaps.h"

typedef struct LpWatch {
  unsigned what;    /* LP_WANT_*. */
  int ages;         /* The live map has numbers of ages, not of origins. */
  LpWeight come;    /* All that came, */
  LpWeight gone;    /* and went. */
  LpWeight own;     /* Objects live that came, */
  uint64_t most;    /* and the most of them at once. */
  LpFixed live;     /* Bytes of the difference, */
  LpFixed highest;  /* and the most of them since the last time mark. */
  LpWeight told[2]; /* What had come and gone at the last time mark. */
  uint64_t samples; /* Of CPU time since then. */
  uint64_t marked;  /* When that was. */
  LpPeak peak;
  LpAges age;
  LpCourse course;
  LpSnapper snapper;
  /* While the profile is settled, what it was without this stream. */
  int settled;
  uint64_t peak_bytes, peak_ns;
  LpCourse others;
} LpWatch;

struct LpStream;

void lp_watch_open(struct LpStream *st);
void lp_watch_events(struct LpStream *st, const LpEvent *ev, size_t n);
void lp_watch_time(struct LpStream *st, uint64_t ns);
void lp_watch_settle(struct LpStream *st);
void lp_watch_resume(struct LpStream *st);
void lp_watch_close(struct LpStream *st);

#endif

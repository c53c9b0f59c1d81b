/*
** Limits: what a profile must not exceed, as --limit tells.
*/

#ifndef LP_LIMIT_H
#define LP_LIMIT_H

#include "metric.h"

typedef struct LpLimit {
  const char *text; /* As it was given. */
  LpMetric metric;
  char *glob; /* Of what; NULL: of all. */
  int below;  /* Must be below the number, not at most that. */
  uint64_t n;
} LpLimit;

int lp_limit_parse(LpLimit *l, const char *text, LpBuf *why);
int lp_limit_holds(const LpLimit *l, const LpProfile *prof, LpBuf *why);

#endif

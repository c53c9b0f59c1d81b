/*
** Limits of --limit, which a profile must not exceed.
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

/* Parse TEXT, which is not copied. Returns 0 and appends the reason to WHY if
** it is not valid. l->glob is allocated.
*/
int lp_limit_parse(LpLimit *l, const char *text, LpBuf *why);

/* Does a profile keep a limit? If not, a line about it is appended to WHY, and
** sometimes a remark if so.
*/
int lp_limit_holds(const LpLimit *l, const LpProfile *prof, LpBuf *why);

#endif

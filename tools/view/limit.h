/*
** Limits of --limit, which a profile must not exceed.
*/

#ifndef LP_LIMIT_H
#define LP_LIMIT_H

#include "metric.h"

/* What objects of a heap dump keep. */
typedef enum LpLimitKeeps {
  LP_LIMIT_NONE,     /* The limit is of something else. */
  LP_LIMIT_RETAINED, /* What they keep alone, */
  LP_LIMIT_SHARED,   /* or together with others, too; */
  LP_LIMIT_GROWTH    /* and how much more that is than in the dump before. */
} LpLimitKeeps;

typedef struct LpLimit {
  const char *text;   /* As it was given. */
  LpMetric metric;    /* Or LP_NMETRIC: */
  LpLimitKeeps keeps; /* this. */
  char *glob;         /* Of what; NULL: of all. */
  int below;          /* Must be below the number, not at most that. */
  uint64_t n;
} LpLimit;

/* Parse TEXT, which is not copied. Returns 0 and appends the reason to WHY if
** it is not valid. l->glob is allocated.
*/
int lp_limit_parse(LpLimit *l, const char *text, LpBuf *why);

/* The profiles that a limit is of: LP_OF_*. */
unsigned lp_limit_of(const LpLimit *l);

/* The counters that it needs: LP_WANT_*. */
unsigned lp_limit_wants(const LpLimit *l);

/* Is N within the limit? */
int lp_limit_kept(const LpLimit *l, uint64_t n);

/* Does a profile keep a limit of a metric? If not, a line about it is appended
** to WHY, and sometimes a remark if so.
*/
int lp_limit_holds(const LpLimit *l, const LpProfile *prof, LpBuf *why);

#endif

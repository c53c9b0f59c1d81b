/*
** Limits of --limit for what objects of a heap dump keep.
*/

#ifndef LP_HEAP_LIMIT_H
#define LP_HEAP_LIMIT_H

#include "limit.h"
#include "subject.h"

/* As lp_limit_holds, for a limit of what objects keep. SUBJECT has a heap dump.
 */
int lp_heap_limit_holds(const LpLimit *l, const LpSubject *subject, LpBuf *why);

/* The same of what grows between the two newest dumps of a ladder, which has
** watched the limit's path.
*/
int lp_growth_limit_holds(const LpLimit *limit, const LpLadder *l, LpBuf *why);

#endif

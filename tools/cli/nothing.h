/*
** Why a report shows nothing, or less than was asked for.
*/

#ifndef LP_NOTHING_H
#define LP_NOTHING_H

#include "options.h"

/* Say in one line on stderr what there would be, if the options left nothing of
** SUBJECT for the report R: the recording's length, its chunks, its largest
** row. Also that it has no stacks, if R shows callers. The report's shape is
** that of lp_options.
*/
void lp_nothing_explain(const LpReport *r, const LpSubject *subject);

/* Say in one line on stderr that --path names no object of SUBJECT, and what
** may be meant. Returns LP_UNREADABLE then, and LP_WHOLE if it names one, or
** was not given.
*/
int lp_nothing_named(const LpSubject *subject);

/* Say in one line on stderr what the report left out of OUT to keep to its
** bound. Returns LP_PART then, and LP_WHOLE if it left out nothing.
*/
int lp_nothing_cut(const LpOut *out);

#endif

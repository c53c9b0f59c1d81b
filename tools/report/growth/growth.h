/*
** Shared by the reports of a ladder of heap dumps.
*/

#ifndef LP_GROWTH_H
#define LP_GROWTH_H

#include "report.h"

/* Append sentences: how much more is in use, and which objects keep it. */
void lp_growth_sentences(LpBuf *b, const LpLadder *l);

#endif

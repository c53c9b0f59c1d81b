/*
** Suggestions for mistyped names.
*/

#ifndef LP_SUGGEST_H
#define LP_SUGGEST_H

#include "mem.h"
#include "nearest.h"

/* Append "; did you mean NAME?" with BEFORE in front of the name, or nothing if
** no name is near.
*/
void lp_suggest_add(LpBuf *b, const ClNearest *s, const char *before);

#endif

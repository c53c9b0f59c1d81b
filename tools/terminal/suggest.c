/*
** Suggestions for mistyped names.
*/

#include "suggest.h"

void lp_suggest_add(LpBuf *b, const ClNearest *s, const char *before)
{
  if (s->best)
    lp_buf_printf(b, "; did you mean %s%s?", before, s->best);
}

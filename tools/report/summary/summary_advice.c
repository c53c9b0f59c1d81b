/*
** What a reader of a summary can do next.
*/

#include <stdlib.h>
#include <string.h>

#include "summary_report.h"
#include "text.h"

const char *lp_advice_key(LpAdvice a)
{
  static const char *const key[LP_NADVICE] = {[LP_ADVICE_STACK] = "stack",
                                              [LP_ADVICE_LEAKS] = "leaks",
                                              [LP_ADVICE_CALLERS] = "callers",
                                              [LP_ADVICE_DIFF] = "diff"};
  return key[a];
}

unsigned lp_advice(const LpSummary *s)
{
  unsigned memory = s->prof->of & LP_OF_MEMORY, a = 0;
  if (!s->n)
    return 0;
  if (memory && s->prof->files.flat && !s->stacks)
    a |= 1u << LP_ADVICE_STACK;
  if (memory && s->aged && !s->prof->baseline.present && !lp_summary_tight(s))
    a |= 1u << LP_ADVICE_LEAKS;
  if (s->stacks || !memory)
    a |= 1u << LP_ADVICE_CALLERS;
  if (!(a & (a - 1)) && !s->prof->baseline.present)
    a |= 1u << LP_ADVICE_DIFF;
  return a;
}

#define ADVICE_FOCUS 36 /* Columns of an expression: a line has room. */

/* Append the label of a site as an expression for --focus, in quotes; of a long
** path its last parts. Returns 0 if a shell would take it for something else,
** or if it is longer still: terminals would break it.
*/
static int advice_focus(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  LpBuf label = {0};
  const char *s = "", *slash;
  int plain;
  if (site != LP_NONE)
    lp_label_site(&label, prof, site);
  if (label.n)
    s = label.s;
  while (strlen(s) > ADVICE_FOCUS && (slash = strchr(s, '/')) && slash[1])
    s = slash + 1;
  plain = *s && !strpbrk(s, "'\\") && strlen(s) <= ADVICE_FOCUS;
  lp_buf_puts(b, " --focus='");
  for (; plain && *s; s++) {
    if (strchr("[]()*+?{}^$|", *s))
      lp_buf_puts(b, "\\");
    lp_buf_add(b, s, 1);
  }
  lp_buf_puts(b, "'");
  lp_buf_free(&label);
  return plain;
}

void lp_advice_text(LpBuf *b, const LpProfile *prof, LpAdvice a, uint32_t site)
{
  LpBuf focus = {0};
  switch (a) {
  case LP_ADVICE_STACK:
    lp_buf_puts(b,
                "recorded without stacks: start with stack = 64 for callers");
    break;
  case LP_ADVICE_LEAKS:
    lp_buf_puts(b, "leaks: --view=lines --metric=leaked --ignore-youngest=25");
    break;
  case LP_ADVICE_CALLERS:
    lp_buf_puts(b, "callers: --view=callers");
    if (advice_focus(&focus, prof, site))
      lp_buf_puts(b, focus.s);
    break;
  default:
    lp_buf_puts(b, "compare: --diff=BASE");
    break;
  }
  lp_buf_free(&focus);
}

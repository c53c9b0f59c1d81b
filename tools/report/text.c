/*
** Shared by text reports.
*/

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* Add a size, in bytes or with a unit of 1024. Live bytes may be negative after
** a gap.
*/
void lp_text_size(LpBuf *b, uint64_t n, int human)
{
  static const char unit[] = "KMGTPE";
  unsigned u = 0;
  if ((int64_t)n < 0) {
    lp_buf_puts(b, "-");
    n = 0 - n;
  }
  if (!human) {
    lp_buf_printf(b, "%" PRIu64, n);
    return;
  }
  if (n < 1024) {
    lp_buf_printf(b, "%" PRIu64 "B", n);
    return;
  }
  for (; n >= (uint64_t)1024 * 1024 - 512; n >>= 10)
    u++;
  lp_buf_printf(b, "%.1f%ciB", (double)n / 1024, unit[u]);
}

void lp_text_sampled(LpBuf *b, const LpProfile *prof)
{
  if (!prof->sparse)
    return;
  lp_buf_printf(b, "Sampled every %" PRIu64, prof->dense);
  if (prof->sparse != prof->dense)
    lp_buf_printf(b, " to %" PRIu64, prof->sparse);
  lp_buf_puts(b, " bytes on average: all figures are estimates");
}

void lp_text_samples(LpOut *out, const LpProfile *prof)
{
  lp_text_sampled(&out->buf, prof);
  if (prof->sparse)
    lp_out_puts(out, "\n\n");
}

void lp_text_guess(LpOut *out, const LpProfile *prof)
{
  if (prof->guess.n)
    lp_out_printf(out, " (approximate: %s)", prof->guess.s);
}

char **lp_text_labels(const LpProfile *prof, LpLabel *of)
{
  char **label = lp_alloc(prof->sitekeys.n * sizeof(char *));
  uint32_t i;
  for (i = 0; i < prof->sitekeys.n; i++) {
    LpBuf b = {0};
    of(&b, prof, i);
    label[i] = b.s;
  }
  return label;
}

/* Most first, then by name, then by age. */
static int text_before(const void *a, const void *b, void *ctx)
{
  const LpTextRow *x = a, *y = b;
  char **label = ctx;
  int cmp;
  if (x->n != y->n)
    return x->n > y->n ? -1 : 1;
  cmp = strcmp(label[x->site], label[y->site]);
  return cmp ? cmp : x->site < y->site ? -1 : x->site > y->site;
}

void lp_text_sort(LpTextRow *row, size_t n, char **label)
{
  qsort_r(row, n, sizeof(LpTextRow), text_before, label);
}

void lp_text_sentence(LpOut *out, const char *note)
{
  note += strspn(note, ", ");
  if (*note)
    lp_out_printf(out, "%c%s\n", toupper((unsigned char)*note), note + 1);
}

void lp_text_bold(LpOut *out, const LpScreen *screen, const char *s)
{
  lp_screen_bold(&out->buf, screen);
  lp_out_puts(out, s);
  lp_screen_plain(&out->buf, screen);
  lp_out_puts(out, "\n");
}

size_t lp_text_top(const LpReportOptions *opt, size_t n)
{
  return opt->top && n > opt->top + 1 ? opt->top : n;
}

void lp_text_free(char **label, const LpProfile *prof)
{
  uint32_t i;
  for (i = 0; i < prof->sitekeys.n; i++)
    free(label[i]);
  free(label);
}

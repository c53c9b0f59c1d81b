/*
** Shared by text reports.
*/

#include <inttypes.h>
#include <stdlib.h>

#include "label.h"
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

/* If there are samples, add a sentence that says so. */
void lp_text_sampled(LpBuf *b, const LpProfile *prof)
{
  if (!prof->sparse)
    return;
  lp_buf_printf(b, "Sampled every %" PRIu64, prof->dense);
  if (prof->sparse != prof->dense)
    lp_buf_printf(b, " to %" PRIu64, prof->sparse);
  lp_buf_puts(b, " bytes on average: all figures are estimates");
}

/* The same, in a line and an empty one. */
void lp_text_samples(LpOut *out, const LpProfile *prof)
{
  lp_text_sampled(&out->buf, prof);
  if (prof->sparse)
    lp_out_puts(out, "\n\n");
}

/* Add why live figures are approximate, if they are. */
void lp_text_guess(LpOut *out, const LpProfile *prof)
{
  if (prof->guess.n)
    lp_out_printf(out, " (approximate: %s)", prof->guess.s);
}

/* The labels of all sites; if WHOLE, with the function's name. */
char **lp_text_labels(const LpProfile *prof, int whole)
{
  char **label = lp_alloc(prof->sitekeys.n * sizeof(char *));
  uint32_t i;
  for (i = 0; i < prof->sitekeys.n; i++) {
    LpBuf b = {0};
    if (whole)
      lp_label_whole(&b, prof, i);
    else
      lp_label_site(&b, prof, i);
    label[i] = b.s;
  }
  return label;
}

/* Free it. */
void lp_text_free(char **label, const LpProfile *prof)
{
  uint32_t i;
  for (i = 0; i < prof->sitekeys.n; i++)
    free(label[i]);
  free(label);
}

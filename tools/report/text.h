/*
** Shared by text reports.
*/

#ifndef LP_TEXT_H
#define LP_TEXT_H

#include "label.h"
#include "report.h"

/* Append a size: bytes, or if HUMAN with a binary unit. It may be negative. */
void lp_text_size(LpBuf *b, uint64_t n, int human);

/* Append a sentence about sampling, if the profile has samples of memory. */
void lp_text_sampled(LpBuf *b, const LpProfile *prof);

/* Write the same as a paragraph. */
void lp_text_samples(LpOut *out, const LpProfile *prof);

/* Write what precedes every report of text. */
void lp_text_head(LpOut *out, const LpProfile *prof);

/* The number of samples whose innermost site has MARK: LJM_SITE_UNSURE,
** LJM_SITE_APPROX. */
uint64_t lp_text_marked(const LpProfile *prof, uint32_t mark);

/* N of ALL in percent; 0 if ALL is 0. */
double lp_text_percent(uint64_t n, uint64_t all);

/* Write why live figures are approximate, if they are. */
void lp_text_guess(LpOut *out, const LpProfile *prof);

/* What OF appends for each site, by site. The caller frees it with
** lp_text_free.
*/
char **lp_text_labels(const LpProfile *prof, LpLabel *of);

/* A site that has a line. */
typedef struct LpTextRow {
  uint32_t site;
  uint64_t n; /* What rows are sorted by. */
} LpTextRow;

/* Sort rows: most first, then by label, by site. */
void lp_text_sort(LpTextRow *row, size_t n, char **label);

/* Write a note that begins with ", " or " " as a sentence in lines that the
** terminal has room for.
*/
void lp_text_sentence(LpOut *out, const char *note);

/* Write a heading and end the line; bold if the terminal has colours. */
void lp_text_bold(LpOut *out, const LpScreen *screen, const char *s);

/* How many of N rows have a line of their own; "(N others)" is for the rest. */
size_t lp_text_top(const LpReportOptions *opt, size_t n);

/* Free what lp_text_labels returned for the same profile. */
void lp_text_free(char **labels, const LpProfile *prof);

#endif

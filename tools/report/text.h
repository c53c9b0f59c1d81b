/*
** What reports of text have in common.
*/

#ifndef LP_TEXT_H
#define LP_TEXT_H

#include "out.h"
#include "profile.h"

void lp_text_size(LpBuf *b, uint64_t n, int human);
void lp_text_sampled(LpBuf *b, const LpProfile *prof);
void lp_text_samples(LpOut *out, const LpProfile *prof);
void lp_text_statistics(LpOut *out, const LpProfile *prof);
void lp_text_head(LpOut *out, const LpProfile *prof);
uint64_t lp_text_unsure(const LpProfile *prof);
double lp_text_percent(uint64_t n, uint64_t all);
void lp_text_guess(LpOut *out, const LpProfile *prof);
char **lp_text_labels(const LpProfile *prof, int whole);
void lp_text_free(char **labels, const LpProfile *prof);

#endif

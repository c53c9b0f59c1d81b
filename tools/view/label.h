/*
** What a site is called in reports.
*/

#ifndef LP_LABEL_H
#define LP_LABEL_H

#include "mem.h"
#include "profile.h"

void lp_label_site(LpBuf *b, const LpProfile *prof, uint32_t site);
void lp_label_whole(LpBuf *b, const LpProfile *prof, uint32_t site);
void lp_label_frame(LpBuf *b, const LpProfile *prof, uint32_t site);
void lp_label_func(LpBuf *b, const LpProfile *prof, uint32_t site);
void lp_label_call(LpBuf *b, const LpProfile *prof, uint32_t site);
void lp_label_text(LpBuf *b, LpStr s);
void lp_label_chunk(LpBuf *b, LpStr s);
int lp_label_builtin(const LpFuncInfo *fi);
int lp_label_hasline(const LpProfile *prof, uint32_t site);
void lp_label_name(LpBuf *b, const LpProfile *prof, uint32_t site);

#endif

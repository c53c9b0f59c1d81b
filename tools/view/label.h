/*
** Labels of sites in reports.
*/

#ifndef LP_LABEL_H
#define LP_LABEL_H

#include "mem.h"
#include "profile.h"

/* What appends a text about a site. */
typedef void LpLabel(LpBuf *b, const LpProfile *prof, uint32_t site);

/* Append the label of a site. */
void lp_label_site(LpBuf *b, const LpProfile *prof, uint32_t site);

/* Append the label of a site with the name of its function. */
void lp_label_whole(LpBuf *b, const LpProfile *prof, uint32_t site);

/* As lp_label_whole, without ';' and marks of approximate lines. */
void lp_label_frame(LpBuf *b, const LpProfile *prof, uint32_t site);

/* Append the label of a site's function. */
void lp_label_func(LpBuf *b, const LpProfile *prof, uint32_t site);

/* Append a site as CPU profilers do, name@file:line, without ';'. */
void lp_label_call(LpBuf *b, const LpProfile *prof, uint32_t site);

/* Is it a builtin function of LuaJIT, which has no file? */
int lp_label_builtin(const LpFuncInfo *fi);

/* Is the line of a site known? */
int lp_label_hasline(const LpProfile *prof, uint32_t site);

/* Append the name of a site's function, if it is not in the label. */
void lp_label_name(LpBuf *b, const LpProfile *prof, uint32_t site);

/* The same in parentheses, behind a space. */
void lp_label_named(LpBuf *b, const LpProfile *prof, uint32_t site);

#endif

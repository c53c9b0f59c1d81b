/*
** What is known of a frame, for formats that have a field for each part of it.
*/

#ifndef LP_FRAME_H
#define LP_FRAME_H

#include "mem.h"
#include "profile.h"

const char *lp_frame_kind(const LpProfile *prof, uint32_t site);
int lp_frame_line(const LpProfile *prof, uint32_t site, uint64_t *line);
int lp_frame_first(const LpProfile *prof, uint32_t site, uint64_t *line);
void lp_frame_name(LpBuf *b, const LpProfile *prof, uint32_t site);
void lp_frame_file(LpBuf *b, const LpProfile *prof, uint32_t site);
void lp_frame_path(LpBuf *b, const LpProfile *prof, uint32_t site);
void lp_frame_module(LpBuf *b, const LpProfile *prof, uint32_t site);
void lp_frame_buildid(LpBuf *b, const LpProfile *prof, uint32_t site);
int lp_frame_address(const LpProfile *prof, uint32_t site, uint64_t *addr);

#endif

/*
** The parts of a frame, for formats that have a field for each of them.
*/

#ifndef LP_FRAME_H
#define LP_FRAME_H

#include "mem.h"
#include "profile.h"

/* The kind of the function: lua, c, native, kernel, trace, mark or special. The
** string is static.
*/
const char *lp_frame_kind(const LpProfile *prof, uint32_t site);

/* The current line of a site. Returns 0 if it is unknown. */
int lp_frame_line(const LpProfile *prof, uint32_t site, uint64_t *line);

/* The line where the function is defined. Returns 0 if it is unknown. */
int lp_frame_first(const LpProfile *prof, uint32_t site, uint64_t *line);

/* Append the name or symbol of the function. */
void lp_frame_name(LpBuf *b, const LpProfile *prof, uint32_t site);

/* Append the name of the chunk; long names are shortened. */
void lp_frame_file(LpBuf *b, const LpProfile *prof, uint32_t site);

/* Append the name of the chunk; paths of files are not shortened. */
void lp_frame_path(LpBuf *b, const LpProfile *prof, uint32_t site);

/* Append the path of the module. */
void lp_frame_module(LpBuf *b, const LpProfile *prof, uint32_t site);

/* Append the build id of the module, in hex. */
void lp_frame_buildid(LpBuf *b, const LpProfile *prof, uint32_t site);

/* The address of the function in the file of its module. Returns 0 if it is
** unknown.
*/
int lp_frame_address(const LpProfile *prof, uint32_t site, uint64_t *addr);

#endif

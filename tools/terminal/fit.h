/*
** Makes text fit into columns of a terminal.
*/

#ifndef LP_FIT_H
#define LP_FIT_H

#include "screen.h"

/* The columns that a text takes. Bytes that are not UTF-8 take one each. */
size_t lp_fit_width(const char *s);

/* Append S in at most WIDTH columns: the middle of a longer text is replaced by
** an ellipsis. In "file:line (function)" both parts are kept.
*/
void lp_fit_name(LpBuf *b, const LpScreen *screen, const char *s, size_t width);

/* Append a line of N bytes, broken at spaces into lines of at most WIDTH
** columns, each with its newline. S may contain SGR sequences.
*/
void lp_fit_wrap(LpBuf *b, const char *s, size_t n, size_t width);

/* Append the first WIDTH columns of a line of N bytes, which may contain SGR
** sequences; those are kept.
*/
void lp_fit_line(LpBuf *b, const char *s, size_t n, size_t width);

#endif

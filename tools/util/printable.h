/*
** Texts of recordings as reports print them. They may have any bytes.
*/

#ifndef LP_PRINTABLE_H
#define LP_PRINTABLE_H

#include "mem.h"
#include "strview.h"

/* Append a text. What would break a line is escaped, and so is what would steer
** a terminal, U+0080 to U+009F as well, or hide or turn a part of it.
*/
void lp_printable(LpBuf *b, LpStr s);

/* Append the first line of a text, or as much of it as fits into the name of a
** chunk, between OPEN and CLOSE.
*/
void lp_printable_line(LpBuf *b, const char *open, LpStr s, const char *close);

/* Append the name of a chunk as short_src of lua_Debug. Names of files keep
** their '@'.
*/
void lp_printable_chunk(LpBuf *b, LpStr s);

/* The same without the '@': the file that people look for. */
void lp_printable_file(LpBuf *b, LpStr s);

#endif

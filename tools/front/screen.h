/*
** The terminal: its size, its keys, and how it is left.
*/

#ifndef FT_SCREEN_H
#define FT_SCREEN_H

#include <stddef.h>

#include "mem.h"

/* Take the terminal over: keys come one by one, the screen is ours. Returns 0,
** or -1 if there is no terminal.
*/
int ft_screen_open(void);

/* Give it back as it was. May be called at any time. */
void ft_screen_close(void);

/* Its size in characters. */
void ft_screen_size(size_t *rows, size_t *columns);

/* Show TEXT in place of what is there. */
void ft_screen_paint(const LpBuf *text);

/* Append NAME to B in at most WIDTH columns, cut in the middle. Bytes that are
** no text are replaced.
*/
void ft_screen_fit(LpBuf *b, const char *name, size_t width);

#endif

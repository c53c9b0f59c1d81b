/*
** The terminal that a report is written to: its size, and what it can show.
*/

#ifndef LP_SCREEN_H
#define LP_SCREEN_H

#include "mem.h"

/* --color */
typedef enum LpColour {
  LP_COLOUR_AUTO,
  LP_COLOUR_ALWAYS,
  LP_COLOUR_NEVER
} LpColour;

typedef struct LpScreen {
  size_t columns; /* 0: it is none; lines may be of any length. */
  size_t rows;    /* 0: it is none. */
  int colour;     /* It may be sent SGR sequences. */
  int utf8;       /* It shows UTF-8. */
} LpScreen;

/* What FD is. COLUMNS and LINES override the size; 80x24 if it is unknown.
** NO_COLOR and TERM=dumb mean no colour, unless it is asked for.
*/
LpScreen lp_screen_of(int fd, LpColour colour);

/* Append what begins bold text; nothing without colour. */
void lp_screen_bold(LpBuf *b, const LpScreen *screen);

/* Append what ends bold or coloured text; nothing without colour. */
void lp_screen_plain(LpBuf *b, const LpScreen *screen);

/* Append a bar of WIDTH columns for a share from 0 to 100 percent. */
void lp_screen_bar(LpBuf *b, const LpScreen *screen, double percent,
                   size_t width);

#endif

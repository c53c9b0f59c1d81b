/*
** Where a report goes: a terminal, page by page or painted in place, or not a
** terminal.
*/

#ifndef LP_PAGE_H
#define LP_PAGE_H

#include <sys/types.h>

#include "out.h"
#include "screen.h"

typedef struct LpPage {
  LpScreen screen; /* Of what is written to. */
  int wrap;        /* Longer lines are broken at spaces. */
  int page;        /* A pager shows it, if it is longer than the screen. */
  int paint;       /* It replaces what is on the screen. */
  pid_t pager;     /* Or 0. */
  LpBuf line;      /* The last line, as far as it came. */
  LpBuf frame;     /* What is to be painted, */
  size_t rows;     /* so many rows, */
  size_t more;     /* and so many without room. */
} LpPage;

/* Prepare to write to OUT, which was just opened: P is all zero but for screen,
** wrap, page and paint. Nothing happens unless the screen is a terminal.
*/
void lp_page_open(LpPage *p, LpOut *out);

/* OUT is closed: wait for the pager, and forget an error that is the user's
** having quit it.
*/
void lp_page_close(LpPage *p, LpOut *out);

#endif

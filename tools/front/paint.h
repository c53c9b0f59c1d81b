/*
** The table of ljprof top.
*/

#ifndef FT_PAINT_H
#define FT_PAINT_H

#include "lines.h"

/* What is shown, and how. */
typedef struct FtView {
  const char *title; /* "process 1234". */
  FtSort sort;
  int memory;      /* There is a recording. */
  int keys;        /* The keys are explained. */
  double interval; /* Seconds of the last interval. */
  double seconds;  /* Since the start. */
  unsigned hz;     /* Samples a second of CPU time. */
  size_t rows, columns;
} FtView;

/* Append the table of *T to B. */
void ft_paint(LpBuf *b, FtLines *t, const FtView *v);

#endif

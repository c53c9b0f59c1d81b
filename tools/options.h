/*
** What the command line asks for.
*/

#ifndef LP_OPTIONS_H
#define LP_OPTIONS_H

#include "report.h"

typedef struct LpOptions {
  const char *out; /* NULL: standard output. */
  char **file;
  int nfile;
  const char *format;
  const char *view; /* NULL: the format's default. */
  unsigned given;   /* LP_TAKES_*: options for certain reports. */
  double follow;    /* Seconds between two reports; 0: the FILE has ended. */
  LpWanted wanted;  /* But .what depends on the report. */
  LpReportOptions report;
} LpOptions;

/* Written by lp_options_parse only. */
extern LpOptions lp_options;

void lp_options_parse(int argc, char **argv);

#endif

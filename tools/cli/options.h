/*
** What the command line asks for.
*/

#ifndef LP_OPTIONS_H
#define LP_OPTIONS_H

#include <regex.h>

#include "limit.h"
#include "report.h"

/* Names of files, in order. */
typedef struct LpNames {
  const char **name;
  size_t n;
  size_t room;
} LpNames;

typedef struct LpOptions {
  const char *out; /* NULL: standard output. */
  LpNames file;
  const char *format;
  const char *view;       /* NULL: the format's default. */
  unsigned given;         /* LP_TAKES_*: options for certain reports. */
  double follow;          /* Seconds between two reports; 0: the FILE has
                          ** ended. */
  LpWanted wanted;        /* But .what depends on the report. */
  LpReportOptions report; /* All but its shape, which a profile must have. */
  regex_t focus, ignore;  /* If the report's are not NULL. */
  LpNames base;           /* Files to compare with. */
  LpBuf basenames;        /* All of them, for people. */
  LpLimit *limit;
  size_t nlimit;
  size_t limits; /* Room. */
} LpOptions;

/* Written by lp_options_parse only. */
extern LpOptions lp_options;

void lp_options_parse(int argc, char **argv);
const LpReport *lp_options_report(unsigned of, LpBuf *why);
unsigned lp_options_wants(const LpReport *r);

/* Values of options (option_values.c). What is wrong with one ends the program,
** with status 64; STATE is argp's.
*/
struct argp_state;
void lp_option_min(const char *arg, struct argp_state *state);
void lp_option_top(const char *arg, struct argp_state *state);
void lp_option_metric(const char *arg, struct argp_state *state);
void lp_option_limit(const char *arg, struct argp_state *state);
double lp_option_follow(const char *arg, struct argp_state *state);
double lp_option_percent(const char *arg, struct argp_state *state);
uint64_t lp_option_seconds(const char *arg, struct argp_state *state);
uint64_t lp_option_interval(const char *arg, struct argp_state *state);
uint64_t lp_option_number(const char *arg, struct argp_state *state);
const char *lp_option_regex(regex_t *re, const char *old, const char *name,
                            const char *arg, struct argp_state *state);

/* Which FILEs there are (option_files.c): the same goes for these. */
void lp_names_add(LpNames *names, const char *name);
void lp_option_list(const char *list, LpNames *names, struct argp_state *state);
void lp_option_files(struct argp_state *state);

#endif

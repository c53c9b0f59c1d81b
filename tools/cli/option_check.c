/*
** Messages about mistakes on the command line, in one line.
*/

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "mistyped.h"
#include "options.h"
#include "printable.h"

static _Noreturn void check_failed(const char *name, const char *fmt,
                                   va_list ap)
    __attribute__((format(printf, 2, 0)));

/* Print why the options cannot be used, and exit. */
static _Noreturn void check_failed(const char *name, const char *fmt,
                                   va_list ap)
{
  LpBuf b = {0};
  char *text = NULL;
  if (vasprintf(&text, fmt, ap) > 0)
    lp_printable(&b, (LpStr){text, strlen(text)});
  fprintf(stderr, "%s: %s\n", name, b.n ? b.s : "no memory");
  exit(EX_USAGE);
}

void lp_option_error(const struct argp_state *state, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  check_failed(state ? state->name : program_invocation_short_name, fmt, ap);
}

/* As lp_option_error, before argp runs. */
static void check_mistyped(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), noreturn));

static void check_mistyped(const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  check_failed(program_invocation_short_name, fmt, ap);
}

void lp_option_check(const struct argp_option *options, char **argv)
{
  cl_mistyped(options, argv, 0, check_mistyped);
}

/*
** Shared by the command lines of all commands.
*/

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "options.h"
#include "program.h"

#define PID_MAX (1 << 22) /* The kernel's PID_MAX_LIMIT. */

void ft_usage(const char *fmt, ...)
{
  char text[FT_FAIL_MAX];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof(text), fmt, args);
  va_end(args);
  ft_fail("%s", text);
  exit(FT_EXIT_USAGE);
}

double ft_option_number(const char *arg, double least, double most,
                        const char *what)
{
  return cl_number(arg, least, most, what, ft_usage);
}

unsigned ft_option_whole(const char *arg, unsigned least, unsigned most,
                         const char *what)
{
  return cl_whole(arg, least, most, what, ft_usage);
}

pid_t ft_option_pid(const char *arg)
{
  if (isalpha((unsigned char)*arg))
    ft_usage("PID is a number, not %s; pgrep %s prints those of programs with "
             "this name",
             arg, arg);
  return (pid_t)ft_option_whole(arg, 1, PID_MAX, "PID");
}

void ft_options_parse(const struct argp *argp, int argc, char **argv,
                      void *input)
{
  cl_mistyped(argp->options, argv, 0, ft_usage);
  argp_err_exit_status = FT_EXIT_USAGE;
  argp_parse(argp, argc, argv, 0, NULL, input);
}

void ft_options_command(const struct argp *argp, int argc, char **argv,
                        void *input)
{
  cl_mistyped(argp->options, argv, 1, ft_usage);
  argp_err_exit_status = FT_EXIT_USAGE;
  argp_parse(argp, argc, argv, ARGP_IN_ORDER, NULL, input);
}

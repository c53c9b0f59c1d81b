/*
** Messages on standard error.
*/

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "say.h"

static int quiet;     /* Only failures are printed. */
static int terminal;  /* Standard error is a terminal. */
static int open_line; /* Progress is on the line where the cursor is. */

void ls_say_open(int be_quiet)
{
  quiet = be_quiet;
  terminal = !quiet && isatty(STDERR_FILENO);
}

static void print(const char *fmt, va_list args)
    __attribute__((format(printf, 1, 0)));

static void print(const char *fmt, va_list args)
{
  fputs(open_line ? "\r\033[Klj-sysprof: " : "lj-sysprof: ", stderr);
  vfprintf(stderr, fmt, args);
  open_line = 0;
}

int ls_say_progress(const char *fmt, ...)
{
  va_list args;
  if (!terminal)
    return 0;
  va_start(args, fmt);
  fputs("\r\033[K", stderr);
  open_line = 0;
  print(fmt, args);
  open_line = 1;
  va_end(args);
  return 1;
}

void ls_say(const char *fmt, ...)
{
  va_list args;
  if (quiet)
    return;
  va_start(args, fmt);
  print(fmt, args);
  fputc('\n', stderr);
  va_end(args);
}

int ls_fail(const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  print(fmt, args);
  fputc('\n', stderr);
  va_end(args);
  return -1;
}

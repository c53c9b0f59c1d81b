/*
** Messages on standard error.
*/

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "say.h"
#include "text.h"

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

/* Names of processes and files are foreign bytes, of which some would be
** commands of the terminal.
*/
static void disarm(char *s)
{
  size_t n = strlen(s), len;
  for (; n; n -= len, s += len) {
    len = ls_text_char((const unsigned char *)s, n);
    if (!len) {
      *s = '?';
      len = 1;
    }
  }
}

static void print(const char *fmt, va_list args)
{
  char line[4096];
  vsnprintf(line, sizeof(line), fmt, args);
  disarm(line);
  fprintf(stderr, "%slj-sysprof: %s", open_line ? "\r\033[K" : "", line);
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

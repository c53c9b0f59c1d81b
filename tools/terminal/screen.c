/*
** The terminal that a report is written to: its size, and what it can show.
*/

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "screen.h"

#define SCREEN_COLUMNS 80
#define SCREEN_ROWS    24
#define SCREEN_LEAST   20 /* Narrower screens are treated as that wide. */
#define SCREEN_MOST    10000

/* The number in an environment variable, or 0. */
static size_t screen_env(const char *name)
{
  const char *s = getenv(name);
  char *end;
  unsigned long n = s ? strtoul(s, &end, 10) : 0;
  return n && *end == '\0' && n <= SCREEN_MOST ? n : 0;
}

/* Is a variable of the environment set, and not empty? */
static int screen_set(const char *name)
{
  const char *s = getenv(name);
  return s && *s;
}

/* The size of the terminal FD. */
static void screen_size(LpScreen *s, int fd)
{
  struct winsize w = {0};
  ioctl(fd, TIOCGWINSZ, &w);
  s->columns = screen_env("COLUMNS");
  s->rows = screen_env("LINES");
  if (!s->columns)
    s->columns = w.ws_col ? w.ws_col : SCREEN_COLUMNS;
  if (!s->rows)
    s->rows = w.ws_row ? w.ws_row : SCREEN_ROWS;
  if (s->columns < SCREEN_LEAST)
    s->columns = SCREEN_LEAST;
}

/* Does the user's locale have UTF-8? The program's own stays "C". */
static int screen_utf8(void)
{
  locale_t l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
  int is;
  if (!l)
    return 0;
  is = strcmp(nl_langinfo_l(CODESET, l), "UTF-8") == 0;
  freelocale(l);
  return is;
}

LpScreen lp_screen_of(int fd, LpColour colour)
{
  LpScreen s = {.colour = colour == LP_COLOUR_ALWAYS};
  const char *term = getenv("TERM");
  int dumb = !term || strcmp(term, "dumb") == 0;
  if (!isatty(fd))
    return s;
  screen_size(&s, fd);
  s.utf8 = !dumb && screen_utf8();
  if (colour == LP_COLOUR_AUTO)
    s.colour = !dumb && !screen_set("NO_COLOR");
  return s;
}

void lp_screen_bold(LpBuf *b, const LpScreen *screen)
{
  if (screen->colour)
    lp_buf_puts(b, "\033[1m");
}

void lp_screen_plain(LpBuf *b, const LpScreen *screen)
{
  if (screen->colour)
    lp_buf_puts(b, "\033[m");
}

/* With UTF-8 in eighths of a column (U+2588 to U+258F). */
void lp_screen_bar(LpBuf *b, const LpScreen *screen, double percent,
                   size_t width)
{
  double part = percent < 0 ? 0 : percent > 100 ? 1 : percent / 100;
  size_t eighths = (size_t)(part * (double)width * 8 + 0.5), i;
  if (screen->colour)
    lp_buf_puts(b, "\033[36m");
  for (i = 0; i < width; i++, eighths -= eighths < 8 ? eighths : 8) {
    size_t full = eighths < 8 ? eighths : 8;
    if (!screen->utf8)
      lp_buf_puts(b, full >= 4 ? "#" : " ");
    else if (!full)
      lp_buf_puts(b, " ");
    else
      lp_buf_printf(b, "\xe2\x96%c", (char)(0x90 - full));
  }
  lp_screen_plain(b, screen);
}

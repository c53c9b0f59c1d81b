/*
** The terminal: its size, its keys, and how it is left.
*/

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "screen.h"
#include "utf8.h"

static struct termios before; /* How the terminal was. */
static int taken;             /* It is ours. */

static void write_all(const char *s, size_t n)
{
  while (n) {
    ssize_t w = write(STDOUT_FILENO, s, n);
    if (w < 0 && errno != EINTR)
      return;
    if (w > 0) {
      s += w;
      n -= (size_t)w;
    }
  }
}

int ft_screen_open(void)
{
  static const char enter[] = "\033[?1049h\033[?25l";
  struct termios raw;
  if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before))
    return -1;
  raw = before;
  raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  if (tcsetattr(STDIN_FILENO, TCSANOW, &raw))
    return -1;
  taken = 1;
  write_all(enter, sizeof(enter) - 1);
  return 0;
}

void ft_screen_close(void)
{
  static const char leave[] = "\033[?25h\033[?1049l";
  if (!taken)
    return;
  taken = 0;
  write_all(leave, sizeof(leave) - 1);
  tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

void ft_screen_size(size_t *rows, size_t *columns)
{
  struct winsize ws;
  *rows = 24;
  *columns = 80;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_row || !ws.ws_col)
    return;
  *rows = ws.ws_row;
  *columns = ws.ws_col;
}

void ft_screen_paint(const LpBuf *text)
{
  LpBuf all = {0};
  size_t i;
  lp_buf_puts(&all, "\033[H");
  for (i = 0; i < text->n; i++) {
    if (text->s[i] == '\n')
      lp_buf_puts(&all, "\033[K\n");
    else
      lp_buf_add(&all, text->s + i, 1);
  }
  lp_buf_puts(&all, "\033[K\033[J");
  write_all(all.s, all.n);
  lp_buf_free(&all);
}

/* Whether the character at S, of LEN bytes, would control the terminal. */
static int is_control(const unsigned char *s, size_t len)
{
  return *s < ' ' || *s == 0x7f || (len == 2 && *s == 0xc2 && s[1] < 0xa0);
}

/* Appends the characters FROM to TO of S, of which there are N bytes. */
static void add_characters(LpBuf *b, const char *s, size_t n, size_t from,
                           size_t to)
{
  size_t i = 0, len;
  int good;
  for (; n && i < to; i++) {
    len = lp_utf8_step(s, n, &good);
    if (i >= from && (!good || is_control((const unsigned char *)s, len)))
      lp_buf_puts(b, "?");
    else if (i >= from)
      lp_buf_add(b, s, len);
    s += len;
    n -= len;
  }
}

static size_t count_characters(const char *s, size_t n)
{
  size_t i = 0;
  int good;
  for (; n; i++) {
    size_t len = lp_utf8_step(s, n, &good);
    s += len;
    n -= len;
  }
  return i;
}

void ft_screen_fit(LpBuf *b, const char *name, size_t width)
{
  size_t n = strlen(name), have = count_characters(name, n), head;
  if (have <= width) {
    add_characters(b, name, n, 0, have);
    return;
  }
  if (width < 4) {
    add_characters(b, name, n, 0, width);
    return;
  }
  head = (width - 2) / 2;
  add_characters(b, name, n, 0, head);
  lp_buf_puts(b, "..");
  add_characters(b, name, n, have - (width - 2 - head), have);
}

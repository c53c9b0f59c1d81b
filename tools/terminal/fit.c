/*
** Makes text fit into columns of a terminal.
*/

#include <locale.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "fit.h"
#include "utf8.h"

/* -- Characters ----------------------------------------------------------- */

/* The code point of the N bytes at S, which are valid UTF-8. */
static wchar_t fit_point(const char *s, size_t n)
{
  static const uint8_t mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  uint32_t c = (uint8_t)s[0] & mask[n];
  size_t i;
  for (i = 1; i < n; i++)
    c = c << 6 | ((uint8_t)s[i] & 0x3f);
  return (wchar_t)c;
}

/* The columns of a character, by the tables of the C library. A locale without
** them has one for each.
*/
static size_t fit_columns(wchar_t c)
{
  static locale_t utf8;
  static int tried;
  locale_t old;
  int n;
  if (c < 0x80)
    return 1;
  if (!tried++)
    utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  if (!utf8)
    return 1;
  old = uselocale(utf8);
  n = wcwidth(c);
  uselocale(old);
  return n < 0 ? 1 : (size_t)n;
}

/* The length in bytes of the character at S, of which there are N, and in
** *COLUMNS its columns.
*/
static size_t fit_char(const char *s, size_t n, size_t *columns)
{
  int good;
  size_t len = lp_utf8_step(s, n, &good);
  *columns = good ? fit_columns(fit_point(s, len)) : 1;
  return len;
}

/* The columns of N bytes. */
static size_t fit_width(const char *s, size_t n)
{
  size_t width = 0, i, columns;
  for (i = 0; i < n; width += columns)
    i += fit_char(s + i, n - i, &columns);
  return width;
}

size_t lp_fit_width(const char *s)
{
  return fit_width(s, strlen(s));
}

/* -- Cutting in the middle ------------------------------------------------ */

/* How many of N bytes fit into WIDTH columns. */
static size_t fit_head(const char *s, size_t n, size_t width)
{
  size_t i = 0, columns, len;
  for (; i < n; i += len, width -= columns) {
    len = fit_char(s + i, n - i, &columns);
    if (columns > width)
      break;
  }
  return i;
}

/* Where the last WIDTH columns of N bytes begin. What combines with a character
** before it is left out.
*/
static size_t fit_tail(const char *s, size_t n, size_t width)
{
  size_t all = fit_width(s, n), i = 0, columns;
  while (i < n && all > width) {
    i += fit_char(s + i, n - i, &columns);
    all -= columns;
  }
  while (i < n) {
    size_t len = fit_char(s + i, n - i, &columns);
    if (columns)
      break;
    i += len;
  }
  return i;
}

/* Append N bytes. What is not UTF-8 could steer a terminal: "?" instead. */
static void fit_add(LpBuf *b, const char *s, size_t n)
{
  size_t i, len;
  int good;
  for (i = 0; i < n; i += len) {
    len = lp_utf8_step(s + i, n - i, &good);
    lp_buf_add(b, good ? s + i : "?", good ? len : 1);
  }
}

/* Append N bytes in WIDTH columns, of which the end has two thirds: it is more
** specific. A path that was cut at its beginning loses more of that.
*/
static void fit_cut(LpBuf *b, const LpScreen *screen, const char *s, size_t n,
                    size_t width)
{
  const char *dots = screen->utf8 ? "\xe2\x80\xa6" : "..";
  size_t mark = screen->utf8 ? 1 : 2, first, head, tail;
  if (fit_width(s, n) <= width) {
    fit_add(b, s, n);
    return;
  }
  if (width <= mark) {
    lp_buf_add(b, dots, width < mark ? width : strlen(dots));
    return;
  }
  width -= mark;
  first = n > 4 && memcmp(s, "@...", 4) == 0 ? 1 : width / 3;
  head = fit_head(s, n, first);
  tail = fit_tail(s, n, width - first);
  fit_add(b, s, head);
  lp_buf_puts(b, dots);
  fit_add(b, s + tail, n - tail);
}

void lp_fit_name(LpBuf *b, const LpScreen *screen, const char *s, size_t width)
{
  const char *second = strstr(s, " (");
  size_t n = strlen(s), cut = second ? (size_t)(second - s) : n;
  size_t a = fit_width(s, cut), z = fit_width(s + cut, n - cut);
  size_t half = width / 2;
  if (!second || a + z <= width || width < 16) {
    fit_cut(b, screen, s, n, width);
    return;
  }
  if (a <= half)
    half = a;
  else if (z < width - half)
    half = width - z;
  fit_cut(b, screen, s, cut, half);
  lp_buf_puts(b, " (");
  fit_cut(b, screen, s + cut + 2, n - cut - 2, width - half - 2);
}

/* -- Lines ---------------------------------------------------------------- */

/* The length of the SGR sequence at S, or 0. */
static size_t fit_sequence(const char *s, size_t n)
{
  size_t i = 2;
  if (n < 3 || s[0] != '\033' || s[1] != '[')
    return 0;
  while (i < n && s[i] != 'm')
    i++;
  return i < n ? i + 1 : 0;
}

/* The length of what is at S, a character or an SGR sequence. */
static size_t fit_step(const char *s, size_t n, size_t *columns)
{
  size_t len = fit_sequence(s, n);
  *columns = 0;
  return len ? len : fit_char(s, n, columns);
}

void lp_fit_line(LpBuf *b, const char *s, size_t n, size_t width)
{
  size_t i, len, columns;
  for (i = 0; i < n; i += len) {
    len = fit_step(s + i, n - i, &columns);
    if (columns > width) {
      width = 0;
      continue;
    }
    width -= columns;
    lp_buf_add(b, s + i, len);
  }
}

/* How many bytes of a line come before its break: all that fit, up to a space
** if there is one.
*/
static size_t fit_break(const char *s, size_t n, size_t width)
{
  size_t i = 0, space = 0, columns;
  while (i < n) {
    size_t len = fit_step(s + i, n - i, &columns);
    if (columns > width)
      return space ? space : i;
    width -= columns;
    i += len;
    if (i < n && s[i] == ' ')
      space = i;
  }
  return n;
}

void lp_fit_wrap(LpBuf *b, const char *s, size_t n, size_t width)
{
  size_t i = 0, len;
  do {
    len = fit_break(s + i, n - i, width);
    lp_buf_add(b, s + i, len);
    lp_buf_puts(b, "\n");
    i += len;
    while (i < n && s[i] == ' ')
      i++;
  } while (i < n);
}

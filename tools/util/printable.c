/*
** Texts of recordings as reports print them.
*/

#include "printable.h"
#include "utf8.h"

#define CHUNK_SIZE 60 /* LUA_IDSIZE: of a short chunk name and its NUL. */

/* The character at P (three bytes, or U+061C) if it is invisible, changes the
** direction of text, or breaks a line; else 0. The page of --format=html
** escapes the same ones.
*/
static unsigned hidden_char(const unsigned char *p, size_t n)
{
  unsigned c;
  if (n >= 2 && p[0] == 0xd8 && p[1] == 0x9c)
    return 0x61c;
  if (n < 3 || (p[0] & 0xf0) != 0xe0 || (p[1] & 0xc0) != 0x80 ||
      (p[2] & 0xc0) != 0x80)
    return 0;
  c = (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
  return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
                 (c >= 0x2060 && c <= 0x206f) || c == 0xfeff
             ? c
             : 0;
}

/* Add the character at S, of N bytes, or a byte that begins none: one of those
** may control a terminal that knows no UTF-8. Returns how many bytes it has.
*/
static size_t printable_char(LpBuf *b, const char *s, size_t n)
{
  int good;
  size_t len = lp_utf8_step(s, n, &good);
  if (!good) {
    unsigned char c = (unsigned char)*s;
    len = 1;
    if (c < 0xa0) {
      lp_buf_printf(b, "\\x%02x", c);
      return len;
    }
  }
  lp_buf_add(b, s, len);
  return len;
}

void lp_printable(LpBuf *b, LpStr s)
{
  size_t i;
  unsigned hidden;
  for (i = 0; i < s.n; i++) {
    unsigned char c = (unsigned char)s.s[i];
    if (c == '\n')
      lp_buf_puts(b, "\\n");
    else if (c < ' ' || c == 0x7f)
      lp_buf_printf(b, "\\x%02x", c);
    else if (c == 0xc2 && i + 1 < s.n && (s.s[i + 1] & 0xe0) == 0x80)
      lp_buf_printf(b, "\\xc2\\x%02x", (unsigned char)s.s[++i]);
    else if ((hidden = hidden_char((const unsigned char *)s.s + i, s.n - i))) {
      lp_buf_printf(b, "\\u%04x", hidden);
      i += hidden < 0x800 ? 1 : 2;
    } else {
      i += printable_char(b, s.s + i, s.n - i) - 1;
    }
  }
}

void lp_printable_line(LpBuf *b, const char *open, LpStr s, const char *close)
{
  size_t n = 0, fit = CHUNK_SIZE - sizeof("[string \"\"]");
  int cut;
  while (n < s.n && n < fit && (unsigned char)s.s[n] >= ' ')
    n++;
  cut = n < s.n;
  if (cut && n > fit - 3)
    n = fit - 3;
  lp_buf_puts(b, open);
  lp_printable(b, (LpStr){s.s, n});
  lp_buf_puts(b, cut ? "..." : "");
  lp_buf_puts(b, close);
}

void lp_printable_chunk(LpBuf *b, LpStr s)
{
  size_t n;
  if (!s.n || (s.s[0] != '@' && s.s[0] != '=')) {
    lp_printable_line(b, "[string \"", s, "\"]");
    return;
  }
  n = s.n - 1;
  if (s.s[0] == '@') {
    lp_buf_puts(b, "@");
    if (n >= CHUNK_SIZE) { /* The end of a path is more specific. */
      lp_buf_puts(b, "...");
      n = CHUNK_SIZE - 4;
    }
  } else if (n >= CHUNK_SIZE) {
    lp_printable(b, (LpStr){s.s + 1, CHUNK_SIZE - 1});
    return;
  }
  lp_printable(b, (LpStr){s.s + s.n - n, n});
}

void lp_printable_file(LpBuf *b, LpStr s)
{
  LpBuf chunk = {0};
  size_t mark;
  lp_printable_chunk(&chunk, s);
  mark = chunk.n && chunk.s[0] == '@';
  lp_buf_add(b, chunk.s + mark, chunk.n - mark);
  lp_buf_free(&chunk);
}

/*
** A JSON writer, directly to the output.
*/

#include <string.h>

#include "json.h"
#include "utf8.h"

#define JSON_LINES 2 /* Members of objects so deep begin a line. */

void lp_json_open(LpJson *j, LpOut *out)
{
  memset(j, 0, sizeof(*j));
  j->out = out;
}

/* Something comes: it may need a comma; behind it, the next one does. */
static void json_step(LpJson *j)
{
  if (j->comma)
    lp_out_puts(j->out, ",");
  j->comma = 1;
}

/* Begin an object or an array. */
static void json_begin(LpJson *j, const char *key, int array)
{
  if (key)
    lp_json_key(j, key);
  json_step(j);
  j->comma = 0;
  j->depth++;
  j->arrays = (j->arrays & ~(1ull << j->depth)) | (uint64_t)array << j->depth;
  lp_out_puts(j->out, array ? "[" : "{");
}

void lp_json_object(LpJson *j, const char *key)
{
  json_begin(j, key, 0);
}

void lp_json_array(LpJson *j, const char *key)
{
  json_begin(j, key, 1);
}

void lp_json_end(LpJson *j)
{
  lp_out_puts(j->out, j->arrays >> j->depth & 1 ? "]" : "}");
  j->depth--;
  j->comma = 1;
  if (!j->depth)
    lp_out_puts(j->out, "\n");
}

/* Add a character, of N bytes, as a string may have it. */
static void json_character(LpBuf *b, const char *s, size_t n)
{
  unsigned char c = (unsigned char)s[0];
  if (c < ' ' || c == '<')
    lp_buf_printf(b, "\\u%04x", c);
  else if (c == '"' || c == '\\')
    lp_buf_printf(b, "\\%c", c);
  else
    lp_buf_add(b, s, n);
}

/* Add a string, in its quotes. */
static void json_quoted(LpJson *j, LpStr s)
{
  LpBuf *b = &j->out->buf;
  size_t i, n;
  lp_buf_puts(b, "\"");
  for (i = 0; i < s.n; i += n) {
    int good;
    n = lp_utf8_step(s.s + i, s.n - i, &good);
    if (good)
      json_character(b, s.s + i, n);
    else
      lp_buf_puts(b, LP_UTF8_BAD);
  }
  lp_buf_puts(b, "\"");
  lp_out_step(j->out);
}

void lp_json_name(LpJson *j, LpStr key)
{
  json_step(j);
  j->comma = 0;
  if (j->depth <= JSON_LINES)
    lp_out_puts(j->out, "\n");
  json_quoted(j, key);
  lp_out_puts(j->out, ":");
}

void lp_json_key(LpJson *j, const char *key)
{
  lp_json_name(j, (LpStr){key, strlen(key)});
}

void lp_json_string(LpJson *j, LpStr s)
{
  json_step(j);
  json_quoted(j, s);
}

void lp_json_text(LpJson *j, const char *s)
{
  if (s)
    lp_json_string(j, (LpStr){s, strlen(s)});
  else
    lp_json_null(j);
}

/* An integer; as everywhere, one of 2^63 and more is below 0. Documents are
** made of little else, so it is put together by hand.
*/
void lp_json_number(LpJson *j, uint64_t n)
{
  char s[20], *p = s + sizeof(s);
  int below = (int64_t)n < 0;
  if (below)
    n = 0 - n;
  do
    *--p = (char)('0' + n % 10);
  while (n /= 10);
  if (below)
    *--p = '-';
  json_step(j);
  lp_buf_add(&j->out->buf, p, (size_t)(s + sizeof(s) - p));
  lp_out_step(j->out);
}

void lp_json_real(LpJson *j, double x)
{
  json_step(j);
  lp_out_printf(j->out, "%.6g", x);
}

void lp_json_null(LpJson *j)
{
  json_step(j);
  lp_out_puts(j->out, "null");
}

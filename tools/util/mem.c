/*
** Allocation that exits the program on failure, and growing strings.
*/

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

/* -- Plain memory --------------------------------------------------------- */

/* Nothing sensible can be reported without memory: say so and end. */
__attribute__((noreturn)) static void mem_out(void)
{
  fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
  exit(2);
}

void *lp_alloc(size_t n)
{
  void *p = malloc(n ? n : 1);
  if (!p)
    mem_out();
  return p;
}

void *lp_zalloc(size_t n, size_t size)
{
  void *p = calloc(n ? n : 1, size);
  if (!p)
    mem_out();
  return p;
}

char *lp_strdup(const char *s)
{
  size_t n = strlen(s) + 1;
  return memcpy(lp_alloc(n), s, n);
}

void *lp_realloc(void *p, size_t n, size_t size)
{
  p = reallocarray(p, n ? n : 1, size);
  if (!p)
    mem_out();
  return p;
}

/* P with room for at least NEED elements; *CAP is how many there is room for.
** New room is cleared.
*/
void *lp_grow(void *p, size_t *cap, size_t need, size_t size)
{
  size_t n = *cap ? *cap : 16;
  if (need <= *cap)
    return p;
  while (n < need)
    n += n / 2;
  p = lp_realloc(p, n, size);
  memset((char *)p + *cap * size, 0, (n - *cap) * size);
  *cap = n;
  return p;
}

/* The same, at the beginning of a line of cache, and new room is not cleared.
 */
void *lp_grow_lines(void *p, size_t *cap, size_t need, size_t size)
{
  size_t n = need > *cap * 2 ? need : *cap * 2;
  void *q;
  if (need <= *cap)
    return p;
  if (n > SIZE_MAX / 2 / size || posix_memalign(&q, LP_LINE, n * size) != 0)
    mem_out();
  if (*cap)
    memcpy(q, p, *cap * size);
  free(p);
  *cap = n;
  return q;
}

/* -- Growing strings ------------------------------------------------------ */

void lp_buf_add(LpBuf *b, const void *s, size_t n)
{
  b->s = lp_grow(b->s, &b->cap, b->n + n + 1, 1);
  if (n)
    memcpy(b->s + b->n, s, n);
  b->n += n;
  b->s[b->n] = '\0';
}

void lp_buf_puts(LpBuf *b, const char *s)
{
  lp_buf_add(b, s, strlen(s));
}

void lp_buf_printf(LpBuf *b, const char *fmt, ...)
{
  va_list ap;
  int n;
  va_start(ap, fmt);
  n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  if (n < 0)
    return;
  b->s = lp_grow(b->s, &b->cap, b->n + (size_t)n + 1, 1);
  va_start(ap, fmt);
  vsnprintf(b->s + b->n, (size_t)n + 1, fmt, ap);
  va_end(ap);
  b->n += (size_t)n;
}

/* Does a byte continue a character? */
static int buf_inside(char c)
{
  return ((unsigned char)c & 0xc0) == 0x80;
}

void lp_buf_middle(LpBuf *b, const char *s, size_t width)
{
  size_t n = strlen(s), all = 0, head = 0, tail = n, i, col;
  for (i = 0; i < n; i++)
    all += !buf_inside(s[i]);
  if (all <= width) {
    lp_buf_add(b, s, n);
    return;
  }
  for (col = 0; head < n; head++) /* The end of a name is more specific. */
    if (!buf_inside(s[head]) && col++ == (width - 2) / 3)
      break;
  for (col = 0; col < width - 2 - (width - 2) / 3; col += !buf_inside(s[tail]))
    tail--;
  lp_buf_add(b, s, head);
  lp_buf_puts(b, "..");
  lp_buf_add(b, s + tail, n - tail);
}

void lp_buf_free(LpBuf *b)
{
  free(b->s);
  b->s = NULL;
  b->n = b->cap = 0;
}

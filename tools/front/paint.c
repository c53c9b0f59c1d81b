/*
** The table of ljprof top.
*/

#include <stdlib.h>
#include <string.h>

#include "paint.h"
#include "screen.h"

static double percent(uint64_t part, uint64_t whole)
{
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Appends text, at most `columns` of it, as a line. */
static void add_line(LpBuf *b, const LpBuf *text, const FtView *v)
{
  ft_screen_fit(b, text->n ? text->s : "", v->columns);
  lp_buf_puts(b, "\n");
}

static void add_head(LpBuf *b, const FtLines *t, const FtView *v)
{
  LpBuf text = {0};
  double cpu = v->interval > 0
                   ? 100.0 * (double)t->samples / ((double)v->hz * v->interval)
                   : 0;
  lp_buf_printf(&text, "%s, %.0f s, CPU %.0f%%, %llu samples", v->title,
                v->seconds, cpu, (unsigned long long)t->samples);
  add_line(b, &text, v);
  text.n = 0;
  lp_buf_printf(&text, " %5s%s %5s%s %5s ", "SELF",
                v->sort == FT_SORT_SELF ? "*" : " ", "TOTAL",
                v->sort == FT_SORT_TOTAL ? "*" : " ", "EVER");
  if (v->memory)
    lp_buf_printf(&text, "%8s%s ", "BYTES",
                  v->sort == FT_SORT_BYTES ? "*" : " ");
  lp_buf_printf(&text, "LINE%s", v->sort == FT_SORT_NAME ? "*" : "");
  add_line(b, &text, v);
  lp_buf_free(&text);
}

/* Appends bytes with a unit. */
static void add_bytes(LpBuf *b, uint64_t bytes)
{
  static const char unit[] = "KMGT";
  double x = (double)bytes / 1024;
  size_t i = 0;
  if (bytes < 1024) {
    lp_buf_printf(b, "%8llu  ", (unsigned long long)bytes);
    return;
  }
  for (; x >= 1024 && unit[i + 1]; i++)
    x /= 1024;
  lp_buf_printf(b, "%7.1f%c  ", x, unit[i]);
}

#define MARGIN     22 /* Columns before the name of a line, */
#define MARGIN_MEM 10 /* and with bytes so many more. */

static void add_row(LpBuf *b, const FtLines *t, const FtLine *l,
                    const FtView *v)
{
  size_t margin = MARGIN + (v->memory ? MARGIN_MEM : 0);
  lp_buf_printf(b, "%6.1f  %5.1f  %5.1f  ", percent(l->self, t->samples),
                percent(l->total, t->samples),
                percent(l->all_self, t->all_samples));
  if (v->memory)
    add_bytes(b, l->bytes);
  ft_screen_fit(b, ft_lines_name(t, l),
                v->columns > margin ? v->columns - margin : 0);
  lp_buf_puts(b, "\n");
}

void ft_paint(LpBuf *b, FtLines *t, const FtView *v)
{
  size_t room = v->rows > 4 ? v->rows - 4 : 1, n, i;
  LpBuf text = {0};
  FtLine *line;
  n = ft_lines_sorted(t, v->sort, &line);
  add_head(b, t, v);
  for (i = 0; i < n && i < room; i++)
    add_row(b, t, &line[i], v);
  free(line);
  if (!n)
    lp_buf_puts(b, "no CPU time was used\n");
  if (!v->keys)
    return;
  lp_buf_printf(&text, "q quit  sort: s self, t total, n name%s",
                v->memory ? ", m bytes" : "");
  add_line(b, &text, v);
  b->n--; /* The last line has no end: it would scroll. */
  b->s[b->n] = '\0';
  lp_buf_free(&text);
}

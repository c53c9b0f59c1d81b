/*
** A table as text: texts to the left, numbers to the right.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* Add the value of a cell. */
static void table_place(LpBuf *b, const LpPlace *p, const LpColumn *c,
                        int human)
{
  if (!p->known) {
    lp_buf_puts(b, "-");
  } else if (c->unit == LP_UNIT_TEXT) {
    lp_buf_puts(b, p->s);
  } else if (c->unit == LP_UNIT_PERCENT) {
    lp_buf_printf(b, "%.1f%%", p->percent);
  } else if (c->unit == LP_UNIT_NS) {
    lp_buf_printf(b, "%.3f", (double)p->n / 1e9);
  } else {
    if (c->change && (int64_t)p->n > 0)
      lp_buf_puts(b, "+");
    lp_text_size(b, p->n, human && c->unit == LP_UNIT_BYTES);
  }
}

/* Add S in its column. A last column of texts is not padded. Percentages are
** next to their numbers.
*/
static void table_field(LpBuf *line, const char *s, int width, LpUnit unit,
                        int last)
{
  if (line->n)
    lp_buf_puts(line, unit == LP_UNIT_PERCENT ? " " : "  ");
  if (unit != LP_UNIT_TEXT)
    lp_buf_printf(line, "%*s", width, s);
  else if (last)
    lp_buf_puts(line, s);
  else
    lp_buf_printf(line, "%-*s", width, s);
}

/* The width of each column: that of its longest cell. */
static int *table_widths(const LpTable *t, int human)
{
  int *width = lp_alloc(t->ncol * sizeof(int));
  LpBuf b = {0};
  unsigned col;
  size_t row;
  for (col = 0; col < t->ncol; col++) {
    width[col] = (int)strlen(t->col[col].title);
    if (width[col] < t->col[col].width)
      width[col] = t->col[col].width;
    for (row = 0; row < t->n; row++) {
      b.n = 0;
      table_place(&b, lp_table_at(t, row, col), &t->col[col], human);
      if ((int)b.n > width[col])
        width[col] = (int)b.n;
    }
  }
  lp_buf_free(&b);
  return width;
}

/* The last column that text has. */
static unsigned table_last(const LpTable *t)
{
  unsigned col = t->ncol;
  while (col > 1 && t->col[col - 1].extra)
    col--;
  return col - 1;
}

/* A line; the head's, or that of a row. */
static void table_line(LpOut *out, const LpTable *t, const int *width,
                       const LpPlace *row, int human)
{
  LpBuf line = {0}, b = {0};
  unsigned col, last = table_last(t);
  for (col = 0; col < t->ncol; col++) {
    const LpColumn *c = &t->col[col];
    if (c->extra)
      continue;
    b.n = 0;
    if (row)
      table_place(&b, &row[col], c, human);
    else
      lp_buf_puts(&b, c->title);
    table_field(&line, b.s, width[col], c->unit, col == last);
  }
  if (!row && t->note.n)
    lp_buf_puts(&line, t->note.s);
  lp_out_printf(out, "%s\n", line.s);
  lp_buf_free(&line);
  lp_buf_free(&b);
}

void lp_table_text(LpOut *out, const LpTable *t, int human)
{
  int *width = table_widths(t, human);
  size_t row;
  table_line(out, t, width, NULL, human);
  for (row = 0; row < t->n; row++)
    table_line(out, t, width, lp_table_at(t, row, 0), human);
  free(width);
}

/*
** A table as text: texts to the left, numbers to the right.
*/

#include <string.h>

#include "fit.h"
#include "table_fit.h"
#include "text.h"

typedef struct TableText {
  LpOut *out;
  const LpTable *t;
  const LpReportOptions *opt;
  LpTableFit fit;
} TableText;

/* Add S in its column. A last column of texts is not padded. Percentages are
** next to their numbers.
*/
static void table_field(const TableText *x, LpBuf *line, const char *s,
                        unsigned col)
{
  const LpColumn *c = &x->t->col[col];
  int screen = x->opt->screen.columns > 0, width = x->fit.width[col];
  LpBuf name = {0};
  if (line->n)
    lp_buf_puts(line, c->unit == LP_UNIT_PERCENT ? " " : "  ");
  if (screen && c->unit == LP_UNIT_TEXT) {
    lp_fit_name(&name, &x->opt->screen, s, (size_t)width);
    s = name.n ? name.s : "";
    width += (int)strlen(s) - (int)lp_fit_width(s);
  }
  if (c->unit != LP_UNIT_TEXT)
    lp_buf_printf(line, "%*s", width, s);
  else if (col == x->fit.last)
    lp_buf_puts(line, s);
  else
    lp_buf_printf(line, "%-*s", width, s);
  lp_buf_free(&name);
}

/* Add the bar of a row behind its first percentage, or its place in the head.
 */
static void table_bar(const TableText *x, LpBuf *line, const LpPlace *p)
{
  lp_buf_puts(line, " ");
  if (p && p->known)
    lp_screen_bar(line, &x->opt->screen, p->percent, (size_t)x->fit.bar);
  else
    lp_buf_printf(line, "%*s", x->fit.bar, "");
}

/* Add all columns of a row, or without one those of the head. */
static void table_cells(const TableText *x, LpBuf *line, const LpPlace *row)
{
  LpBuf b = {0};
  int bars = 0;
  unsigned col;
  for (col = 0; col < x->t->ncol; col++) {
    const LpColumn *c = &x->t->col[col];
    if (x->fit.width[col] == LP_TABLE_HIDDEN)
      continue;
    b.n = 0;
    if (row)
      lp_table_cell(&b, &row[col], c, x->opt->human);
    else
      lp_buf_puts(&b, lp_table_title(c, x->fit.width[col]));
    table_field(x, line, b.s, col);
    if (x->fit.bar && c->unit == LP_UNIT_PERCENT && !bars++)
      table_bar(x, line, row ? &row[col] : NULL);
  }
  lp_buf_free(&b);
}

/* Write the line of a row. */
static void table_line(const TableText *x, const LpPlace *row)
{
  LpBuf line = {0};
  table_cells(x, &line, row);
  lp_out_printf(x->out, "%s\n", line.s);
  lp_buf_free(&line);
}

/* On a terminal the note is a sentence before the table. */
static void table_note(const TableText *x)
{
  const LpBuf *note = &x->t->note, *left = &x->fit.left;
  LpBuf b = {0};
  if (note->n)
    lp_buf_puts(&b, note->s);
  if (left->n)
    lp_buf_printf(&b, ", without columns %s (see --columns)", left->s);
  if (b.n)
    lp_text_sentence(x->out, b.s);
  lp_buf_free(&b);
}

/* Write the titles. */
static void table_head(const TableText *x)
{
  const LpScreen *screen = &x->opt->screen;
  LpBuf line = {0};
  if (screen->columns)
    table_note(x);
  table_cells(x, &line, NULL);
  if (!screen->columns && x->t->note.n)
    lp_buf_puts(&line, x->t->note.s);
  lp_text_bold(x->out, screen, line.s);
  lp_buf_free(&line);
}

void lp_table_text(LpOut *out, const LpTable *t, const LpReportOptions *opt)
{
  TableText x = {.out = out, .t = t, .opt = opt};
  size_t row;
  lp_table_fit(&x.fit, t, opt);
  table_head(&x);
  for (row = 0; row < t->n; row++)
    table_line(&x, lp_table_at(t, row, 0));
  lp_table_fit_close(&x.fit);
}

/*
** Columns that views declare.
*/

#include "columns.h"

/* Columns of one field, in their order. */
typedef enum Part {
  PART_CHANGE,
  PART_NOW,
  PART_BASE,
  PART_PERCENT,
  NPART
} Part;

/* Does a field have such a column in the table? */
static int columns_has(const LpColumns *c, const LpField *f, Part part)
{
  if (!f)
    return 0;
  switch (part) {
  case PART_CHANGE:
    return c->diff && f->change;
  case PART_NOW:
    if (f->compares)
      return c->diff;
    return !c->diff || f->change || f->alike || f->column.unit == LP_UNIT_TEXT;
  case PART_BASE:
    return c->diff && f->base;
  default:
    return !c->diff && f->percent;
  }
}

/* The column of a field. */
static LpColumn columns_of(const LpField *f, Part part)
{
  LpColumn c = f->column;
  c.asked = 0;
  if (part == PART_CHANGE) {
    c.key = f->change;
    c.title = f->changed;
    c.change = 1;
  } else if (part == PART_BASE) {
    c.key = f->base;
    c.title = "before";
  } else if (part == PART_PERCENT) {
    c.key = f->percent;
    c.title = "%";
    c.unit = LP_UNIT_PERCENT;
    c.width = c.width ? 6 : 0;
  }
  return c;
}

void lp_columns_add(const LpColumns *c)
{
  size_t i;
  Part part;
  for (i = 0; i < c->n; i++)
    for (part = 0; part < NPART; part++)
      if (columns_has(c, c->field[i], part)) {
        LpColumn col = columns_of(c->field[i], part);
        *lp_table_column(c->t, col.key, col.title, col.unit) = col;
      }
}

/* The number of a field in a row. */
static uint64_t columns_number(const LpField *f, const void *row)
{
  return *(const uint64_t *)((const char *)row + f->at);
}

/* Put a text into the last row. */
static void columns_text(const LpColumns *c, unsigned col, const LpField *f,
                         const void *row)
{
  LpBuf b = {0};
  f->text(&b, c->view, row);
  lp_table_string(c->t, col, b.s ? b.s : lp_strdup(""));
}

/* Put a number into the last row, if it is known. */
static void columns_put(const LpColumns *c, unsigned col, const LpField *f,
                        Part part, uint64_t now, uint64_t base)
{
  uint64_t n = part == PART_BASE ? base : now;
  if (n == LP_UNKNOWN || (part == PART_CHANGE && base == LP_UNKNOWN))
    c->t->col[col].asked = f->column.asked && part == PART_NOW && !c->diff;
  else if (part == PART_PERCENT)
    lp_table_percent(c->t, col, n, c->all);
  else
    lp_table_number(c->t, col, part == PART_CHANGE ? now - base : n);
}

void lp_columns_row(const LpColumns *c, const void *now, const void *base)
{
  unsigned col = 0;
  size_t i;
  Part part;
  lp_table_row(c->t);
  for (i = 0; i < c->n; i++) {
    const LpField *f = c->field[i];
    for (part = 0; part < NPART; part++) {
      if (!columns_has(c, f, part))
        continue;
      if (f->column.unit == LP_UNIT_TEXT)
        columns_text(c, col++, f, now);
      else
        columns_put(c, col++, f, part, columns_number(f, now),
                    base ? columns_number(f, base) : 0);
    }
  }
}

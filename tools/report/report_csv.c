/*
** --format=csv: a view's table, for spreadsheets and for programs.
**
** As RFC 4180 has it, but lines end as everywhere else here. A number that is
** not known is an empty field.
**
** A spreadsheet takes a field for a formula if it begins like one, quoted or
** not, and names of chunks and functions are untrusted. So a text that begins
** like one has a "'" in front of it, and so has a text that begins with a "'":
** a program that takes one off has all texts as they were. Most names begin
** with '@', which is how some formulas begin as well; those that are harmless
** whatever a spreadsheet makes of them, since they could neither call a program
** nor fetch a page, stay as they are.
*/

#include <inttypes.h>
#include <string.h>

#include "report.h"
#include "utf8.h"

/* Harmless characters of usual names. */
static const char csv_harmless[] = "abcdefghijklmnopqrstuvwxyz"
                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789_-./:, ()[]<>~?";

/* Could a spreadsheet interpret it as a formula? */
static int csv_formula(const char *s)
{
  if (s[0] == '@')
    return s[1 + strspn(s + 1, csv_harmless)] != '\0';
  return s[0] && strchr("=+-'\t\r", s[0]) != NULL;
}

/* Add a text, in quotes if it needs them. An empty one does, since it is known.
 */
static void csv_text(LpBuf *b, const char *s)
{
  LpBuf text = {0};
  size_t i;
  if (csv_formula(s))
    lp_buf_puts(&text, "'");
  lp_utf8_add(&text, s, strlen(s));
  if (text.n && !strpbrk(text.s, ",\"\r\n")) {
    lp_buf_puts(b, text.s);
  } else {
    lp_buf_puts(b, "\"");
    for (i = 0; i < text.n; i++)
      lp_buf_printf(b, text.s[i] == '"' ? "\"\"" : "%c", text.s[i]);
    lp_buf_puts(b, "\"");
  }
  lp_buf_free(&text);
}

/* Add the value of a cell. */
static void csv_place(LpBuf *b, const LpPlace *p, LpUnit unit)
{
  if (!p->known)
    return;
  if (unit == LP_UNIT_TEXT)
    csv_text(b, p->s);
  else if (unit == LP_UNIT_PERCENT)
    lp_buf_printf(b, "%.6g", p->percent);
  else
    lp_buf_printf(b, "%" PRId64, (int64_t)p->n);
}

void lp_csv_table(LpOut *out, const LpTable *t, const LpProfile *prof,
                  const LpReportOptions *opt)
{
  unsigned col;
  size_t row;
  (void)prof, (void)opt;
  for (col = 0; col < t->ncol; col++)
    lp_out_printf(out, "%s%s", col ? "," : "", t->col[col].key);
  lp_out_puts(out, "\n");
  for (row = 0; row < t->n; row++) {
    for (col = 0; col < t->ncol; col++) {
      if (col)
        lp_buf_puts(&out->buf, ",");
      csv_place(&out->buf, lp_table_at(t, row, col), t->col[col].unit);
    }
    lp_out_puts(out, "\n");
  }
}

/*
** All reports there are.
*/

#include <stddef.h>
#include <string.h>

#include "report.h"
#include "report_csv.h"
#include "report_json.h"
#include "text.h"

/* The first one of a format has its default view, unless table_formats tells
** another.
*/
static const LpReport *const reports[] = {
    &lp_report_sites,      &lp_report_json,      &lp_report_pprof,
    &lp_report_speedscope, &lp_report_types,     &lp_report_tree,
    &lp_report_folded,     &lp_report_functions, &lp_report_lines,
    &lp_report_threads,    &lp_report_calls,     &lp_report_folded_cpu,
    &lp_report_sizes,      &lp_report_time,      &lp_report_snapshots};

/* A table as text, and what must be said in front of it. */
static void report_table_text(LpOut *out, const LpTable *t,
                              const LpProfile *prof, const LpReportOptions *opt)
{
  if (prof->of & LP_OF_CPU)
    lp_text_books(out, prof);
  else
    lp_text_samples(out, prof);
  if (prof->guess.n)
    lp_out_printf(out, "Live figures are approximate: %s\n\n", prof->guess.s);
  lp_table_text(out, t, opt->human);
}

/* Formats that print tables. */
static const struct TableFormat {
  const char *name;
  const char *view; /* The default one, where there is it. */
  void (*write)(LpOut *out, const LpTable *t, const LpProfile *prof,
                const LpReportOptions *opt);
} table_formats[] = {{"text", NULL, report_table_text},
                     {"json", NULL, lp_json_table},
                     {"csv", "lines", lp_csv_table}};

/* How a format prints tables, or NULL if it does not. */
static const struct TableFormat *report_table(const char *format)
{
  size_t i;
  for (i = 0; i < sizeof(table_formats) / sizeof(table_formats[0]); i++)
    if (strcmp(table_formats[i].name, format) == 0)
      return &table_formats[i];
  return NULL;
}

/* The report of a format and a view, NULL for the default, of a profile of one
** kind, LP_OF_*; or NULL.
*/
const LpReport *lp_report_find(const char *format, const char *view,
                               unsigned of)
{
  const struct TableFormat *t = report_table(format);
  size_t i;
  if (!view && t && t->view && lp_report_find(format, t->view, of))
    return lp_report_find(format, t->view, of);
  for (i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
    const LpReport *r = reports[i];
    if (!(r->of & of))
      continue;
    if (r->format ? strcmp(r->format, format) != 0 : !report_table(format))
      continue;
    if (!view || (r->view && strcmp(r->view, view) == 0))
      return r;
  }
  return NULL;
}

/* Write the report that lp_report_find finds; there must be one. */
void lp_report_write(const char *format, const char *view, LpOut *out,
                     const LpProfile *prof, const LpReportOptions *opt)
{
  unsigned of = prof->of ? prof->of : LP_OF_MEMORY | LP_OF_CPU;
  const LpReport *r = lp_report_find(format, view, of);
  LpTable t = {.name = r->view};
  if (!r->table) {
    r->write(out, prof, opt);
    return;
  }
  r->table(&t, prof, opt);
  report_table(format)->write(out, &t, prof, opt);
  lp_table_close(&t);
}

/* Add the names of all formats. */
static void report_formats(LpBuf *b)
{
  size_t i, k;
  for (i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
    const char *name = reports[i]->format;
    for (k = 0; name && k < i; k++)
      if (reports[k]->format && strcmp(reports[k]->format, name) == 0)
        break;
    if (name && k == i)
      lp_buf_printf(b, "%s, ", name);
  }
  lp_buf_puts(b, "csv");
}

/* The same, if it takes all options that were given, LP_TAKES_*. If there is
** none, *WHY tells why.
*/
const LpReport *lp_report_choose(const char *format, const char *view,
                                 unsigned given, unsigned of, LpBuf *why)
{
  static const char *const name[] = {"human-readable",
                                     "leak-only",
                                     "min",
                                     "metric",
                                     "sort",
                                     "temporary",
                                     "ignore-youngest",
                                     "heap-snap-interval"};
  const LpReport *r = lp_report_find(format, view, of);
  unsigned i;
  why->n = 0;
  if (!r && !lp_report_find(format, NULL, of)) {
    lp_buf_puts(why, "expected a FORMAT (");
    report_formats(why);
    lp_buf_printf(why, "), not %s", format);
  } else if (!r) {
    lp_buf_printf(why, "--format=%s has no view %s", format, view);
  }
  for (i = 0; r && i < sizeof(name) / sizeof(name[0]); i++) {
    if (given & ~r->takes & 1u << i) {
      lp_buf_printf(why, "--%s is not for --%s=%s", name[i],
                    r->view ? "view" : "format", r->view ? r->view : r->format);
      return NULL;
    }
  }
  return r;
}

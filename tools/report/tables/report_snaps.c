/*
** Heap snapshots: in the RFC's form before the report by sites, and as a table,
** --view=snapshots.
*/

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "text.h"

#define SNAPS_NUMBER 20 /* Columns behind a label. */

typedef struct Snaps {
  const LpProfile *prof;
  const LpShape *shape; /* Of the report that they are in. */
  LpSnaps snaps;        /* Those of the profile, in the order of time. */
  LpSnapState *state;   /* By site. */
  LpTextRow *row;       /* Those that hold something, most bytes first. */
  size_t n;
  char **label; /* By site. */
  size_t next;  /* The next record. */
  uint64_t ns;  /* When the snapshot is from. */
} Snaps;

/* Begin before the first snapshot, with objects older than the recordings. */
static void snaps_open(Snaps *s, const LpProfile *prof, const LpShape *shape)
{
  const LpSnaps *from = &prof->snaps;
  memset(s, 0, sizeof(*s));
  s->prof = prof;
  s->shape = shape;
  s->snaps = *from;
  s->snaps.snap = lp_alloc(from->n * sizeof(LpSnap));
  if (from->n)
    memcpy(s->snaps.snap, from->snap, from->n * sizeof(LpSnap));
  lp_snaps_sort(&s->snaps);
  s->state = lp_zalloc(prof->sitekeys.n, sizeof(LpSnapState));
  s->state[LP_SITE_BEFORE].bytes = prof->base;
  s->row = lp_alloc(prof->sitekeys.n * sizeof(LpTextRow));
  s->label = lp_text_labels(prof, lp_label_site);
}

/* Go to the next snapshot. Returns 0 if there is none. Negative sums, after a
** gap, are not shown.
*/
static int snaps_next(Snaps *s)
{
  uint32_t i;
  if (s->next == s->snaps.n)
    return 0;
  s->ns = s->snaps.snap[s->next].at * s->prof->wanted.snap;
  s->next = lp_snaps_play(&s->snaps, s->next, s->state);
  s->n = 0;
  for (i = 0; i < s->prof->sitekeys.n; i++)
    if ((int64_t)s->state[i].bytes > 0 && lp_shape_site(s->shape, i) &&
        !(i == LP_SITE_BEFORE && s->prof->nobefore))
      s->row[s->n++] = (LpTextRow){i, s->state[i].bytes};
  lp_text_sort(s->row, s->n, s->label);
  return 1;
}

/* Free it. */
static void snaps_close(Snaps *s)
{
  lp_text_free(s->label, s->prof);
  free(s->snaps.snap);
  free(s->state);
  free(s->row);
}

/* Seconds, in the shortest form. */
static void snaps_seconds(LpOut *out, uint64_t ns)
{
  char part[16];
  int n = snprintf(part, sizeof(part), ".%09" PRIu64, ns % 1000000000);
  while (part[n - 1] == '0')
    n--;
  part[n == 1 ? 0 : n] = '\0';
  lp_out_printf(out, "%" PRIu64 "%s", ns / 1000000000, part);
}

/* "label holds 640 bytes" */
static void snaps_holds(LpOut *out, const char *label, uint64_t bytes,
                        const LpReportOptions *opt)
{
  size_t columns = opt->screen.columns;
  if (columns) /* " holds " and the largest number. */
    lp_fit_name(&out->buf, &opt->screen, label, columns - SNAPS_NUMBER);
  else
    lp_out_puts(out, label);
  lp_out_puts(out, " holds ");
  lp_text_size(&out->buf, bytes, opt->human);
  lp_out_puts(out, opt->human ? "\n" : " bytes\n");
}

/* One of them, as text. */
static void snaps_text(const Snaps *s, LpOut *out, const LpReportOptions *opt)
{
  size_t i, top = lp_text_top(opt, s->n);
  uint64_t rest = 0;
  lp_out_puts(out, "===== HEAP SNAPSHOT, ");
  snaps_seconds(out, s->ns);
  lp_out_puts(out, " seconds passed\n");
  for (i = 0; i < top; i++)
    snaps_holds(out, s->label[s->row[i].site], s->row[i].n, opt);
  if (top < s->n) {
    LpBuf b = {0};
    lp_buf_printf(&b, "(%zu others)", s->n - top);
    for (; i < s->n; i++)
      rest += s->row[i].n;
    snaps_holds(out, b.s, rest, opt);
    lp_buf_free(&b);
  }
  lp_out_puts(out, "\n");
}

void lp_report_snaps(LpOut *out, const LpProfile *prof,
                     const LpReportOptions *opt)
{
  Snaps s;
  if (!prof->snaps.n)
    return;
  snaps_open(&s, prof, opt->shape);
  while (snaps_next(&s))
    snaps_text(&s, out, opt);
  snaps_close(&s);
}

/* The same as a table. How many objects are older than the recording is not
** known.
*/
static void snaps_table(LpTable *t, const LpSubject *subject,
                        const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  size_t i;
  Snaps s;
  lp_table_column(t, "ns", "seconds", LP_UNIT_NS);
  lp_table_column(t, "site", "site", LP_UNIT_TEXT);
  lp_table_column(t, "function", "function", LP_UNIT_TEXT);
  lp_table_metric(t, LP_METRIC_LIVE_OBJECTS);
  lp_table_metric(t, LP_METRIC_LIVE);
  snaps_open(&s, prof, opt->shape);
  while (snaps_next(&s)) {
    for (i = 0; i < s.n; i++) {
      uint32_t site = s.row[i].site;
      LpBuf name = {0};
      lp_table_row(t);
      lp_table_number(t, 0, s.ns);
      lp_table_string(t, 1, lp_strdup(s.label[site]));
      lp_label_name(&name, prof, site);
      if (name.n)
        lp_table_string(t, 2, name.s);
      if (site != LP_SITE_BEFORE)
        lp_table_number(t, 3, s.state[site].objects);
      lp_table_number(t, 4, s.row[i].n);
    }
  }
  snaps_close(&s);
}

const LpReport lp_report_snapshots = {
    .view = "snapshots",
    .of = LP_OF_MEMORY,
    .takes = LP_TAKES_HUMAN | LP_TAKES_SNAP,
    .wants = LP_WANT_SNAPS,
    .table = snaps_table,
};

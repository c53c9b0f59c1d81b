/*
** --view=sites, the RFC's report: events by site, and what each site still
** holds.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "label.h"
#include "report.h"
#include "text.h"

/* A row of one section. */
typedef struct TextRow {
  uint32_t site;
  uint64_t n; /* What rows are sorted by. */
} TextRow;

typedef struct Text {
  LpOut *out;
  const LpProfile *prof;
  const LpReportOptions *opt;
  uint32_t nsite;
  char **label;        /* By site. */
  TextRow *row;        /* Of one section; as many as there are sites. */
  LpTakenEntry *taken; /* By event, site, site. */
  size_t ntaken;
} Text;

/* -- Order ---------------------------------------------------------------- */

/* Most first, then by name, then by age. */
static int text_before(const void *a, const void *b, void *ctx)
{
  const TextRow *x = a, *y = b;
  const Text *t = ctx;
  int cmp;
  if (x->n != y->n)
    return x->n > y->n ? -1 : 1;
  cmp = strcmp(t->label[x->site], t->label[y->site]);
  if (cmp)
    return cmp;
  return x->site < y->site ? -1 : x->site > y->site;
}

/* By event, then the site that took, then the site whose it was. */
static int text_taken_before(const void *a, const void *b)
{
  const LpTakenEntry *x = a, *y = b;
  return x->key < y->key ? -1 : x->key > y->key;
}

/* A name for every site, a list of who took whose objects. */
static void text_prepare(Text *t)
{
  size_t i;
  t->nsite = t->prof->sitekeys.n;
  t->row = lp_alloc(t->nsite * sizeof(TextRow));
  t->label = lp_text_labels(t->prof, 0);
  t->taken = lp_alloc(t->prof->taken.n * sizeof(LpTakenEntry));
  for (i = 0; i < t->prof->taken.size; i++)
    if (t->prof->taken.entry[i].key)
      t->taken[t->ntaken++] = t->prof->taken.entry[i];
  qsort(t->taken, t->ntaken, sizeof(LpTakenEntry), text_taken_before);
}

/* Give the memory back. */
static void text_free(Text *t)
{
  lp_text_free(t->label, t->prof);
  free(t->row);
  free(t->taken);
}

/* -- Parts of lines ------------------------------------------------------- */

/* A size. */
static void text_size(Text *t, uint64_t n)
{
  lp_text_size(&t->out->buf, n, t->opt->human);
  lp_out_step(t->out);
}

/* The function's name, if it has one, and the end of the line. */
static void text_name(Text *t, uint32_t site)
{
  LpBuf b = {0};
  lp_label_name(&b, t->prof, site);
  if (b.n)
    lp_out_printf(t->out, " (%s)", b.s);
  lp_out_puts(t->out, "\n");
  lp_buf_free(&b);
}

/* "label: events in out (name)" */
static void text_row(Text *t, TextRow r, uint64_t in, uint64_t out)
{
  lp_out_printf(t->out, "%s: %" PRIu64 " ", t->label[r.site], r.n);
  text_size(t, in);
  lp_out_puts(t->out, " ");
  text_size(t, out);
  text_name(t, r.site);
}

/* Whose objects a site took, and an empty line. */
static void text_overrides(Text *t, uint64_t key)
{
  size_t lo = 0, hi = t->ntaken, i, n = 0;
  TextRow *list;
  while (lo < hi) { /* The first entry that is not before KEY. */
    size_t mid = lo + (hi - lo) / 2;
    if (t->taken[mid].key < key)
      lo = mid + 1;
    else
      hi = mid;
  }
  for (hi = lo; hi < t->ntaken && t->taken[hi].key >> 32 == key >> 32;)
    hi++;
  list = lp_alloc((hi - lo) * sizeof(TextRow));
  for (i = lo; i < hi; i++)
    list[n++] = (TextRow){LP_TAKEN_OF(t->taken[i].key),
                          lp_round(t->taken[i].w.n, t->taken[i].w.npart)};
  qsort_r(list, n, sizeof(TextRow), text_before, t);
  if (n)
    lp_out_puts(t->out, "\tOverrides:\n");
  for (i = 0; i < n; i++)
    lp_out_printf(t->out, "\t\t%s\n", t->label[list[i].site]);
  lp_out_puts(t->out, "\n");
  free(list);
}

/* -- Sections ------------------------------------------------------------- */

/* The rows of a section: sort those that have a number. NUMBER is the offset of
** that number in LpRow.
*/
static size_t text_section(Text *t, size_t number)
{
  size_t n = 0;
  uint32_t i;
  for (i = 0; i < t->nsite; i++) {
    const LpRow *r = &t->prof->row[i];
    uint64_t v = *(const uint64_t *)((const char *)r + number);
    if (v && (int64_t)v > 0)
      t->row[n++] = (TextRow){i, v};
  }
  qsort_r(t->row, n, sizeof(TextRow), text_before, t);
  return n;
}

/* ALLOCATIONS */
static void text_allocs(Text *t)
{
  size_t i, n = text_section(t, offsetof(LpRow, allocs));
  lp_out_puts(t->out, "ALLOCATIONS\n");
  for (i = 0; i < n; i++)
    text_row(t, t->row[i], t->prof->row[t->row[i].site].alloc_bytes, 0);
  lp_out_puts(t->out, "\n");
}

/* REALLOCATIONS */
static void text_reallocs(Text *t)
{
  size_t i, n = text_section(t, offsetof(LpRow, reallocs));
  lp_out_puts(t->out, "REALLOCATIONS\n");
  for (i = 0; i < n; i++) {
    TextRow r = t->row[i];
    const LpRow *row = &t->prof->row[r.site];
    text_row(t, r, row->realloc_in, row->realloc_out);
    text_overrides(t, LP_TAKEN_REALLOC | LP_TAKEN_KEY(r.site, 0));
  }
  if (!n)
    lp_out_puts(t->out, "\n");
}

/* DEALLOCATIONS */
static void text_frees(Text *t)
{
  size_t i, n = text_section(t, offsetof(LpRow, frees));
  lp_out_puts(t->out, "DEALLOCATIONS\n");
  for (i = 0; i < n; i++) {
    TextRow r = t->row[i];
    text_row(t, r, 0, t->prof->row[r.site].free_bytes);
    text_overrides(t, LP_TAKEN_KEY(r.site, 0));
  }
  if (!n)
    lp_out_puts(t->out, "\n");
}

/* HEAP SUMMARY: what is still held, and by whom. */
static void text_heap(Text *t)
{
  size_t i, n = text_section(t, offsetof(LpRow, live));
  lp_out_puts(t->out, "HEAP SUMMARY");
  lp_text_guess(t->out, t->prof);
  lp_out_puts(t->out, "\n");
  for (i = 0; i < n; i++) {
    TextRow r = t->row[i];
    const LpRow *row = &t->prof->row[r.site];
    if (r.site == LP_SITE_BEFORE && t->prof->nobefore)
      continue;
    lp_out_printf(t->out, "%s holds ", t->label[r.site]);
    text_size(t, r.n);
    lp_out_printf(t->out,
                  "%s: %" PRIu64 " allocations, %" PRIu64 " deallocations",
                  t->opt->human ? "" : " bytes", row->arrived, row->left);
    text_name(t, r.site);
  }
}

/* The whole report. */
static void text_write(LpOut *out, const LpProfile *prof,
                       const LpReportOptions *opt)
{
  Text t = {.out = out, .prof = prof, .opt = opt};
  text_prepare(&t);
  lp_text_samples(out, prof);
  lp_report_snaps(out, prof, opt);
  if (!opt->leakonly) {
    text_allocs(&t);
    text_reallocs(&t);
    text_frees(&t);
  }
  text_heap(&t);
  text_free(&t);
}

const LpReport lp_report_sites = {
    .format = "text",
    .view = "sites",
    .of = LP_OF_MEMORY,
    .takes = LP_TAKES_HUMAN | LP_TAKES_LEAKONLY | LP_TAKES_SNAP,
    .write = text_write,
};

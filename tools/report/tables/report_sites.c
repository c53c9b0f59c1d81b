/*
** --view=sites, the RFC's report: events and live bytes by site.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "foreign.h"
#include "text.h"

typedef struct Text {
  LpOut *out;
  const LpProfile *prof;
  const LpReportOptions *opt;
  uint32_t nsite;
  LpOut line;           /* Of a site: its label and numbers. */
  char **label;         /* By site. */
  LpTextRow *row;       /* Of one section; as many as there are sites. */
  LpOverride *override; /* By event, site, site. */
  size_t noverride;
} Text;

/* By event, then the overriding site, then the site of the allocation. */
static int text_override_before(const void *a, const void *b)
{
  const LpOverride *x = a, *y = b;
  return x->key < y->key ? -1 : x->key > y->key;
}

/* Make the names of all sites and the sorted list of overrides. */
static void text_prepare(Text *t)
{
  const LpOverrides *o = &t->prof->overrides;
  lp_out_open(&t->line, -1);
  t->nsite = t->prof->sitekeys.n;
  t->row = lp_alloc(t->nsite * sizeof(LpTextRow));
  t->label = lp_text_labels(t->prof, lp_label_site);
  t->noverride = o->n;
  t->override = lp_alloc(o->n * sizeof(LpOverride));
  if (o->n)
    memcpy(t->override, o->entry, o->n * sizeof(LpOverride));
  qsort(t->override, t->noverride, sizeof(LpOverride), text_override_before);
}

/* Free it. */
static void text_free(Text *t)
{
  lp_text_free(t->label, t->prof);
  lp_out_close(&t->line);
  free(t->row);
  free(t->override);
}

/* -- Parts of lines ------------------------------------------------------- */

/* A size. */
static void text_size(Text *t, uint64_t n)
{
  lp_text_size(&t->line.buf, n, t->opt->human);
}

#define TEXT_BOTH 40 /* Columns in which there is room for both. */

/* Write the line, LABEL and numbers, and NAME. On a terminal both texts are cut
** so that it fits; the name gets at least a third, or nothing if the label
** alone needs the room.
*/
static void text_fit(Text *t, const char *label, const char *name)
{
  const LpScreen *screen = &t->opt->screen;
  const char *rest = t->line.buf.s + strlen(label);
  size_t used = lp_fit_width(rest), a = lp_fit_width(label);
  size_t z = lp_fit_width(name), room = screen->columns;
  room = room > used + 16 ? room - used : 16;
  if (a + z > room && room < TEXT_BOTH)
    z = 0;
  else if (a + z > room && z > room / 3)
    z = a < room - room / 3 ? room - a : room / 3;
  lp_fit_name(&t->out->buf, screen, label, room - z);
  lp_out_puts(t->out, rest);
  if (z)
    lp_fit_name(&t->out->buf, screen, name, z);
}

/* Write the line of a site, which begins with LABEL, with the function's name,
** if it has one. SITE may be LP_NONE.
*/
static void text_end(Text *t, const char *label, uint32_t site)
{
  LpBuf name = {0};
  if (site != LP_NONE)
    lp_label_named(&name, t->prof, site);
  if (t->opt->screen.columns)
    text_fit(t, label, name.n ? name.s : "");
  else
    lp_out_printf(t->out, "%s%s", t->line.buf.s, name.n ? name.s : "");
  lp_out_puts(t->out, "\n");
  lp_buf_free(&name);
  t->line.buf.n = 0;
}

/* "label: events in out" */
static void text_row(Text *t, const char *label, uint64_t n, uint64_t in,
                     uint64_t out)
{
  lp_out_printf(&t->line, "%s: %" PRIu64 " ", label, n);
  text_size(t, in);
  lp_out_puts(&t->line, " ");
  text_size(t, out);
}

/* "label holds 640 bytes: 100 allocations, 90 deallocations" */
static void text_holds(Text *t, const char *label, uint64_t bytes,
                       uint64_t arrived, uint64_t left)
{
  lp_out_printf(&t->line, "%s holds ", label);
  text_size(t, bytes);
  lp_out_printf(&t->line,
                "%s: %" PRIu64 " allocations, %" PRIu64 " deallocations",
                t->opt->human ? "" : " bytes", arrived, left);
}

/* The line of a site whose objects were overridden. */
static void text_override(Text *t, const char *label)
{
  const LpScreen *screen = &t->opt->screen;
  lp_out_puts(t->out, "\t\t");
  if (screen->columns)
    lp_fit_name(&t->out->buf, screen, label, screen->columns - 16);
  else
    lp_out_puts(t->out, label);
  lp_out_puts(t->out, "\n");
}

/* The overrides of a site, and an empty line. */
static void text_overrides(Text *t, uint64_t key)
{
  size_t lo = 0, hi = t->noverride, i, n = 0, top;
  LpTextRow *list;
  while (lo < hi) { /* The first entry that is not before KEY. */
    size_t mid = lo + (hi - lo) / 2;
    if (t->override[mid].key < key)
      lo = mid + 1;
    else
      hi = mid;
  }
  for (hi = lo; hi < t->noverride && t->override[hi].key >> 32 == key >> 32;)
    hi++;
  list = lp_alloc((hi - lo) * sizeof(LpTextRow));
  for (i = lo; i < hi; i++)
    list[n++] =
        (LpTextRow){LP_OVERRIDE_OF(t->override[i].key),
                    lp_round(t->override[i].w.n, t->override[i].w.npart)};
  lp_text_sort(list, n, t->label);
  if (n)
    lp_out_puts(t->out, "\tOverrides:\n");
  top = lp_text_top(t->opt, n);
  for (i = 0; i < top; i++)
    text_override(t, t->label[list[i].site]);
  if (top < n)
    lp_out_printf(t->out, "\t\t(%zu others)\n", n - top);
  lp_out_puts(t->out, "\n");
  free(list);
}

/* -- Sections ------------------------------------------------------------- */

/* What is in a section: offsets in LpRow. */
typedef struct TextSection {
  const char *title;
  size_t n, in, out; /* Rows are sorted by n; TEXT_NONE: it has none. */
  void (*row)(Text *t, const char *label, uint64_t n, uint64_t in,
              uint64_t out);
  int override; /* It lists whose objects were overridden, */
  uint64_t key; /* with this in the key. */
} TextSection;

#define TEXT_NONE ((size_t)-1)

static const TextSection text_sections[] = {
    {"ALLOCATIONS", offsetof(LpRow, allocs), offsetof(LpRow, alloc_bytes),
     TEXT_NONE, text_row, 0, 0},
    {"REALLOCATIONS", offsetof(LpRow, reallocs), offsetof(LpRow, realloc_in),
     offsetof(LpRow, realloc_out), text_row, 1, LP_OVERRIDE_REALLOC},
    {"DEALLOCATIONS", offsetof(LpRow, frees), TEXT_NONE,
     offsetof(LpRow, free_bytes), text_row, 1, 0},
    {"HEAP SUMMARY", offsetof(LpRow, live), offsetof(LpRow, arrived),
     offsetof(LpRow, left), text_holds, 0, 0},
};

#define TEXT_EVENTS 3 /* The first ones are about events. */

/* A number of a site's row. */
static uint64_t text_number(const Text *t, uint32_t site, size_t offset)
{
  const char *row = (const char *)&t->prof->row[site];
  return offset == TEXT_NONE ? 0 : *(const uint64_t *)(row + offset);
}

/* Collect and sort the rows of a section that are not 0 at this offset. Unknown
** numbers count as 0.
*/
static size_t text_sort(Text *t, size_t number)
{
  size_t n = 0;
  uint32_t i;
  for (i = 0; i < t->nsite; i++) {
    uint64_t v = text_number(t, i, number);
    if (i == LP_SITE_BEFORE && number == offsetof(LpRow, live) &&
        t->prof->nobefore)
      continue;
    if (v && (int64_t)v > 0 && lp_shape_site(t->opt->shape, i))
      t->row[n++] = (LpTextRow){i, v};
  }
  lp_text_sort(t->row, n, t->label);
  return n;
}

/* The sum of a number in the rows from FROM on. */
static uint64_t text_rest(const Text *t, size_t from, size_t n, size_t number)
{
  uint64_t sum = 0;
  for (; from < n; from++)
    sum += text_number(t, t->row[from].site, number);
  return sum;
}

/* A section. */
static void text_section(Text *t, const TextSection *s)
{
  size_t i, n = text_sort(t, s->n), top = lp_text_top(t->opt, n);
  int events = s < &text_sections[TEXT_EVENTS];
  lp_screen_bold(&t->out->buf, &t->opt->screen);
  lp_out_puts(t->out, s->title);
  lp_screen_plain(&t->out->buf, &t->opt->screen);
  if (!events)
    lp_text_guess(t->out, t->prof);
  lp_out_puts(t->out, "\n");
  for (i = 0; i < top; i++) {
    uint32_t site = t->row[i].site;
    s->row(t, t->label[site], t->row[i].n, text_number(t, site, s->in),
           text_number(t, site, s->out));
    text_end(t, t->label[site], site);
    if (s->override)
      text_overrides(t, s->key | LP_OVERRIDE_KEY(site, 0));
  }
  if (top < n) {
    LpBuf b = {0};
    lp_buf_printf(&b, "(%zu others)", n - top);
    s->row(t, b.s, text_rest(t, top, n, s->n), text_rest(t, top, n, s->in),
           text_rest(t, top, n, s->out));
    text_end(t, b.s, LP_NONE);
    lp_buf_free(&b);
  }
  if (events && (!n || !s->override || top < n))
    lp_out_puts(t->out, "\n");
}

/* What of it is outside of the VM's count, and by whom. */
static void text_foreign(Text *t)
{
  LpForeign *list = lp_foreign_sites(t->prof, t->opt->shape);
  LpBuf b = {0};
  size_t i, n = 0, top;
  uint32_t site;
  lp_foreign_text(&b, t->prof);
  if (b.n)
    lp_out_printf(t->out, "\nOUTSIDE OF THE VM'S COUNT\n%s\n", b.s);
  lp_buf_free(&b);
  for (site = 0; site < t->nsite; site++)
    if (list[site].arrived)
      t->row[n++] = (LpTextRow){site, list[site].live};
  lp_text_sort(t->row, n, t->label);
  top = lp_text_top(t->opt, n);
  for (i = 0; i < top; i++) {
    const LpForeign *f = &list[t->row[i].site];
    text_holds(t, t->label[t->row[i].site], f->live, f->arrived, f->left);
    text_end(t, t->label[t->row[i].site], t->row[i].site);
  }
  if (top < n)
    lp_out_printf(t->out, "(%zu others)\n", n - top);
  free(list);
}

/* A line on the sites left out, if any, and an empty one. */
static void text_left(Text *t)
{
  LpBuf b = {0};
  lp_report_left(&b, t->opt, LP_TAKES_STACKS, LP_METRIC_BYTES);
  if (b.n)
    lp_out_printf(t->out, "Sites%s\n\n", b.s);
  lp_buf_free(&b);
}

/* The whole report. */
static void text_write(LpOut *out, const LpSubject *subject,
                       const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  Text t = {.out = out, .prof = prof, .opt = opt};
  int i;
  text_prepare(&t);
  lp_text_samples(out, prof);
  text_left(&t);
  lp_report_snaps(out, prof, opt);
  for (i = opt->leakonly ? TEXT_EVENTS : 0; i <= TEXT_EVENTS; i++)
    text_section(&t, &text_sections[i]);
  text_foreign(&t);
  text_free(&t);
}

const LpReport lp_report_sites = {
    .format = "text",
    .view = "sites",
    .of = LP_OF_MEMORY,
    .takes = LP_TAKES_HUMAN | LP_TAKES_LEAKONLY | LP_TAKES_STACKS |
             LP_TAKES_TOP | LP_TAKES_SNAP,
    .write = text_write,
};

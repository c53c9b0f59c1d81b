/*
** A summary as text: sentences, the lines of code that matter, what to do next.
*/

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "summary_report.h"
#include "text.h"

#define TEXT_NAME 24 /* Columns that a name always has. */

/* -- Lines of code -------------------------------------------------------- */

/* A path, or if it is longer than the columns that OTHER ones leave, its last
** parts, as many as fit: "luacheck/parser.lua".
*/
static const char *name_file(const char *file, size_t other, size_t width)
{
  size_t room = width > other ? width - other : 0;
  const char *slash;
  while (strlen(file) > room && (slash = strchr(file, '/')) && slash[1])
    file = slash + 1;
  return file;
}

void lp_summary_name(LpBuf *b, const LpProfile *prof, uint32_t site,
                     size_t width)
{
  const LpRow *r = &prof->row[site];
  const LpFuncInfo *fi = &prof->func[r->func];
  LpBuf name = {0}, chunk = {0};
  const char *file;
  if (site == LP_SITE_INTERNAL) {
    lp_buf_middle(b, "the VM itself (INTERNAL)", width);
    return;
  }
  if (fi->kind != LP_FUNC_LUA || lp_label_builtin(fi) ||
      !lp_label_hasline(prof, site)) {
    lp_label_whole(&name, prof, site);
  } else {
    lp_label_name(&name, prof, site);
    lp_printable_chunk(&chunk, lp_profile_name(prof, fi->chunk));
    file = chunk.n ? chunk.s : "?";
    lp_buf_puts(&name, name.n ? ", " : "");
    lp_buf_puts(&name, name_file(file + (file[0] == '@'), name.n + 8, width));
    lp_buf_printf(&name, ":%s%" PRIu64, r->marks & LJM_SITE_APPROX ? "~" : "",
                  r->line);
  }
  lp_buf_middle(b, name.n ? name.s : "?", width);
  lp_buf_free(&name);
  lp_buf_free(&chunk);
}

/* Bytes of a line: "12.0% of bytes, 1.2MiB (12.0KiB live)". */
static void row_memory(LpBuf *b, const LpSummary *s, const LpSummaryLine *l)
{
  const uint64_t *n = l->n[LP_NOW];
  lp_buf_printf(b, "%5.1f%% of bytes, ",
                100 * lp_summary_share(s, l, LP_SUMMARY_BYTES));
  lp_text_size(b, n[LP_SUMMARY_BYTES], 1);
  if (s->prof->of == LP_OF_MEMORY && n[LP_SUMMARY_LIVE]) {
    lp_buf_puts(b, " (");
    lp_text_size(b, n[LP_SUMMARY_LIVE], 1);
    lp_buf_puts(b, " live)");
  }
}

/* The figures of a line, now. Where both are recorded, it may have one only. */
static void row_now(LpBuf *b, const LpSummary *s, const LpSummaryLine *l)
{
  int joint = lp_profile_joint(s->prof);
  int cpu =
      joint ? l->n[LP_NOW][LP_SUMMARY_SAMPLES] > 0 : s->prof->of == LP_OF_CPU;
  int memory = joint ? l->n[LP_NOW][LP_SUMMARY_BYTES] > 0 : !cpu;
  if (cpu)
    lp_buf_printf(b, "%5.1f%% of CPU time",
                  100 * lp_summary_share(s, l, LP_SUMMARY_SAMPLES));
  if (cpu && !joint)
    lp_buf_printf(b, ", %5.1f%% with callees",
                  100 * lp_summary_share(s, l, LP_SUMMARY_TOTAL));
  lp_buf_puts(b, cpu && memory ? ", " : "");
  if (memory)
    row_memory(b, s, l);
}

/* A change, with its sign. */
static void row_size(LpBuf *b, uint64_t n, const char *what)
{
  lp_buf_puts(b, (int64_t)n < 0 ? "" : "+");
  lp_text_size(b, n, 1);
  lp_buf_puts(b, what);
}

/* A part of all samples, in percent. */
static double row_part(const LpSummary *s, const LpSummaryLine *l, LpSide side)
{
  return lp_text_percent(l->n[side][LP_SUMMARY_SAMPLES],
                         s->all.n[side][LP_SUMMARY_TOTAL]);
}

/* How the figures of a line changed, those that did. */
static void row_changed(LpBuf *b, const LpSummary *s, const LpSummaryLine *l)
{
  double now = row_part(s, l, LP_NOW), base = row_part(s, l, LP_BASE);
  uint64_t live = lp_summary_change(l, LP_SUMMARY_LIVE);
  uint64_t bytes = lp_summary_change(l, LP_SUMMARY_BYTES);
  size_t from = b->n;
  if (fabs(now - base) >= 0.05)
    lp_buf_printf(b, "%+.1f points of CPU time", now - base);
  if (s->prof->of == LP_OF_CPU)
    lp_buf_printf(b, " (%.1f%%, was %.1f%%)", now, base);
  if (live) {
    lp_buf_puts(b, b->n > from ? ", " : "");
    row_size(b, live, " live");
  }
  if (bytes) {
    lp_buf_puts(b, b->n > from ? ", " : "");
    row_size(b, bytes, " allocated");
  }
}

/* The columns that are left behind a text. */
static size_t text_room(const LpBuf *b)
{
  return b->n + TEXT_NAME < LP_SUMMARY_COLUMNS ? LP_SUMMARY_COLUMNS - 1 - b->n
                                               : TEXT_NAME;
}

/* The lines with most, one a line. */
static void text_rows(LpOut *out, const LpSummary *s, const LpSummaryLine *row,
                      size_t n)
{
  size_t i;
  for (i = 0; i < n; i++) {
    LpBuf b = {0};
    lp_buf_puts(&b, "  ");
    (s->prof->baseline.present ? row_changed : row_now)(&b, s, &row[i]);
    lp_buf_puts(&b, ": ");
    lp_summary_name(&b, s->prof, row[i].site, text_room(&b));
    lp_out_printf(out, "%s\n", b.s);
    lp_buf_free(&b);
  }
}

/* -- What grows, what the collector costs ---------------------------------- */

/* How leaked bytes came. */
static const char *const text_growth[] = {
    [LP_GROWTH_UNKNOWN] = NULL,
    [LP_GROWTH_STEADY] = "it grows steadily",
    [LP_GROWTH_START] = "most came in the first quarter",
    [LP_GROWTH_OTHER] = NULL,
};

/* The function that leaks most, and its line. */
static void text_leak(LpClauses *c, const LpSummary *s)
{
  LpSummaryLeak leak = lp_summary_leak(s);
  uint64_t all = lp_summary_leaked(s, &s->all);
  LpBuf b = {0};
  if (leak.site == LP_NONE)
    return;
  if (lp_summary_tight(s)) {
    lp_text_size(&b, all, 1);
    lp_clause(c, "", "Hardly anything leaks: %s", b.s);
  } else {
    lp_buf_printf(&b, "%.1f%% of leaked bytes (",
                  lp_text_percent(leak.bytes, all));
    lp_text_size(&b, leak.bytes, 1);
    lp_buf_puts(&b, "): ");
    lp_summary_name(&b, s->prof, leak.site, text_room(&b));
    lp_clause(c, "", "%s", b.s);
    if (leak.lines > 1)
      lp_clause(c, " ", "and %" PRIu32 " other line%s", leak.lines - 1,
                leak.lines == 2 ? "" : "s");
    if (text_growth[leak.growth])
      lp_clause(c, "; ", "%s", text_growth[leak.growth]);
  }
  lp_clause_end(c);
  lp_buf_free(&b);
}

/* How much all of a figure changed: "+1.2MiB allocated (+12.0%)". */
static void text_change(LpClauses *c, const LpSummary *s, LpSummaryFigure f,
                        const char *what)
{
  uint64_t change = lp_summary_change(&s->all, f), base = s->all.n[LP_BASE][f];
  LpBuf b = {0};
  lp_buf_puts(&b, c->width ? "" : "In all ");
  row_size(&b, change, what);
  if ((int64_t)base > 0)
    lp_buf_printf(&b, " (%+.1f%%)",
                  100 * (double)(int64_t)change / (double)base);
  lp_clause(c, ", ", "%s", b.s);
  lp_buf_free(&b);
}

/* A diff: all that changed. */
static void text_changes(LpClauses *c, const LpSummary *s, size_t rows)
{
  if (s->prof->of & LP_OF_MEMORY) {
    text_change(c, s, LP_SUMMARY_BYTES, " allocated");
    text_change(c, s, LP_SUMMARY_LIVE, " live");
  }
  if (!rows)
    lp_clause(c, "; ", "No line changed");
  lp_clause_end(c);
  lp_summary_moved(c, s->prof);
}

#define TEXT_PART  0.01 /* Smaller parts are not stated, */
#define TEXT_JOINT 2    /* nor more than these beside memory. */

/* What a part of CPU time is. */
static const char *const text_part[LP_NMETRIC] = {
    [LP_METRIC_INTERPRETED] = "interpreted",
    [LP_METRIC_COMPILED] = "compiled",
    [LP_METRIC_C] = "C functions",
    [LP_METRIC_ALLOC_GC] = "allocation and collection",
    [LP_METRIC_JIT] = "JIT compiler",
    [LP_METRIC_KERNEL] = "kernel",
    [LP_METRIC_UNNAMED] = "the VM, at what is not known",
};

/* The largest part that has less than PART, or as much and comes behind it;
** or 0. Without a part yet, the largest one.
*/
static unsigned text_nextpart(const uint64_t *n, unsigned part)
{
  unsigned i, next = 0;
  for (i = LP_METRIC_INTERPRETED; i < LP_NMETRIC; i++)
    if ((!part || n[i] < n[part] || (n[i] == n[part] && i > part)) &&
        (!next || n[i] > n[next]))
      next = i;
  return next;
}

/* What CPU time was spent at, largest part first, and what is in no Lua
** function.
*/
static void text_parts(LpClauses *c, const LpSummary *s)
{
  uint64_t all = s->all.n[LP_NOW][LP_SUMMARY_TOTAL];
  unsigned left = lp_profile_joint(s->prof) ? TEXT_JOINT : LP_NMETRIC, i;
  for (i = text_nextpart(s->part, 0);
       i && left-- && (double)s->part[i] >= TEXT_PART * (double)all && all;
       i = text_nextpart(s->part, i))
    lp_clause(c, ", ", "%s%.1f%% %s", c->width ? "" : "CPU time is ",
              lp_text_percent(s->part[i], all), text_part[i]);
  if (s->outside)
    lp_clause(c, "; ", "%.1f%% is in no Lua function",
              lp_text_percent(s->outside, all));
  lp_clause_end(c);
}

/* -- What to do next ------------------------------------------------------ */

/* SITE: the line of code that is looked at. Of memory and CPU there is much to
** say already.
*/
static void text_next(LpClauses *c, const LpSummary *s, uint32_t site)
{
  unsigned advice = lp_advice(s);
  LpAdvice a;
  for (a = 0; a < LP_NADVICE; a++) {
    LpBuf b = {0};
    if (lp_profile_joint(s->prof) && c->width)
      break;
    if (advice & 1u << a)
      lp_advice_text(&b, s->prof, a, site);
    if (b.n)
      lp_clause(c, "; ", "%s%s", c->width ? "" : "Next: ", b.s);
    lp_buf_free(&b);
  }
  if (c->width) { /* What is to be copied must not end in a full stop. */
    lp_buf_puts(&c->b, "\n");
    c->lines++;
    c->width = 0;
  }
}

/* -- All of it ------------------------------------------------------------ */

/* What follows the N rows, in about MOST lines. */
static void text_tail(LpClauses *c, const LpSummary *s,
                      const LpSummaryLine *row, size_t n, size_t most)
{
  uint32_t site = n ? row[0].site : LP_NONE;
  if (s->prof->baseline.present)
    text_changes(c, s, n);
  else if (s->prof->of & LP_OF_MEMORY)
    text_leak(c, s);
  if (s->prof->of & LP_OF_CPU)
    text_parts(c, s);
  if (lp_advice(s) & 1u << LP_ADVICE_LEAKS)
    site = lp_summary_leak(s).site;
  if (c->lines < most)
    text_next(c, s, site);
}

/* Lines that are left of N. */
static size_t text_less(size_t n, size_t lines)
{
  return n < lines ? 0 : n - lines;
}

void lp_summary_text(LpOut *out, const LpProfile *prof,
                     const LpReportOptions *opt)
{
  LpClauses head = {.lines = 0}, tail = {.lines = 0};
  LpSummaryLine row[LP_SUMMARY_ROWS];
  LpSummary s;
  size_t n, room, least = lp_profile_joint(prof) ? 2 : 1;
  lp_summary_open(&s, prof, opt->shape);
  n = lp_summary_rows(&s, row, LP_SUMMARY_ROWS);
  lp_summary_recorded(&head, &s);
  lp_summary_sure(&head, &s, opt);
  room = text_less(LP_SUMMARY_LINES, head.lines);
  text_tail(&tail, &s, row, n, text_less(room, least));
  room = text_less(room, tail.lines);
  room = room < least ? least : room;
  n = lp_summary_rows(&s, row, room < LP_SUMMARY_ROWS ? room : LP_SUMMARY_ROWS);
  lp_out_puts(out, head.b.s);
  text_rows(out, &s, row, n);
  lp_out_printf(out, "%s\n", tail.b.n ? tail.b.s : "");
  lp_buf_free(&head.b);
  lp_buf_free(&tail.b);
  lp_summary_close(&s);
}

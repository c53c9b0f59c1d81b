/*
** A ladder of heap dumps as text: what grew at each step, what grew and
** stopped, what came and went.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "growth.h"
#include "heap/heap_suspects.h"
#include "text.h"

#define GROWTH_LINES 5  /* Of each verdict. */
#define GROWTH_LEAST 5  /* Percent of the change that is worth a line. */
#define GROWTH_ROWS  10 /* Of each table. */

/* -- Lines ----------------------------------------------------------------- */

/* What a row has to do with a verdict: the bytes that it grew, shrank by, or
** had for a while.
*/
static uint64_t line_bytes(const LpLadder *l, uint32_t row)
{
  const uint64_t *bytes = lp_growths_bytes(&l->paths, row);
  int64_t growth = lp_growths_change(&l->paths, row);
  uint64_t most = 0;
  size_t i;
  if (l->paths.row[row].verdict != LP_WENT)
    return (uint64_t)(growth < 0 ? -growth : growth);
  for (i = 0; i < l->n; i++)
    if (bytes[i] != LP_LADDER_UNKNOWN && bytes[i] > most)
      most = bytes[i];
  return most - bytes[0];
}

#define GROWTH_ENTRIES 4 /* So many of a table are told as that. */

/* What is worth a line. */
typedef struct Lines {
  const LpLadder *l;
  uint64_t least;    /* Bytes of a line. */
  uint64_t *below;   /* By row: what rows below it account for, */
  uint32_t *entries; /* and how many entries of it are worth a line. */
  char *done;        /* Rows that have one. */
} Lines;

/* Do two verdicts mean the same, at one step or more? */
static int lines_alike(LpVerdict a, LpVerdict b)
{
  return a == b || (a <= LP_STOPPED && b <= LP_STOPPED);
}

/* Is a row an entry of the table above it, or one of the objects that are kept
** together above it, and has changed as that has? Fields with a name are there
** for different things.
*/
static int lines_isentry(const LpLadder *l, uint32_t row)
{
  const LpGrowth *g = &l->paths.row[row];
  size_t n, m;
  const char *name, *above;
  if (g->above == LP_NONE ||
      !lines_alike(l->paths.row[g->above].verdict, g->verdict))
    return 0;
  if (l->paths.row[g->above].together != LP_NONE)
    return 1;
  above = lp_intern_get(&l->paths.names, g->above, &m);
  name = lp_intern_get(&l->paths.names, row, &n);
  return n > m && memcmp(name, above, m) == 0 && name[m] == '[';
}

/* Is a row told with the other entries of the table above it? */
static int lines_istold(const Lines *lines, uint32_t row)
{
  return lines_isentry(lines->l, row) &&
         lines->entries[lines->l->paths.row[row].above] >= GROWTH_ENTRIES;
}

/* Finds what rows below each one account for that are worth a line: of those
** below each other, the nearest one.
*/
static void lines_open(Lines *lines, const LpLadder *l, uint64_t least)
{
  uint32_t n = l->paths.names.n, row;
  *lines = (Lines){.l = l,
                   .least = least,
                   .below = lp_zalloc(n + 1, sizeof(uint64_t)),
                   .entries = lp_zalloc(n + 1, sizeof(uint32_t)),
                   .done = lp_zalloc(n + 1, 1)};
  for (row = 0; row < n; row++)
    if (line_bytes(l, row) >= least && lines_isentry(l, row))
      lines->entries[l->paths.row[row].above]++;
  for (row = 0; row < n; row++) {
    const LpGrowth *g = &l->paths.row[row];
    uint64_t bytes = line_bytes(l, row);
    if (g->above != LP_NONE && !g->again && bytes >= least &&
        !lines_istold(lines, row) &&
        lines_alike(l->paths.row[g->above].verdict, g->verdict))
      lines->below[g->above] += bytes;
  }
}

/* Free the memory. */
static void lines_close(Lines *lines)
{
  free(lines->below);
  free(lines->entries);
  free(lines->done);
}

/* The row of a verdict with most bytes that is not that of rows below it; or
** LP_NONE.
*/
static uint32_t lines_next(const Lines *lines, LpVerdict verdict)
{
  const LpLadder *l = lines->l;
  uint32_t row, best = LP_NONE;
  for (row = 0; row < l->paths.names.n; row++) {
    uint64_t bytes;
    if (lines->done[row] || l->paths.row[row].verdict != verdict ||
        l->paths.row[row].again || lines_istold(lines, row))
      continue;
    bytes = line_bytes(l, row);
    if (bytes < lines->least || lines->below[row] > bytes / 10 * 8)
      continue;
    if (best == LP_NONE || bytes > line_bytes(l, best))
      best = row;
  }
  return best;
}

/* Append bytes a dump, and a second if times are known. */
static void line_rate(LpBuf *b, const LpLadder *l, uint64_t bytes)
{
  uint64_t ns = lp_ladder_time(l), second = 0;
  size_t steps = l->n > 1 ? l->n - 1 : 1;
  if (ns)
    second = (uint64_t)((double)bytes / (double)ns * 1e9);
  lp_text_size(b, bytes / steps, 1);
  lp_buf_puts(b, " a dump");
  if (!second)
    return;
  lp_buf_puts(b, ", ");
  lp_text_size(b, second, 1);
  lp_buf_puts(b, " a second");
}

/* Append the name of a row. */
static void line_name(LpBuf *b, const LpLadder *l, uint32_t row)
{
  size_t n;
  const char *s = lp_intern_get(&l->paths.names, row, &n);
  lp_buf_add(b, s, n);
}

/* Append the object of a row, what it is, and what holds it together. */
static void line_object(LpBuf *b, const LpLadder *l, uint32_t row)
{
  const LpGrowth *g = &l->paths.row[row];
  line_name(b, l, row);
  if (g->what != LP_NONE) {
    size_t n;
    const char *s = lp_intern_get(&l->whats, g->what, &n);
    lp_buf_puts(b, g->together == LP_NONE ? ", a " : ", mostly ");
    lp_buf_add(b, s, n);
  }
  if (g->above != LP_NONE && l->paths.row[g->above].together != LP_NONE) {
    lp_buf_puts(b, ", held by ");
    line_name(b, l, g->above);
  }
}

/* Append what a row has in a dump. */
static void line_cell(LpBuf *b, uint64_t bytes)
{
  if (bytes == LP_LADDER_UNKNOWN)
    lp_buf_puts(b, "?");
  else
    lp_text_size(b, bytes, 1);
}

/* Append which line made most of it, if that is known. */
static void line_maker(LpBuf *b, const LpLadder *l, uint32_t row)
{
  unsigned percent;
  uint32_t line = lp_ladder_maker(l, row, &percent);
  size_t n;
  const char *s;
  if (line == LP_NONE)
    return;
  s = lp_intern_get(&l->makers.lines.names, line, &n);
  lp_buf_printf(b, ", %u%% made at ", percent);
  lp_buf_add(b, s, n);
}

/* Append what a row has in all of N dumps, or if there are too many, in the
** first and the last one.
*/
static void line_cells(LpBuf *b, const uint64_t *bytes, size_t n)
{
  size_t i;
  for (i = 0; i < n && n <= LP_LADDER_SHOWN; i++) {
    lp_buf_puts(b, i ? ", " : "");
    line_cell(b, bytes[i]);
  }
  if (n > LP_LADDER_SHOWN) {
    lp_buf_puts(b, "from ");
    line_cell(b, bytes[0]);
    lp_buf_puts(b, " to ");
    line_cell(b, bytes[n - 1]);
  }
}

/* Append one line, without its end. */
static void line_add(LpBuf *b, const LpLadder *l, uint32_t row)
{
  LpVerdict verdict = l->paths.row[row].verdict;
  line_object(b, l, row);
  lp_buf_puts(b, ": ");
  line_cells(b, lp_growths_bytes(&l->paths, row), l->n);
  if (verdict == LP_GREW || verdict == LP_ROSE) {
    lp_buf_puts(b, "; ");
    line_rate(b, l, line_bytes(l, row));
  }
  if (verdict == LP_GREW || verdict == LP_ROSE || verdict == LP_STOPPED)
    line_maker(b, l, row);
}

/* Tell the rows of a verdict, if there are any. */
static void lines_tell(Lines *lines, LpVerdict verdict, const char *title,
                       LpGrowthTell tell, void *ctx)
{
  uint32_t row;
  unsigned n = 0;
  while (n < GROWTH_LINES && (row = lines_next(lines, verdict)) != LP_NONE) {
    LpBuf b = {0};
    line_add(&b, lines->l, row);
    tell(ctx,
         &(LpGrowthLine){title, row, line_bytes(lines->l, row), b.s, !n++});
    lp_buf_free(&b);
    lines->done[row] = 1;
  }
}

void lp_growth_lines(const LpLadder *l, LpGrowthTell tell, void *ctx)
{
  static const struct {
    LpVerdict verdict;
    const char *title;
  } list[] = {{LP_GREW, "Grew at each step"},
              {LP_ROSE, "Grew between the first and the last"},
              {LP_STOPPED, "Grew, but not in the last two steps"},
              {LP_WENT, "Came and went"},
              {LP_SHRANK, "Shrank"}};
  uint64_t first = l->rung[0].reached, last = l->rung[l->n - 1].reached;
  uint64_t least = (last > first ? last - first : first) / 100 * GROWTH_LEAST;
  Lines lines;
  size_t i;
  if (!l->keeps)
    return;
  lines_open(&lines, l, least + 1);
  for (i = 0; i < sizeof(list) / sizeof(list[0]); i++)
    lines_tell(&lines, list[i].verdict, list[i].title, tell, ctx);
  lines_close(&lines);
}

/* -- Sentences ------------------------------------------------------------- */

void lp_growth_head(LpBuf *b, const LpLadder *l)
{
  uint64_t first = l->rung[0].reached, last = l->rung[l->n - 1].reached;
  size_t i;
  lp_buf_puts(b, "In use: ");
  for (i = 0; i < l->n; i++) {
    if (i && i + LP_LADDER_SHOWN <= l->n) {
      lp_buf_puts(b, i == 1 ? ", ..." : "");
      continue;
    }
    lp_buf_puts(b, i ? ", " : "");
    lp_text_size(b, l->rung[i].reached, 1);
  }
  if (last > first && l->keeps) {
    lp_buf_puts(b, "; ");
    line_rate(b, l, last - first);
  }
}

/* Append the part of the VM that has grown by most between the first and the
** last dump, if that is much of all that has.
*/
static void sentence_part(LpBuf *b, const LpLadder *l)
{
  uint64_t first = l->rung[0].total, last = l->rung[l->n - 1].total;
  int64_t most = 0;
  uint32_t row, best = 0;
  const char *name;
  size_t n;
  if (!first || !last)
    return;
  for (row = 0; row < l->parts.names.n; row++)
    if (lp_growths_change(&l->parts, row) > most) {
      most = lp_growths_change(&l->parts, row);
      best = row;
    }
  if (!lp_heap_part_islarge((uint64_t)most, last > first ? last - first : 0))
    return;
  name = lp_intern_get(&l->parts.names, best, &n);
  lp_buf_printf(b, "  Memory of the VM itself, \"%.*s\", has grown: ", (int)n,
                name);
  line_cells(b, lp_growths_bytes(&l->parts, best), l->n);
  lp_heap_part_hint(b, name, n);
  lp_buf_puts(b, "\n");
}

/* Append a line, the first of a verdict below its title. */
static void sentence_line(void *ctx, const LpGrowthLine *line)
{
  LpBuf *b = ctx;
  if (line->first)
    lp_buf_printf(b, "  %s:\n", line->title);
  lp_buf_printf(b, "    %s\n", line->text);
}

void lp_growth_sentences(LpBuf *b, const LpLadder *l)
{
  uint64_t ns = lp_ladder_time(l);
  size_t before;
  lp_buf_printf(b, "GROWTH, %zu heap dumps", l->n);
  if (ns)
    lp_buf_printf(b, " in %.1f s", (double)ns / 1e9);
  lp_buf_puts(b, "\n  ");
  lp_growth_head(b, l);
  lp_buf_puts(b, "\n");
  before = b->n;
  lp_growth_lines(l, sentence_line, b);
  if (!l->keeps)
    lp_buf_puts(b, "  A dump is not whole: what objects keep in it is not "
                   "known\n");
  else if (b->n == before)
    lp_buf_printf(b,
                  "  No object whose path can be compared keeps more than "
                  "%d%% of the change\n",
                  GROWTH_LEAST);
  sentence_part(b, l);
  lp_buf_puts(b, "\n");
}

/* The first rows of a view, below a title, if there are any. */
static void growth_rows(LpOut *out, const LpSubject *subject,
                        const LpReportOptions *opt, const LpReport *r,
                        const char *title)
{
  LpReportOptions o = *opt;
  LpTable t = {.name = r->view};
  if (!o.top)
    o.top = GROWTH_ROWS;
  r->table(&t, subject, &o);
  lp_table_top(&t, o.top);
  if (t.n) {
    lp_out_printf(out, "%s\n", title);
    lp_table_text(out, &t, &o);
  }
  lp_table_close(&t);
}

/* Sentences, then the first rows of all views. */
static void growth_write(LpOut *out, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  lp_growth_sentences(&out->buf, subject->ladder);
  growth_rows(out, subject, opt, &lp_report_growth_paths,
              "OBJECTS THAT CHANGED MOST");
  growth_rows(out, subject, opt, &lp_report_growth_shared, "\nKEPT TOGETHER");
  growth_rows(out, subject, opt, &lp_report_growth_shapes, "\nSHAPES");
  growth_rows(out, subject, opt, &lp_report_growth_makers,
              subject->ladder->makers.sample
                  ? "\nLINES THAT MADE IT, estimated from samples"
                  : "\nLINES THAT MADE IT");
}

const LpReport lp_report_growth = {.format = "text",
                                   .view = "summary",
                                   .of = LP_OF_LADDER,
                                   .takes = LP_TAKES_TOP | LP_TAKES_MIN |
                                            LP_TAKES_HUMAN,
                                   .write = growth_write};

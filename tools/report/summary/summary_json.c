/*
** A summary as data, in the document of --format=json.
*/

#include <stdint.h>
#include <string.h>

#include "frame.h"
#include "summary_report.h"

/* A number, or null if it is 0: unknown. */
static void json_known(LpJson *j, const char *key, uint64_t n)
{
  if (n)
    lp_json_keynumber(j, key, n);
  else
    lp_json_keytext(j, key, NULL);
}

/* What was recorded of one kind, null if nothing was. */
static void json_source(LpJson *j, const char *key, const LpSummarySource *s,
                        int is)
{
  if (!is) {
    lp_json_keytext(j, key, NULL);
    return;
  }
  lp_json_object(j, key);
  lp_json_keynumber(j, "recordings", s->profiles);
  lp_json_keynumber(j, "processes", s->processes);
  json_known(j, "pid", s->processes == 1 ? s->pid : 0);
  lp_json_key(j, "command");
  if (s->processes == 1 && s->command.n)
    lp_json_string(j, s->command);
  else
    lp_json_null(j);
  json_known(j, "ns", s->ns);
  lp_json_end(j);
}

/* What was recorded, and how sure that is. */
static void json_recorded(LpJson *j, const LpSummary *s)
{
  unsigned of = s->prof->of;
  const LpFiles *f = &s->prof->files;
  lp_json_object(j, "recorded");
  json_known(j, "realtime_ns", s->prof->realtime);
  lp_json_key(j, "host");
  if (f->host.n)
    lp_json_string(j, (LpStr){f->host.s, f->host.n});
  else
    lp_json_null(j);
  json_source(j, "memory", &s->memory, (of & LP_OF_MEMORY) != 0);
  json_source(j, "cpu", &s->cpu, (of & LP_OF_CPU) != 0);
  lp_json_keynumber(j, "events", s->events);
  lp_json_keynumber(j, "freed", s->freed);
  lp_json_keynumber(j, "files", s->harm.files);
  lp_json_keynumber(j, "files_cut", s->harm.cut);
  lp_json_keynumber(j, "files_gaps", s->harm.gaps);
  lp_json_keynumber(j, "files_odd", s->harm.odd);
  lp_json_keynumber(j, "files_unread", s->harm.unread);
  lp_json_keynumber(j, "approximate_bytes", s->approx);
  lp_json_keynumber(j, "unsure_samples", s->unsure);
  lp_json_keynumber(j, "approximate_samples", s->inexact);
  lp_json_keynumber(j, "no_lua", s->outside);
  lp_json_end(j);
}

/* The name of a line. */
static void json_name(LpJson *j, const LpProfile *prof, uint32_t site)
{
  LpBuf b = {0};
  uint64_t line;
  lp_summary_name(&b, prof, site, SIZE_MAX);
  lp_json_keytext(j, "name", b.s);
  b.n = 0;
  lp_frame_file(&b, prof, site);
  lp_json_key(j, "file");
  lp_json_string(j, (LpStr){b.s, b.n});
  lp_json_key(j, "line");
  if (lp_frame_line(prof, site, &line))
    lp_json_number(j, line);
  else
    lp_json_null(j);
  lp_buf_free(&b);
}

/* The figures of a line on one side of a diff. */
static void json_figures(LpJson *j, const LpSummary *s, const LpSummaryLine *l,
                         LpSide side)
{
  static const char *const key[LP_NSUMMARY] = {
      [LP_SUMMARY_BYTES] = "bytes",
      [LP_SUMMARY_LIVE] = "live",
      [LP_SUMMARY_SAMPLES] = "samples",
      [LP_SUMMARY_TOTAL] = "samples_total",
      [LP_SUMMARY_ALLOC_GC] = "alloc_gc"};
  LpSummaryFigure f;
  lp_json_object(j, side == LP_NOW ? "now" : "base");
  for (f = 0; f < LP_NSUMMARY; f++)
    if (s->prof->of & (f < LP_SUMMARY_SAMPLES ? LP_OF_MEMORY : LP_OF_CPU))
      lp_json_keynumber(j, key[f], l->n[side][f]);
  lp_json_end(j);
}

/* A line of code, or with KEY the sum of all. */
static void json_line(LpJson *j, const char *key, const LpSummary *s,
                      const LpSummaryLine *l)
{
  lp_json_object(j, key);
  if (l->site != LP_NONE)
    json_name(j, s->prof, l->site);
  json_figures(j, s, l, LP_NOW);
  if (s->prof->baseline.present)
    json_figures(j, s, l, LP_BASE);
  lp_json_end(j);
}

/* The function that leaks most, and its line with most; or null. */
static void json_leak(LpJson *j, const LpSummary *s)
{
  static const char *const growth[] = {[LP_GROWTH_UNKNOWN] = NULL,
                                       [LP_GROWTH_STEADY] = "steady",
                                       [LP_GROWTH_START] = "start",
                                       [LP_GROWTH_OTHER] = "other"};
  LpSummaryLeak leak = lp_summary_leak(s);
  if (leak.site == LP_NONE || !(s->prof->of & LP_OF_MEMORY)) {
    lp_json_keytext(j, "leak", NULL);
    return;
  }
  lp_json_object(j, "leak");
  json_name(j, s->prof, leak.site);
  lp_json_keynumber(j, "lines", leak.lines);
  lp_json_keynumber(j, "leaked", leak.bytes);
  lp_json_keynumber(j, "leaked_all", lp_summary_leaked(s, &s->all));
  lp_json_keynumber(j, "ignore_youngest", s->aged ? 25 : 0);
  lp_json_keytext(j, "growth", growth[leak.growth]);
  lp_json_end(j);
}

void lp_summary_json(LpJson *j, const LpProfile *prof, const LpShape *shape)
{
  LpSummaryLine row[LP_SUMMARY_ROWS];
  LpSummary s;
  unsigned advice;
  LpAdvice a;
  size_t i, n;
  lp_summary_open(&s, prof, shape);
  json_recorded(j, &s);
  json_line(j, "sums", &s, &s.all);
  lp_json_array(j, "lines");
  n = lp_summary_rows(&s, row, LP_SUMMARY_ROWS);
  for (i = 0; i < n; i++)
    json_line(j, NULL, &s, &row[i]);
  lp_json_end(j);
  json_leak(j, &s);
  lp_json_array(j, "advice");
  advice = lp_advice(&s);
  for (a = 0; a < LP_NADVICE; a++)
    if (advice & 1u << a)
      lp_json_text(j, lp_advice_key(a));
  lp_json_end(j);
  lp_summary_close(&s);
}

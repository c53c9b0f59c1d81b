/*
** Sentences of a summary: what was recorded, how sure it is.
*/

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "summary_report.h"
#include "text.h"

/* -- Clauses -------------------------------------------------------------- */

/* Columns of a text: bytes that continue a character have none. */
static size_t clause_width(const char *s)
{
  size_t n = 0;
  for (; *s; s++)
    n += ((unsigned char)*s & 0xc0) != 0x80;
  return n;
}

void lp_clause(LpClauses *c, const char *separator, const char *fmt, ...)
{
  va_list ap;
  char *s;
  size_t width;
  va_start(ap, fmt);
  if (vasprintf(&s, fmt, ap) < 0)
    abort();
  va_end(ap);
  width = clause_width(s);
  if (c->width) {
    lp_buf_puts(&c->b, separator);
    c->width += strlen(separator);
    if (c->width + width >= LP_SUMMARY_COLUMNS) {
      while (c->b.s[c->b.n - 1] == ' ')
        c->b.n--;
      lp_buf_puts(&c->b, "\n  ");
      c->lines++;
      c->width = 2;
    }
  }
  lp_buf_puts(&c->b, s);
  c->width += width;
  free(s);
}

void lp_clause_end(LpClauses *c)
{
  if (!c->width)
    return;
  lp_buf_puts(&c->b, ".\n");
  c->lines++;
  c->width = 0;
}

/* -- What was recorded ---------------------------------------------------- */

/* What to append to a noun. */
static const char *plural(uint64_t n)
{
  return n == 1 ? "" : "s";
}

/* "Memory: pid 4711 (luajit app.lua)", "CPU: 2 recordings, 3 processes" */
static void facts_source(LpClauses *c, const char *of, const LpSummarySource *s)
{
  LpBuf b = {0};
  lp_buf_printf(&b, "%s: ", of);
  if (s->profiles > 1)
    lp_buf_printf(&b, "%" PRIu64 " recordings, ", s->profiles);
  if (s->processes == 1 && s->pid)
    lp_buf_printf(&b, "pid %" PRIu64, s->pid);
  else if (s->processes)
    lp_buf_printf(&b, "%" PRIu64 " process%s", s->processes,
                  s->processes == 1 ? "" : "es");
  else
    lp_buf_puts(&b, "unknown process");
  if (s->processes == 1 && s->command.n) {
    LpBuf name = {0};
    lp_printable(&name, s->command);
    lp_buf_puts(&b, " (");
    lp_buf_middle(&b, name.s, 30);
    lp_buf_puts(&b, ")");
    lp_buf_free(&name);
  }
  lp_clause(c, "", "%s", b.s);
  lp_buf_free(&b);
}

/* Memory: how much there was. */
static void facts_memory(LpClauses *c, const LpSummary *s)
{
  uint64_t bytes = s->all.n[LP_NOW][LP_SUMMARY_BYTES];
  LpBuf b = {0};
  facts_source(c, "Memory", &s->memory);
  if (s->memory.ns)
    lp_clause(c, ", ", "%s%.2f s", s->memory.profiles > 1 ? "within " : "",
              (double)s->memory.ns / 1e9);
  if (!s->events) {
    lp_clause(c, ", ", "no events");
    lp_clause_end(c);
    return;
  }
  lp_clause(c, ", ", "%s%" PRIu64 " event%s", s->prof->sparse ? "about " : "",
            s->events, plural(s->events));
  lp_text_size(&b, bytes, 1);
  lp_clause(c, ", ", "%s allocated", b.s);
  if (s->freed && s->freed < bytes &&
      (double)s->freed >= 0.9995 * (double)bytes)
    lp_clause(c, ", ", "over 99.9%% freed");
  else if (bytes)
    lp_clause(c, ", ", "%.1f%% freed", lp_text_percent(s->freed, bytes));
  lp_clause_end(c);
  lp_buf_free(&b);
}

/* CPU time: how many samples. */
static void facts_cpu(LpClauses *c, const LpSummary *s)
{
  const LpCpu *cpu = &s->prof->cpu;
  uint64_t n = s->all.n[LP_NOW][LP_SUMMARY_SAMPLES], ns;
  LpBuf b = {0};
  facts_source(c, "CPU", &s->cpu);
  lp_clause(c, ", ", "%" PRIu64 " sample%s", n, plural(n));
  if (cpu->fast && cpu->fast == cpu->slow)
    lp_clause(c, " ", "at %" PRIu64 " Hz", cpu->fast);
  if (lp_cpu_find(cpu, "cpu_ns", &ns))
    lp_buf_printf(&b, "%.2f s of CPU ", (double)ns / 1e9);
  if (s->cpu.ns)
    lp_buf_printf(&b, "in %.2f s ", (double)s->cpu.ns / 1e9);
  if (b.n)
    lp_clause(c, ", ", "%.*s", (int)b.n - 1, b.s);
  lp_buf_free(&b);
  lp_clause_end(c);
}

void lp_summary_recorded(LpClauses *c, const LpSummary *s)
{
  if (s->prof->of & LP_OF_MEMORY)
    facts_memory(c, s);
  if (s->prof->of & LP_OF_CPU)
    facts_cpu(c, s);
}

/* -- How sure it is ------------------------------------------------------- */

/* N of all files. */
static void facts_files(LpClauses *c, const LpSummaryHarm *h, uint32_t n,
                        const char *one, const char *more)
{
  if (n && h->files == 1)
    lp_clause(c, "; ", "It %s", one);
  else if (n)
    lp_clause(c, "; ", "%" PRIu32 " of %" PRIu32 " files %s", n, h->files,
              n == 1 ? one : more);
}

/* Whether anything is missing. */
static void facts_harm(LpClauses *c, const LpSummary *s)
{
  const LpSummaryHarm *h = &s->harm;
  if (s->prof->files.growing)
    lp_clause(c, "; ", "Still being written");
  else if (!h->cut && !h->gaps && !h->odd && !h->unread)
    lp_clause(c, "; ", "Read whole");
  facts_files(c, h, h->cut, "ends early: killed, or still being written",
              "end early: killed, or still being written");
  facts_files(c, h, h->gaps, "has gaps", "have gaps");
  facts_files(c, h, h->odd, "contradicts itself", "contradict themselves");
  if (h->unread)
    lp_clause(c, "; ", "%" PRIu32 " file%s could not be read", h->unread,
              plural(h->unread));
  if (h->lost)
    lp_clause(c, "; ", "%" PRIu64 " %s lost", h->lost,
              h->lost == 1 ? "record is" : "records are");
}

/* Of memory. */
static void facts_sure_memory(LpClauses *c, const LpSummary *s)
{
  const LpProfile *prof = s->prof;
  uint64_t bytes = s->all.n[LP_NOW][LP_SUMMARY_BYTES];
  if (prof->sparse)
    lp_clause(c, "; ", "sampled, 1 of %" PRIu64 " bytes: estimates",
              prof->sparse);
  if (prof->guess.n)
    lp_clause(c, "; ", "live bytes are approximate");
  if (s->approx && bytes)
    lp_clause(c, "; ", "%.1f%% of bytes at approximate lines",
              lp_text_percent(s->approx, bytes));
}

/* Of CPU time. */
static void facts_sure_cpu(LpClauses *c, const LpSummary *s)
{
  const LpCpu *cpu = &s->prof->cpu;
  uint64_t all = cpu->samples, n = lp_cpu_truncated(cpu), fired;
  if (all)
    lp_clause(c, "; ", "%.1f%% of stacks complete",
              lp_text_percent(n < all ? all - n : 0, all));
  if (!lp_cpu_find(cpu, "dropped", &n) || !lp_cpu_find(cpu, "fired", &fired))
    lp_clause(c, "; ", "dropped samples unknown");
  else if (n)
    lp_clause(c, "; ", "%.1f%% of samples dropped", lp_text_percent(n, fired));
  else
    lp_clause(c, "; ", "no sample dropped");
  all = s->all.n[LP_NOW][LP_SUMMARY_SAMPLES];
  if (s->unsure)
    lp_clause(c, "; ", "function of %.1f%% not proven",
              lp_text_percent(s->unsure, all));
  if (s->inexact)
    lp_clause(c, "; ", "line of %.1f%% approximate",
              lp_text_percent(s->inexact, all));
}

/* What the options leave out. */
static void facts_left(LpClauses *c, const LpSummary *s,
                       const LpReportOptions *opt)
{
  const LpWanted *w = &s->prof->wanted;
  LpBuf b = {0};
  if (w->to != UINT64_MAX && w->to)
    lp_clause(c, "; ", "only from %.2f s to %.2f s", (double)w->from / 1e9,
              (double)w->to / 1e9);
  else if (w->from)
    lp_clause(c, "; ", "only from %.2f s on", (double)w->from / 1e9);
  lp_report_left(&b, opt, LP_TAKES_STACKS, LP_METRIC_BYTES);
  if (b.n) /* ", only what matches" */
    lp_clause(c, "; ", "%s", b.s + 2);
  lp_buf_free(&b);
}

void lp_summary_sure(LpClauses *c, const LpSummary *s,
                     const LpReportOptions *opt)
{
  facts_harm(c, s);
  if (s->prof->of & LP_OF_MEMORY)
    facts_sure_memory(c, s);
  if (s->prof->of & LP_OF_CPU)
    facts_sure_cpu(c, s);
  facts_left(c, s, opt);
  lp_clause_end(c);
}

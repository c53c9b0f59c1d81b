/*
** --view=rss: the parts of a process's memory.
*/

#include "heap/heap_columns.h"
#include "heap/heap_report.h"
#include "leb.h"
#include "rss.h"

/* A row. */
typedef struct Row {
  const char *name;
  LpPresence p;
  uint64_t absent;
} Row;

/* Append what part it is. */
static void row_name(LpBuf *b, const void *view, const void *row)
{
  (void)view;
  lp_buf_puts(b, ((const Row *)row)->name);
}

static const LpField row_resident = {
    LP_FIELD_NUMBER("resident", "resident", LP_UNIT_BYTES, Row, p.resident),
    .percent = "resident-percent", .change = "resident-change",
    .changed = "change"};
static const LpField row_absent = {LP_FIELD_NUMBER(
    "not-resident", "not resident", LP_UNIT_BYTES, Row, absent)};
static const LpField row_part = {LP_FIELD_TEXT("name", "memory", row_name)};

/* A row of a part. */
static Row row_of(const char *name, LpPresence p)
{
  return (Row){name, p, p.bytes - p.resident};
}

/* All of a process. */
static LpPresence rss_sum(const LpRss *r)
{
  LpPresence all = {0, 0};
  int i;
  for (i = 0; i < LP_RSS_PARTS; i++) {
    all.bytes = lp_sat_add(all.bytes, r->part[i].bytes);
    all.resident = lp_sat_add(all.resident, r->part[i].resident);
  }
  return all;
}

/* The rows of a dump that tells, and of its base, which is not NULL in a
** comparison.
*/
static void rss_rows(const LpColumns *c, const LpRss *now, const LpRss *base)
{
  static const char *const name[LP_RSS_PARTS] = {
      "Lua: in use",  "Lua: unknown",
      "Lua: garbage", "Lua's allocator: free, and heads of blocks",
      "machine code", "C and others"};
  Row all = row_of("total", rss_sum(now)), before = {.name = NULL};
  int i;
  if (base)
    before = row_of("total", rss_sum(base));
  for (i = 0; i < LP_RSS_PARTS; i++) {
    Row r = row_of(name[i], now->part[i]), was = {.name = NULL};
    if (base)
      was = row_of(name[i], base->part[i]);
    if (i != LP_RSS_UNKNOWN || r.p.bytes || was.p.bytes)
      lp_columns_row(c, &r, &was);
  }
  lp_columns_row(c, &all, &before);
  c->t->foot = 1;
}

static void rss_table(LpTable *t, const LpSubject *subject,
                      const LpReportOptions *opt)
{
  static const LpField *const list[] = {&row_resident, &row_absent, &row_part};
  LpRss now, base;
  int has = subject->heap && lp_rss(subject->heap, &now);
  LpColumns c = {t,
                 list,
                 LP_NFIELDS(list),
                 subject->heap,
                 has ? now.all : 0,
                 opt->base != NULL};
  lp_columns_add(&c);
  if (has && opt->base)
    has = subject->baseheap && lp_rss(subject->baseheap, &base);
  if (has)
    rss_rows(&c, &now, opt->base ? &base : NULL);
  else if (subject->heap)
    lp_buf_puts(&t->note, ": not known, for the dump is not whole, or of an "
                          "earlier version, or the kernel did not tell");
}

const LpReport lp_report_heap_rss = {.view = "rss",
                                     .of = LP_OF_HEAP,
                                     .takes = LP_TAKES_ROWS | LP_TAKES_HUMAN |
                                              LP_TAKES_DIFF,
                                     .table = rss_table};

/*
** The page of heap dumps: its tables.
*/

#include <stdlib.h>

#include "growth/growth.h"
#include "heap/diff/heap_diff.h"
#include "heap/heap_suspects.h"
#include "heap/heap_weak.h"
#include "heap_html.h"
#include "json_parts.h"

#define HTML_ROWS 1000 /* Of a table. */

/* Tables of the page, by their names there. */
static const struct {
  const char *name;
  const LpReport *report;
} html_tables[] = {{"growth", &lp_report_growth_paths},
                   {"together", &lp_report_growth_shared},
                   {"shapes", &lp_report_heap_shapes},
                   {"kinds", &lp_report_growth_shapes},
                   {"retained", &lp_report_heap_retained},
                   {"types", &lp_report_heap_types},
                   {"shared", &lp_report_heap_shared},
                   {"sparse", &lp_report_heap_sparse},
                   {"threads", &lp_report_heap_threads},
                   {"weak", &lp_report_heap_weak},
                   {"keepers", &lp_report_heap_keepers},
                   {"lines", &lp_report_growth_makers},
                   {"rss", &lp_report_heap_rss}};

/* Names from the dump may have any length. */
static void html_cut(LpTable *t)
{
  unsigned col;
  size_t row;
  for (row = 0; row < t->n; row++) {
    for (col = 0; col < t->ncol; col++) {
      LpPlace *p = lp_table_at(t, row, col);
      LpBuf b = {0};
      if (t->col[col].unit != LP_UNIT_TEXT || !p->known)
        continue;
      lp_buf_puts(&b, p->s);
      lp_box_cut(&b, LP_BOX_NAME);
      free(p->s);
      p->s = b.s;
    }
  }
}

/* The objects of a table's rows, in their order. Sets *N; the caller frees the
** array. NULL: rows lead nowhere.
*/
static uint32_t *html_objects(const LpHeap *h, const LpReportOptions *opt,
                              const LpReport *r, size_t *n)
{
  uint32_t *id = NULL;
  size_t i, all = 0;
  *n = 0;
  if (r == &lp_report_heap_retained) {
    id = lp_heap_retained(h, opt, n);
  } else if (r == &lp_report_heap_shared) {
    const LpShared *group[LP_SHARED_MOST];
    *n = lp_heap_shared(group, h, opt);
    id = lp_alloc((*n + 1) * sizeof(*id));
    for (i = 0; i < *n; i++)
      id[i] = group[i]->id[0];
  } else if (r == &lp_report_heap_weak) {
    LpWeakSum *s = lp_weak_tables(h, &all);
    id = lp_alloc((all + 1) * sizeof(*id));
    for (i = 0; i < all; i++)
      if (lp_heap_weak_isshown(h, opt, &s[i]))
        id[(*n)++] = s[i].table;
    free(s);
  }
  return id;
}

/* The boxes of the objects of a table's rows, of which there are N. */
static void html_boxes(LpJson *j, const LpHeapPage *p, const LpReport *r,
                       size_t n)
{
  size_t i, all;
  uint32_t *id = html_objects(p->subject->heap, p->opt, r, &all);
  if (!id)
    return;
  lp_json_array(j, "box");
  for (i = 0; i < n && i < all; i++)
    lp_json_number(j, lp_boxes_find(&p->boxes, LP_NOW, id[i]));
  lp_json_end(j);
  free(id);
}

uint64_t lp_heap_html_box(const LpHeapPage *p, uint32_t now, uint32_t base)
{
  const LpBoxes *b = &p->boxes;
  if (now != LP_NONE && lp_dominators_has(&b->heaps.h[LP_NOW]->dom, now))
    return lp_boxes_find(b, LP_NOW, now);
  if (base != LP_NONE && lp_dominators_has(&b->heaps.h[LP_BASE]->dom, base))
    return lp_boxes_find(b, LP_BASE, base);
  return (uint64_t)-1;
}

/* The boxes of the first N rows of --view=retained of a comparison. */
static void html_changed(LpJson *j, const LpHeapPage *p, size_t n)
{
  const LpSubject *subject = p->subject;
  LpDiffRows rows = lp_diff_paths(subject);
  size_t i, all;
  uint32_t *list = lp_diff_shown(&rows, subject->heap, p->opt, &all);
  lp_json_array(j, "box");
  for (i = 0; i < n && i < all && i < HTML_ROWS; i++) {
    const LpDiffRow *r = &rows.row[list[i]];
    lp_json_number(j, lp_heap_html_box(p, r->of[LP_NOW].id, r->of[LP_BASE].id));
  }
  lp_json_end(j);
  free(list);
  lp_diff_close(&rows);
}

/* The same of a table of a ladder: of what several keep if TOGETHER. */
static void html_grown(LpJson *j, const LpHeapPage *p, size_t n, int together)
{
  const LpLadder *l = p->subject->ladder;
  size_t i, all;
  uint32_t *list = lp_growth_shown(l, &l->paths, p->opt, together, &all);
  lp_json_array(j, "box");
  for (i = 0; i < n && i < all && i < HTML_ROWS; i++) {
    const LpGrowth *g = &l->paths.row[list[i]];
    lp_json_number(j, lp_heap_html_box(p, g->now, g->base));
  }
  lp_json_end(j);
  free(list);
}

/* The boxes of the N rows of a table, if these lead to any. */
static void html_leads(LpJson *j, const LpHeapPage *p, const LpReport *r,
                       size_t n)
{
  if (r == &lp_report_growth_paths || r == &lp_report_growth_shared)
    html_grown(j, p, n, r == &lp_report_growth_shared);
  else if (!p->subject->baseheap)
    html_boxes(j, p, r, n);
  else if (r == &lp_report_heap_retained && n)
    html_changed(j, p, n);
}

/* A view that is a table, cut to what a page can show. */
static void html_table(LpJson *j, const LpHeapPage *p, const char *name,
                       const LpReport *r)
{
  LpTable t = {.name = r->view};
  size_t all;
  r->table(&t, p->subject, p->opt);
  all = t.n;
  lp_table_top(&t, HTML_ROWS);
  html_cut(&t);
  lp_json_object(j, name);
  lp_json_members(j, &t);
  lp_json_keynumber(j, "all", all);
  html_leads(j, p, r, t.n);
  lp_json_end(j);
  lp_table_close(&t);
}

/* Is a table in the page? In a comparison, those of both dumps are. */
static int html_has(const LpSubject *subject, const LpReport *r)
{
  if (subject->ladder)
    return r != &lp_report_heap_retained &&
           ((r->of & LP_OF_LADDER) ||
            (r->of == LP_OF_HEAP && (r->takes & LP_TAKES_DIFF)));
  return (r->of & subject->prof->of) &&
         (!subject->baseheap || (r->takes & LP_TAKES_DIFF));
}

void lp_heap_html_tables(LpJson *j, const LpHeapPage *p)
{
  LpReportOptions opt = *p->opt;
  LpHeapPage page = *p;
  size_t i;
  opt.top = HTML_ROWS;
  if (p->subject->baseheap && !opt.base)
    opt.base = ""; /* The oldest dump of a ladder. */
  page.opt = &opt;
  lp_json_object(j, "tables");
  for (i = 0; i < sizeof(html_tables) / sizeof(html_tables[0]); i++)
    if (html_has(p->subject, html_tables[i].report))
      html_table(j, &page, html_tables[i].name, html_tables[i].report);
  lp_json_end(j);
}

/*
** --format=html of a heap dump, or of two that are compared: the page of
** profiles, with another document.
**
** The dominator tree has the form of a call tree (json_calls.c): who keeps is
** who calls. What was left out of the tree and of tables is said in it.
*/

#include <stdlib.h>

#include "heap/diff/heap_diff.h"
#include "heap/diff/heap_verdict.h"
#include "heap/heap_join.h"
#include "heap/heap_suspects.h"
#include "heap/heap_weak.h"
#include "heap_boxes.h"
#include "html_page.h"
#include "json_parts.h"

#define HTML_ROWS     1000 /* Of a table. */
#define HTML_SENTENCE 500  /* Bytes of JSON. */

/* Tables of the page. */
static const LpReport *const html_tables[] = {
    &lp_report_heap_shapes, &lp_report_heap_retained, &lp_report_heap_types,
    &lp_report_heap_shared, &lp_report_heap_sparse,   &lp_report_heap_threads,
    &lp_report_heap_weak,   &lp_report_heap_keepers,  &lp_report_heap_rss};

/* The dump that the page is of, and the one it is compared with or NULL. */
static const LpHeap *html_heap(const LpBoxes *b, LpSide side)
{
  return b->heaps.h[side];
}

/* -- Summary --------------------------------------------------------------- */

/* A sentence about so many bytes, and the box of the object that it is about.
 */
static void html_suspect(LpJson *j, const LpBoxes *b, LpBuf *text,
                         uint64_t bytes, uint32_t id)
{
  LpBuf path = {0};
  lp_heap_place(&path, html_heap(b, LP_NOW), id);
  lp_box_cut(text, HTML_SENTENCE);
  lp_box_cut(&path, LP_BOX_NAME);
  lp_json_object(j, NULL);
  lp_json_keynumber(j, "bytes", bytes);
  lp_json_keytext(j, "text", text->s);
  lp_json_keytext(j, "path", path.n ? path.s : "");
  lp_json_keynumber(j, "box", lp_boxes_find(b, LP_NOW, id));
  lp_json_end(j);
  lp_buf_free(text);
  lp_buf_free(&path);
}

/* Leak suspects, and what values of weak keys keep. */
static void html_suspects(LpJson *j, const LpBoxes *b)
{
  const LpHeap *h = html_heap(b, LP_NOW);
  LpSuspect s[LP_SUSPECTS];
  size_t i, n = lp_suspects(h, s);
  LpBuf text = {0};
  uint64_t bytes;
  uint32_t table;
  lp_json_array(j, "suspects");
  for (i = 0; i < n; i++) {
    lp_heap_suspect(&text, h, &s[i]);
    html_suspect(j, b, &text, s[i].bytes, s[i].id);
  }
  bytes = lp_heap_weak_sentence(&text, h, &table);
  if (bytes)
    html_suspect(j, b, &text, bytes, table);
  lp_json_end(j);
}

/* What keeps more than before, and how much more is in use. */
static void html_verdicts(LpJson *j, const LpSubject *subject, const LpBoxes *b)
{
  LpVerdictLine line[LP_VERDICTS];
  LpBuf grown = {0};
  int keeps = lp_heap_keeps(subject->heap) && lp_heap_keeps(subject->baseheap);
  size_t i, n = keeps ? lp_heap_verdicts(line, subject) : 0;
  lp_json_array(j, "suspects");
  for (i = 0; i < n; i++)
    html_suspect(j, b, &line[i].text, line[i].bytes, line[i].id);
  lp_json_end(j);
  if (!keeps)
    return;
  lp_heap_grown(&grown, subject);
  lp_json_keytext(j, "grown", grown.s);
  lp_buf_free(&grown);
}

/* Who made what is kept, a sentence each, if the dump is joined. */
static void html_made(LpJson *j, const LpSubject *subject)
{
  LpBuf text[LP_JOIN_SENTENCES] = {0};
  size_t i, n = subject->join ? lp_join_sentences(text, subject) : 0;
  lp_json_array(j, "made");
  for (i = 0; i < n; i++) {
    lp_box_cut(&text[i], HTML_SENTENCE);
    lp_json_text(j, text[i].s);
    lp_buf_free(&text[i]);
  }
  lp_json_end(j);
}

/* A total, as those of a profile: a function of heaps. */
static void html_total(LpJson *j, const LpBoxes *b, const char *key,
                       uint64_t (*total)(const LpHeap *h))
{
  const LpHeap *base = html_heap(b, LP_BASE);
  lp_json_object(j, key);
  lp_json_keynumber(j, "now", total(html_heap(b, LP_NOW)));
  if (base)
    lp_json_keynumber(j, "base", total(base));
  lp_json_end(j);
}

/* What may be garbage or not, and why; null if there is no doubt. It is known
** what objects keep, if it is in both dumps of a comparison.
*/
static void html_doubt(LpJson *j, const LpHeap *h, const LpHeap *base)
{
  int keeps = lp_heap_keeps(h) && (!base || lp_heap_keeps(base));
  LpBuf why = {0};
  lp_heap_doubt(&why, h);
  lp_json_keynumber(j, "unknown", h->unknown.all.bytes);
  lp_json_keynumber(j, "unknown_objects", h->unknown.all.objects);
  lp_json_key(j, "doubt");
  if (why.n)
    lp_json_text(j, why.s);
  else
    lp_json_null(j);
  lp_json_keynumber(j, "keeps", (uint64_t)keeps);
  lp_buf_free(&why);
}

/* Figures that are not in the tree; null if the end of the dump is missing. */
static void html_dump(LpJson *j, const LpBoxes *b)
{
  const LpHeap *h = html_heap(b, LP_NOW), *base = html_heap(b, LP_BASE);
  const LpHeapEnd *e = &h->dump.end;
  lp_json_object(j, "heap");
  lp_json_keynumber(j, "reached", lp_heap_reached(h));
  if (base)
    lp_json_keynumber(j, "base_reached", lp_heap_reached(base));
  lp_json_keynumber(j, "garbage", h->garbage.all.bytes);
  lp_json_keynumber(j, "garbage_objects", h->garbage.all.objects);
  html_doubt(j, h, base);
  lp_json_keynumber(j, "empty", h->dump.sparsebytes);
  lp_json_keynumber(j, "sparse", h->dump.nsparse);
  lp_json_key(j, "vm");
  if (h->dump.ended)
    lp_json_number(j, e->parts + (uint64_t)e->making);
  else
    lp_json_null(j);
  lp_json_keynumber(j, "least", b->least);
  lp_json_keynumber(j, "full", (uint64_t)b->full);
  lp_json_end(j);
}

/* What the page says above its views. */
static void html_summary(LpJson *j, const LpSubject *subject, const LpBoxes *b)
{
  lp_json_object(j, "summary");
  lp_json_object(j, "totals");
  html_total(j, b, "bytes", lp_heap_bytes);
  html_total(j, b, "objects", lp_heap_objects);
  lp_json_end(j);
  html_dump(j, b);
  if (html_heap(b, LP_BASE))
    html_verdicts(j, subject, b);
  else
    html_suspects(j, b);
  html_made(j, subject);
  lp_json_damage(j, &subject->prof->files);
  lp_json_end(j);
  lp_json_array(j, "metrics");
  lp_json_column(j, "bytes", "bytes", LP_UNIT_BYTES);
  lp_json_column(j, "objects", "objects", LP_UNIT_COUNT);
  lp_json_end(j);
}

/* -- The tree -------------------------------------------------------------- */

/* A column of numbers of 4 bytes, AT bytes inside of each row; there are N rows
** of SIZE bytes. Those that are LP_NONE become -1.
*/
static void html_column(LpJson *j, const char *key, const void *row, size_t n,
                        size_t size, size_t at)
{
  size_t i;
  lp_json_array(j, key);
  for (i = 0; i < n; i++) {
    uint32_t x = *(const uint32_t *)((const char *)row + i * size + at);
    lp_json_number(j, x == LP_NONE ? (uint64_t)-1 : x);
  }
  lp_json_end(j);
}

/* The same of numbers of 8 bytes. */
static void html_figures(LpJson *j, const char *key, const void *row, size_t n,
                         size_t size, size_t at)
{
  size_t i;
  lp_json_array(j, key);
  for (i = 0; i < n; i++)
    lp_json_number(j, *(const uint64_t *)((const char *)row + i * size + at));
  lp_json_end(j);
}

#define HTML_COLUMN(j, key, row, n, type, field)                               \
  html_column(j, key, row, n, sizeof(type), offsetof(type, field))
#define HTML_FIGURES(j, key, row, n, type, field)                              \
  html_figures(j, key, row, n, sizeof(type), offsetof(type, field))

/* All texts; others refer to them by their numbers. */
static void html_texts(LpJson *j, const LpBoxes *b)
{
  uint32_t i;
  lp_json_array(j, "texts");
  for (i = 0; i < b->texts.n; i++) {
    size_t n;
    const char *s = lp_intern_get(&b->texts, i, &n);
    lp_json_string(j, (LpStr){s, n});
  }
  lp_json_end(j);
}

/* Functions are shapes, sites are labels. */
static void html_labels(LpJson *j, const LpBoxes *b)
{
  const LpBoxKind *kind = (const LpBoxKind *)b->kinds.bytes;
  uint32_t i;
  lp_json_object(j, "functions");
  HTML_COLUMN(j, "name", kind, b->kinds.n, LpBoxKind, name);
  lp_json_array(j, "kind");
  for (i = 0; i < b->kinds.n; i++)
    lp_json_text(j, kind[i].type ? lp_path_type(kind[i].type) : "mark");
  lp_json_end(j);
  lp_json_end(j);
  lp_json_object(j, "sites");
  HTML_COLUMN(j, "function", b->labels.bytes, b->labels.n, LpBoxLabel, kind);
  HTML_COLUMN(j, "step", b->labels.bytes, b->labels.n, LpBoxLabel, step);
  HTML_COLUMN(j, "name", b->labels.bytes, b->labels.n, LpBoxLabel, name);
  lp_json_end(j);
}

/* What several objects keep together: who they are, and what is free without
** them.
*/
static void html_shared(LpJson *j, const LpHeap *h)
{
  size_t i;
  lp_json_array(j, "shared");
  for (i = 0; i < h->sharing.n; i++) {
    LpBuf text = {0};
    lp_heap_holders(&text, h, &h->sharing.group[i]);
    lp_box_cut(&text, HTML_SENTENCE);
    lp_json_object(j, NULL);
    lp_json_keytext(j, "holders", text.s);
    lp_json_keynumber(j, "freed", h->sharing.group[i].freed);
    lp_json_end(j);
    lp_buf_free(&text);
  }
  lp_json_end(j);
}

/* The boxes, and the ways that lead to them. */
static void html_tree(LpJson *j, const LpBoxes *b)
{
  lp_json_object(j, "tree");
  HTML_COLUMN(j, "parent", b->box, b->n, LpBox, parent);
  HTML_COLUMN(j, "site", b->box, b->n, LpBox, label);
  HTML_COLUMN(j, "way", b->box, b->n, LpBox, way);
  HTML_COLUMN(j, "shared", b->box, b->n, LpBox, shared);
  lp_json_object(j, "self");
  HTML_FIGURES(j, "bytes", b->box, b->n, LpBox, of[LP_NOW].bytes);
  HTML_FIGURES(j, "objects", b->box, b->n, LpBox, of[LP_NOW].objects);
  lp_json_end(j);
  if (html_heap(b, LP_BASE)) {
    lp_json_object(j, "base");
    HTML_FIGURES(j, "bytes", b->box, b->n, LpBox, of[LP_BASE].bytes);
    HTML_FIGURES(j, "objects", b->box, b->n, LpBox, of[LP_BASE].objects);
    lp_json_end(j);
  }
  lp_json_end(j);
  lp_json_object(j, "ways");
  HTML_COLUMN(j, "from", b->way, b->nway, LpWay, from);
  HTML_COLUMN(j, "site", b->way, b->nway, LpWay, label);
  HTML_FIGURES(j, "retained", b->way, b->nway, LpWay, retained);
  lp_json_end(j);
}

/* -- Tables ---------------------------------------------------------------- */

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
static void html_boxes(LpJson *j, const LpBoxes *b, const LpReportOptions *opt,
                       const LpReport *r, size_t n)
{
  size_t i, all;
  uint32_t *id = html_objects(html_heap(b, LP_NOW), opt, r, &all);
  if (!id)
    return;
  lp_json_array(j, "box");
  for (i = 0; i < n && i < all; i++)
    lp_json_number(j, lp_boxes_find(b, LP_NOW, id[i]));
  lp_json_end(j);
  free(id);
}

/* The box of an object that is there now, or else was before; -1 if the row has
** several objects.
*/
static uint64_t html_either(const LpBoxes *b, const LpDiffRow *r)
{
  unsigned side;
  for (side = LP_NOW; side < LP_NSIDE; side++) {
    uint32_t id = r->of[side].id;
    if (id != LP_NONE && lp_dominators_has(&html_heap(b, side)->dom, id))
      return lp_boxes_find(b, (LpSide)side, id);
  }
  return (uint64_t)-1;
}

/* The same of the first N rows of --view=retained of a comparison. */
static void html_changed(LpJson *j, const LpBoxes *b, const LpSubject *subject,
                         const LpReportOptions *opt, size_t n)
{
  LpDiffRows rows = lp_diff_paths(subject);
  size_t i, all;
  uint32_t *list = lp_diff_shown(&rows, subject->heap, opt, &all);
  lp_json_array(j, "box");
  for (i = 0; i < n && i < all && i < HTML_ROWS; i++)
    lp_json_number(j, html_either(b, &rows.row[list[i]]));
  lp_json_end(j);
  free(list);
  lp_diff_close(&rows);
}

/* A view that is a table, cut to what a page can show. */
static void html_table(LpJson *j, const LpSubject *subject, const LpBoxes *b,
                       const LpReportOptions *opt, const LpReport *r)
{
  LpTable t = {.name = r->view};
  size_t all;
  r->table(&t, subject, opt);
  all = t.n;
  lp_table_top(&t, HTML_ROWS);
  html_cut(&t);
  lp_json_object(j, r->view);
  lp_json_members(j, &t);
  lp_json_keynumber(j, "all", all);
  if (!html_heap(b, LP_BASE))
    html_boxes(j, b, opt, r, t.n);
  else if (r == &lp_report_heap_retained && t.n)
    html_changed(j, b, subject, opt, t.n);
  lp_json_end(j);
  lp_table_close(&t);
}

/* -- The page -------------------------------------------------------------- */

/* Is a table in the page? In a comparison, those of both dumps are. */
static int html_has(const LpSubject *subject, const LpReport *r)
{
  return (r->of & subject->prof->of) &&
         (!subject->baseheap || (r->takes & LP_TAKES_DIFF));
}

/* The document inside of the page. */
static void html_document(LpOut *out, const LpSubject *subject,
                          const LpReportOptions *opt)
{
  LpReportOptions o = *opt;
  LpBoxes b;
  LpJson j;
  size_t i;
  lp_boxes_open(&b, subject->heap, subject->baseheap, opt);
  lp_json_open(&j, out);
  lp_json_head(&j, subject->prof, opt);
  html_summary(&j, subject, &b);
  html_texts(&j, &b);
  html_labels(&j, &b);
  html_tree(&j, &b);
  html_shared(&j, subject->heap);
  lp_json_object(&j, "tables");
  o.top = HTML_ROWS;
  for (i = 0; i < sizeof(html_tables) / sizeof(html_tables[0]); i++)
    if (html_has(subject, html_tables[i]))
      html_table(&j, subject, &b, &o, html_tables[i]);
  lp_json_end(&j);
  lp_json_end(&j);
  lp_boxes_close(&b);
}

/* The whole page. */
static void html_write(LpOut *out, const LpSubject *subject,
                       const LpReportOptions *opt)
{
  lp_out_puts(out, lp_html_head);
  lp_out_puts(out, "bytes");
  lp_out_puts(out, lp_html_middle);
  html_document(out, subject, opt);
  lp_out_puts(out, lp_html_tail);
}

const LpReport lp_report_heap_html = {.format = "html",
                                      .of = LP_OF_HEAP,
                                      .takes = LP_TAKES_MIN | LP_TAKES_DIFF,
                                      .write = html_write};

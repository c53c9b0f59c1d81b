/*
** The page of heap dumps: what it says above its views.
*/

#include "heap/diff/heap_verdict.h"
#include "heap/heap_join.h"
#include "heap/heap_suspects.h"
#include "heap/heap_weak.h"
#include "growth/growth.h"
#include "heap_html.h"
#include "json_parts.h"

/* Is it known of all dumps what objects keep? */
static int html_keeps(const LpHeapPage *p)
{
  const LpSubject *s = p->subject;
  return lp_heap_keeps(s->heap) &&
         (!s->baseheap || lp_heap_keeps(s->baseheap)) &&
         (!s->ladder || s->ladder->keeps);
}

/* A sentence about so many bytes, and the path and the box that it is about; a
** BOX of -1: it has none. The texts are freed.
*/
static void html_sentence(LpJson *j, LpBuf *text, uint64_t bytes, LpBuf *path,
                          uint64_t box)
{
  lp_box_cut(text, LP_HTML_SENTENCE);
  lp_box_cut(path, LP_BOX_NAME);
  lp_json_object(j, NULL);
  lp_json_keynumber(j, "bytes", bytes);
  lp_json_keytext(j, "text", text->s);
  lp_json_keytext(j, "path", path->n ? path->s : "");
  lp_json_keynumber(j, "box", box);
  lp_json_end(j);
  lp_buf_free(text);
  lp_buf_free(path);
}

/* A sentence about an object of the newer dump. */
static void html_suspect(LpJson *j, const LpHeapPage *p, LpBuf *text,
                         uint64_t bytes, uint32_t id)
{
  LpBuf path = {0};
  lp_heap_place(&path, p->subject->heap, id);
  html_sentence(j, text, bytes, &path, lp_boxes_find(&p->boxes, LP_NOW, id));
}

/* What is no object, or what of that has grown. */
static void html_notes(LpJson *j, const LpSubject *subject)
{
  LpBuf text[LP_HEAP_NOTES] = {0};
  size_t i, n = lp_heap_notes(text, subject);
  lp_json_array(j, "notes");
  for (i = 0; i < n; i++) {
    lp_box_cut(&text[i], LP_HTML_SENTENCE);
    lp_json_text(j, text[i].s);
    lp_buf_free(&text[i]);
  }
  lp_json_end(j);
}

/* Leak suspects, and what tables with weak keys keep for ever. */
static void html_suspects(LpJson *j, const LpHeapPage *p)
{
  const LpHeap *h = p->subject->heap;
  LpSuspect s[LP_SUSPECTS];
  size_t i, n = lp_suspects(h, s);
  LpWeakLine line[LP_WEAK_LINES] = {0};
  LpBuf text = {0};
  lp_json_array(j, "suspects");
  for (i = 0; i < n; i++) {
    lp_heap_suspect(&text, h, &s[i]);
    html_suspect(j, p, &text, s[i].bytes, s[i].id);
  }
  n = lp_heap_weak_lines(line, h);
  for (i = 0; i < n; i++)
    html_suspect(j, p, &line[i].text, line[i].bytes, line[i].table);
  lp_json_end(j);
}

/* What keeps more than before, and how much more is in use. */
static void html_verdicts(LpJson *j, const LpHeapPage *p)
{
  const LpSubject *subject = p->subject;
  LpVerdictLine line[LP_VERDICTS];
  LpBuf grown = {0};
  int keeps = html_keeps(p);
  size_t i, n = keeps ? lp_heap_verdicts(line, subject) : 0;
  lp_json_array(j, "suspects");
  for (i = 0; i < n; i++)
    html_suspect(j, p, &line[i].text, line[i].bytes, line[i].id);
  lp_json_end(j);
  if (!keeps)
    return;
  lp_heap_grown(&grown, subject);
  lp_json_keytext(j, "grown", grown.s);
  lp_buf_free(&grown);
}

/* A line of a ladder, behind its verdict. */
typedef struct Telling {
  LpJson *j;
  const LpHeapPage *p;
} Telling;

/* Write a line of a ladder. What came and went is in neither dump of the page.
 */
static void html_line(void *ctx, const LpGrowthLine *line)
{
  const Telling *t = ctx;
  const LpGrowths *g = &t->p->subject->ladder->paths;
  LpBuf text = {0}, path = {0};
  size_t n;
  const char *s = lp_intern_get(&g->names, line->row, &n);
  lp_buf_printf(&text, "%s: %s", line->title, line->text);
  lp_buf_add(&path, s, n);
  html_sentence(
      t->j, &text, line->bytes, &path,
      lp_heap_html_box(t->p, g->row[line->row].now, g->row[line->row].base));
}

/* What grew at each step, what has stopped and so on, and what is in use. */
static void html_ladder(LpJson *j, const LpHeapPage *p)
{
  const LpLadder *l = p->subject->ladder;
  Telling t = {j, p};
  LpBuf head = {0};
  lp_json_array(j, "suspects");
  lp_growth_lines(l, html_line, &t);
  lp_json_end(j);
  lp_growth_head(&head, l);
  if (l->makers.sample)
    lp_buf_puts(&head, "; lines that made it are estimated from samples");
  lp_json_keytext(j, "grown", head.s);
  lp_buf_free(&head);
}

/* Who made what is kept, a sentence each, if the dump is joined and it is known
** what objects keep.
*/
static void html_made(LpJson *j, const LpHeapPage *p)
{
  LpBuf text[LP_JOIN_SENTENCES] = {0};
  int known = p->subject->join && html_keeps(p);
  size_t i, n = known ? lp_join_sentences(text, p->subject) : 0;
  lp_json_array(j, "made");
  for (i = 0; i < n; i++) {
    lp_box_cut(&text[i], LP_HTML_SENTENCE);
    lp_json_text(j, text[i].s);
    lp_buf_free(&text[i]);
  }
  lp_json_end(j);
  lp_json_keynumber(j, "fresh", (uint64_t)(known && p->subject->join->fresh));
}

/* A total, as those of a profile: a function of heaps. */
static void html_total(LpJson *j, const LpHeapPage *p, const char *key,
                       uint64_t (*total)(const LpHeap *h))
{
  const LpHeap *base = p->subject->baseheap;
  lp_json_object(j, key);
  lp_json_keynumber(j, "now", total(p->subject->heap));
  if (base)
    lp_json_keynumber(j, "base", total(base));
  lp_json_end(j);
}

/* What may be garbage or not, and why; null if there is no doubt. */
static void html_doubt(LpJson *j, const LpHeapPage *p)
{
  const LpHeap *h = p->subject->heap;
  LpBuf why = {0};
  lp_heap_doubt(&why, h);
  lp_json_keynumber(j, "unknown", h->unknown.all.bytes);
  lp_json_keynumber(j, "unknown_objects", h->unknown.all.objects);
  lp_json_key(j, "doubt");
  if (why.n)
    lp_json_text(j, why.s);
  else
    lp_json_null(j);
  lp_json_keynumber(j, "keeps", (uint64_t)html_keeps(p));
  lp_buf_free(&why);
}

/* Figures that are not in the tree; null if the end of the dump is missing. */
static void html_dump(LpJson *j, const LpHeapPage *p)
{
  const LpHeap *h = p->subject->heap, *base = p->subject->baseheap;
  const LpHeapEnd *e = &h->dump.end;
  lp_json_object(j, "heap");
  lp_json_keynumber(j, "reached", lp_heap_reached(h));
  if (base)
    lp_json_keynumber(j, "base_reached", lp_heap_reached(base));
  lp_json_keynumber(j, "garbage", h->garbage.all.bytes);
  lp_json_keynumber(j, "garbage_objects", h->garbage.all.objects);
  html_doubt(j, p);
  lp_json_keynumber(j, "empty", h->dump.sparsebytes);
  lp_json_keynumber(j, "sparse", h->dump.nsparse);
  lp_json_key(j, "vm");
  if (h->dump.ended)
    lp_json_number(j, e->parts + (uint64_t)e->making);
  else
    lp_json_null(j);
  lp_json_keynumber(j, "least", p->boxes.least);
  lp_json_keynumber(j, "full", (uint64_t)p->boxes.full);
  lp_json_end(j);
}

void lp_heap_html_summary(LpJson *j, const LpHeapPage *p)
{
  const LpHeap *base = p->subject->baseheap;
  lp_json_object(j, "summary");
  lp_json_object(j, "totals");
  html_total(j, p, "bytes", lp_heap_bytes);
  html_total(j, p, "objects", lp_heap_objects);
  lp_json_end(j);
  html_dump(j, p);
  if (p->subject->ladder)
    html_ladder(j, p);
  else if (base)
    html_verdicts(j, p);
  else
    html_suspects(j, p);
  html_notes(j, p->subject);
  html_made(j, p);
  lp_json_damage(j, &p->subject->prof->files);
  lp_json_end(j);
  lp_json_array(j, "metrics");
  lp_json_column(j, "bytes", "bytes", LP_UNIT_BYTES);
  lp_json_column(j, "objects", "objects", LP_UNIT_COUNT);
  lp_json_end(j);
}

/*
** The page of heap dumps: its boxes.
*/

#include "heap/heap_suspects.h"
#include "heap_html.h"

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
static void html_texts(LpJson *j, const LpBoxNames *l)
{
  uint32_t i;
  lp_json_array(j, "texts");
  for (i = 0; i < l->texts.n; i++) {
    size_t n;
    const char *s = lp_intern_get(&l->texts, i, &n);
    lp_json_string(j, (LpStr){s, n});
  }
  lp_json_end(j);
}

/* Functions are shapes, sites are labels. */
static void html_labels(LpJson *j, const LpBoxNames *l)
{
  const LpBoxKind *kind = (const LpBoxKind *)l->kinds.bytes;
  uint32_t i;
  lp_json_object(j, "functions");
  HTML_COLUMN(j, "name", kind, l->kinds.n, LpBoxKind, name);
  lp_json_array(j, "kind");
  for (i = 0; i < l->kinds.n; i++)
    lp_json_text(j, kind[i].type ? lp_path_type(kind[i].type) : "mark");
  lp_json_end(j);
  lp_json_end(j);
  lp_json_object(j, "sites");
  HTML_COLUMN(j, "function", l->labels.bytes, l->labels.n, LpBoxLabel, kind);
  HTML_COLUMN(j, "step", l->labels.bytes, l->labels.n, LpBoxLabel, step);
  HTML_COLUMN(j, "name", l->labels.bytes, l->labels.n, LpBoxLabel, name);
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
    lp_box_cut(&text, LP_HTML_SENTENCE);
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
  if (b->heaps.h[LP_BASE]) {
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

/* What refers to the boxes. */
static void html_retainers(LpJson *j, const LpRetainers *r)
{
  lp_json_object(j, "retainers");
  lp_json_keynumber(j, "boxes", r->boxes);
  HTML_COLUMN(j, "box", r->row, r->n, LpRetainer, box);
  HTML_COLUMN(j, "from", r->row, r->n, LpRetainer, from);
  HTML_COLUMN(j, "site", r->row, r->n, LpRetainer, label);
  HTML_FIGURES(j, "references", r->row, r->n, LpRetainer, n);
  lp_json_end(j);
}

void lp_heap_html_tree(LpJson *j, const LpHeapPage *p)
{
  const LpBoxes *b = &p->boxes;
  html_texts(j, &b->names);
  html_labels(j, &b->names);
  html_tree(j, b);
  html_retainers(j, &p->retainers);
  html_shared(j, p->subject->heap);
}

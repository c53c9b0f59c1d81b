/*
** What the boxes of a page are called.
*/

#include "heap_names.h"

#define LABEL_STEPS 6 /* Of a path in a name. */

/* Bytes that a character takes in a document. */
static size_t label_cost(unsigned char c)
{
  return c == '<' || c < ' ' || c >= 0x7f ? 6 : c == '"' || c == '\\' ? 2 : 1;
}

void lp_box_cut(LpBuf *b, size_t most)
{
  size_t i, cost = 0;
  for (i = 0; i < b->n && cost <= most - 3; i++)
    cost += label_cost((unsigned char)b->s[i]);
  if (cost <= most - 3)
    return;
  b->n = i - 1;
  while (b->n && ((unsigned char)b->s[b->n] & 0xc0) == 0x80)
    b->n--;
  lp_buf_puts(b, "...");
}

/* The number of a text, which is cut and freed. */
static uint32_t label_text(LpBoxNames *l, LpBuf *text)
{
  uint32_t n = l->texts.n, id;
  size_t i;
  lp_box_cut(text, LP_BOX_NAME);
  id = lp_intern(&l->texts, text->n ? text->s : "", text->n);
  for (i = 0; id == n && i < text->n; i++)
    l->cost += label_cost((unsigned char)text->s[i]);
  lp_buf_free(text);
  return id;
}

/* The number of the shape of an object. To name that of a large table takes
** time.
*/
static uint32_t label_kind(LpBoxNames *l, const LpHeap *h, uint32_t id)
{
  unsigned side = l->of[0] && l->of[0] != h;
  uint32_t shape = h->shapes.of[id], at;
  LpBoxKind k = {.type = h->dump.graph.type[id]};
  LpBuf name = {0};
  l->of[side] = h;
  at = lp_idmap_get(&l->shapes[side], shape);
  if (shape != LP_NONE && at != LP_NONE)
    return at;
  if (shape == LP_NONE)
    lp_path_object(&name, &h->dump, id);
  else
    lp_shape_name(&name, h, shape);
  k.name = label_text(l, &name);
  at = lp_intern(&l->kinds, &k, sizeof(k));
  if (shape != LP_NONE)
    lp_idmap_put(&l->shapes[side], shape, at);
  return at;
}

/* The number of the text for what an object is, which is of a kind. */
static uint32_t label_what(LpBoxNames *l, const LpHeap *h, uint32_t id,
                           uint32_t kind)
{
  unsigned type = h->dump.graph.type[id];
  LpBuf name = {0};
  size_t n;
  if (type != LJM_TYPE_STRING && type != LJM_TYPE_FUNCTION)
    return ((const LpBoxKind *)lp_intern_get(&l->kinds, kind, &n))->name;
  lp_shape_nameof(&name, h, id);
  return label_text(l, &name);
}

uint32_t lp_box_object(LpBoxNames *l, const LpHeap *h, uint32_t id, LpBuf *step)
{
  LpBoxLabel label = {.kind = label_kind(l, h, id)};
  label.name = label_what(l, h, id, label.kind);
  label.step = label_text(l, step);
  return lp_intern(&l->labels, &label, sizeof(label));
}

uint32_t lp_box_path(LpBoxNames *l, const LpHeap *h, uint32_t id, LpBuf *step)
{
  LpBoxLabel label = {.kind = label_kind(l, h, id)};
  LpBuf name = {0};
  const char *what;
  size_t n;
  label.name = label_what(l, h, id, label.kind);
  lp_path_name(&name, &h->dump, &h->paths, id, LABEL_STEPS);
  lp_buf_puts(&name, "  ");
  what = lp_intern_get(&l->texts, label.name, &n);
  lp_buf_add(&name, what, n);
  label.name = label_text(l, &name);
  label.step = label_text(l, step);
  return lp_intern(&l->labels, &label, sizeof(label));
}

uint32_t lp_box_group(LpBoxNames *l, const LpHeap *h, const LpGroup *g,
                      int alone)
{
  LpBuf step = {0};
  LpBoxLabel label;
  const LpBoxKind *kind;
  size_t n;
  if (alone)
    lp_group_step(&step, h, g->id[0], LABEL_STEPS);
  if (alone && g->n == 1)
    return lp_box_object(l, h, g->id[0], &step);
  label.kind = label_kind(l, h, g->id[0]);
  kind = lp_intern_get(&l->kinds, label.kind, &n);
  label.name = kind->name;
  label.step = label_text(l, &step);
  return lp_intern(&l->labels, &label, sizeof(label));
}

uint32_t lp_box_special(LpBoxNames *l, const char *name, LpBuf *step)
{
  LpBuf text = {0};
  LpBoxKind k = {.type = 0};
  LpBoxLabel label;
  lp_buf_puts(&text, name);
  k.name = label.name = label_text(l, &text);
  label.kind = lp_intern(&l->kinds, &k, sizeof(k));
  label.step = label_text(l, step);
  return lp_intern(&l->labels, &label, sizeof(label));
}

void lp_box_names_free(LpBoxNames *l)
{
  lp_intern_free(&l->texts);
  lp_intern_free(&l->kinds);
  lp_intern_free(&l->labels);
  lp_idmap_free(&l->shapes[LP_NOW]);
  lp_idmap_free(&l->shapes[LP_BASE]);
}

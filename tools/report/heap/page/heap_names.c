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

/* The number of the shape of an object. */
static uint32_t label_kind(LpBoxNames *l, const LpHeap *h, uint32_t id)
{
  LpBoxKind k = {.type = h->dump.graph.type[id]};
  LpBuf name = {0};
  if (h->shapes.of[id] == LP_NONE)
    lp_path_object(&name, &h->dump, id);
  else
    lp_shape_name(&name, h, h->shapes.of[id]);
  k.name = label_text(l, &name);
  return lp_intern(&l->kinds, &k, sizeof(k));
}

uint32_t lp_box_object(LpBoxNames *l, const LpHeap *h, uint32_t id, LpBuf *step)
{
  LpBoxLabel label = {.kind = label_kind(l, h, id)};
  LpBuf name = {0};
  lp_shape_nameof(&name, h, id);
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
}

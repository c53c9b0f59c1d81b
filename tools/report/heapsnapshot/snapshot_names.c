/*
** The strings of a .heapsnapshot.
*/

#include <stdlib.h>
#include <string.h>

#include "snapshot_names.h"

#define NAMES_TEXT 1024 /* Bytes of a string that are shown. */

void lp_snapshot_names_open(LpSnapshotNames *t, const LpHeap *h,
                            const LpSnapshotNodes *nodes)
{
  size_t n = h->shapes.keys.n + 1;
  *t = (LpSnapshotNames){.h = h, .nodes = nodes};
  t->shape = lp_alloc(n * sizeof(*t->shape));
  memset(t->shape, 0xff, n * sizeof(*t->shape));
}

void lp_snapshot_names_close(LpSnapshotNames *t)
{
  lp_intern_free(&t->names);
  lp_buf_free(&t->text);
  free(t->shape);
}

/* -- Numbers --------------------------------------------------------------- */

/* The number of the first name: there are so many texts. */
static uint32_t names_first(const LpSnapshotNames *t)
{
  return t->nodes->vm - t->nodes->strings;
}

uint32_t lp_snapshot_name(LpSnapshotNames *t, const char *s, size_t n)
{
  return names_first(t) + lp_intern(&t->names, s, n);
}

uint32_t lp_snapshot_cname(LpSnapshotNames *t, const char *s)
{
  return lp_snapshot_name(t, s, strlen(s));
}

const char *lp_snapshot_nameof(const LpSnapshotNames *t, uint32_t number,
                               size_t *n)
{
  return lp_intern_get(&t->names, number - names_first(t), n);
}

/* The number of the text that was put together. */
static uint32_t names_put(LpSnapshotNames *t)
{
  return lp_snapshot_name(t, t->text.n ? t->text.s : "", t->text.n);
}

/* -- Texts ----------------------------------------------------------------- */

/* Puts together the beginning of a text, which ends with a whole character. */
static void names_cut(LpSnapshotNames *t, const char *s, size_t n)
{
  size_t cut = n;
  if (n > NAMES_TEXT) {
    cut = NAMES_TEXT;
    while (cut > NAMES_TEXT - 4 && ((unsigned char)s[cut] & 0xc0) == 0x80)
      cut--;
  }
  t->text.n = 0;
  lp_buf_add(&t->text, s, cut);
  if (cut < n)
    lp_buf_puts(&t->text, "...");
}

uint32_t lp_snapshot_key_name(LpSnapshotNames *t, uint32_t key)
{
  const LpGraph *g = &t->h->dump.graph;
  uint32_t node = t->nodes->of[key];
  size_t n;
  const char *s = lp_graph_textof(g, key, &n);
  if (s && node >= t->nodes->strings && node < t->nodes->vm)
    return node - t->nodes->strings;
  t->text.n = 0;
  if (s)
    names_cut(t, s, n);
  else
    lp_buf_printf(&t->text, "[%s]", lp_path_type(g->type[key]));
  return names_put(t);
}

/* A string of the file. */
static void names_string(LpJson *j, const char *s, size_t n)
{
  lp_json_string(j, (LpStr){s, n});
  lp_out_puts(j->out, "\n");
}

void lp_snapshot_names_write(LpSnapshotNames *t, LpJson *j)
{
  uint32_t i;
  size_t n;
  for (i = t->nodes->strings; i < t->nodes->vm; i++) {
    const char *s = lp_graph_textof(&t->h->dump.graph, t->nodes->object[i], &n);
    names_cut(t, s, n);
    names_string(j, t->text.s, t->text.n);
  }
  for (i = 0; i < t->names.n; i++) {
    const char *s = lp_intern_get(&t->names, i, &n);
    names_string(j, s, n);
  }
}

/* -- Names of nodes -------------------------------------------------------- */

/* A function has the name by which it is known, and where it is defined. */
static uint32_t names_function(LpSnapshotNames *t, uint32_t object)
{
  const LpDump *d = &t->h->dump;
  uint32_t proto = lp_dump_link(d, object, LP_EDGE_PROTO);
  size_t space;
  t->text.n = 0;
  lp_path_last(&t->text, d, &t->h->paths, object);
  if (proto != LP_NONE)
    lp_path_proto(&t->text, d, proto);
  else
    lp_buf_puts(&t->text, t->text.n ? " in C" : "C function");
  space = t->text.n && *t->text.s == ' ';
  return lp_snapshot_name(t, t->text.s + space, t->text.n - space);
}

/* The number of the name of an object that has no shape. */
static uint32_t names_plain(LpSnapshotNames *t, uint32_t object)
{
  t->text.n = 0;
  lp_path_object(&t->text, &t->h->dump, object);
  return names_put(t);
}

/* The number of the name of an object's shape. */
static uint32_t names_shape(LpSnapshotNames *t, uint32_t object)
{
  uint32_t shape = t->h->shapes.of[object];
  if (shape == LP_NONE)
    return names_plain(t, object);
  if (t->shape[shape] == LP_NONE) {
    t->text.n = 0;
    lp_shape_name(&t->text, t->h, shape);
    t->shape[shape] = names_put(t);
  }
  return t->shape[shape];
}

/* A table or thread is known by its shape; as a root, by that name: _G. */
static uint32_t names_root(LpSnapshotNames *t, uint32_t object)
{
  t->text.n = 0;
  if (t->h->paths.from[object] != LP_GRAPH_ROOT ||
      !lp_path_last(&t->text, &t->h->dump, &t->h->paths, object))
    return names_shape(t, object);
  return names_put(t);
}

uint32_t lp_snapshot_object_name(LpSnapshotNames *t, uint32_t node)
{
  uint32_t object = t->nodes->object[node];
  if (node >= t->nodes->strings)
    return node - t->nodes->strings;
  switch (t->h->dump.graph.type[object]) {
  case LJM_TYPE_TABLE:
  case LJM_TYPE_THREAD:
    return names_root(t, object);
  case LJM_TYPE_FUNCTION:
    return names_function(t, object);
  case LJM_TYPE_PROTO:
    return names_plain(t, object);
  case LJM_TYPE_STRING:
    return lp_snapshot_cname(t, "(text not in the dump)");
  default:
    return names_shape(t, object);
  }
}

uint32_t lp_snapshot_group_name(LpSnapshotNames *t, uint32_t group)
{
  uint32_t one = t->nodes->group[group].one;
  unsigned type = t->h->dump.graph.type[one];
  return t->nodes->bytype || type == LJM_TYPE_STRING
             ? lp_snapshot_cname(t, lp_path_type(type))
             : names_shape(t, one);
}

/*
** Sentences about leak suspects, and the names of holders.
*/

#include <inttypes.h>

#include "heap_suspects.h"
#include "text.h"

#define HOLDERS 4 /* That are named. */

/* Code of the JIT compiler: where it starts. */
static void suspect_traces(LpBuf *b, const LpHeap *h, const LpSuspect *s)
{
  uint32_t at = s->id;
  while (at != LP_GRAPH_ROOT && h->dump.graph.type[at] != LJM_TYPE_PROTO)
    at = h->paths.from[at];
  lp_buf_puts(b, "code of the JIT compiler");
  if (s->chain)
    lp_buf_printf(b, ": %" PRIu64 " traces", s->chain);
  if (at != LP_GRAPH_ROOT) {
    lp_buf_puts(b, " that start in");
    lp_path_proto(b, &h->dump, at);
  }
}

/* Where it is, and the code that has it. */
static void suspect_place(LpBuf *b, const LpHeap *h, uint32_t id)
{
  uint32_t code = lp_path_code(&h->dump, &h->paths, id);
  lp_heap_place(b, h, id);
  if (code != LP_NONE) {
    lp_buf_puts(b, " (in");
    lp_path_proto(b, &h->dump, code);
    lp_buf_puts(b, ")");
  }
}

/* The one object that keeps it. */
static void suspect_keeper(LpBuf *b, const LpHeap *h, uint32_t id)
{
  lp_buf_puts(b, "kept by ");
  suspect_place(b, h, id);
  lp_buf_puts(b, ", a ");
  lp_shape_nameof(b, h, id);
}

/* One of several: an object, or a reference of it. */
static void suspect_holder(LpBuf *b, const LpHeap *h, const LpHolder *holder)
{
  if (holder->edge == LP_NONE) {
    suspect_place(b, h, holder->id);
    return;
  }
  lp_heap_place(b, h, holder->id);
  lp_path_step(b, &h->dump, holder->id, &h->dump.graph.edge[holder->edge]);
}

void lp_heap_holders(LpBuf *b, const LpHeap *h, const LpShared *g)
{
  size_t shown = g->nholder > HOLDERS + 1 ? HOLDERS : g->nholder, i;
  for (i = 0; i < shown; i++) {
    if (i)
      lp_buf_puts(b, i + 1 == g->nholder ? " and " : ", ");
    suspect_holder(b, h, &g->holder[i]);
  }
  if (shown < g->nholder)
    lp_buf_printf(b, " and %zu more", g->nholder - shown);
}

void lp_heap_together(LpBuf *b, const LpHeap *h, const LpShared *g)
{
  lp_heap_holders(b, h, g);
  lp_buf_puts(b, " together");
}

/* What would be free without one of them, and without all. */
static void suspect_dropped(LpBuf *b, const LpHeap *h, const LpShared *g)
{
  LpDomTree tree = lp_heap_tree(h);
  uint64_t all = lp_heap_reached(h);
  double first = lp_text_percent(lp_holder_keeps(&tree, g->holder), all);
  lp_buf_puts(b, "; dropping one frees ");
  if (g->nholder == 2)
    lp_buf_printf(b, "%.1f%% or %.1f%%, both", first,
                  lp_text_percent(lp_holder_keeps(&tree, g->holder + 1), all));
  else
    lp_buf_printf(b, "at most %.1f%%, all", first);
  lp_buf_printf(b, " %.1f%%", lp_text_percent(g->freed, all));
}

void lp_heap_things(LpBuf *b, const LpHeap *h, const LpSuspect *s)
{
  int most = s->retained > s->bytes / 2;
  if (s->shape == LP_NONE)
    return;
  if (!most)
    lp_buf_printf(b, ": %zu objects, of which ", s->shared->n);
  if (most && s->objects == 1)
    lp_buf_puts(b, ": a ");
  else
    lp_buf_printf(b, "%s%" PRIu64 " x ", most ? ": " : "", s->objects);
  lp_shape_name(b, h, s->shape);
  if (!most) {
    lp_buf_puts(b, " keep most, ");
    lp_text_size(b, s->retained, 1);
    return;
  }
  if (s->inner != LP_NONE) {
    lp_buf_printf(b, ", with %" PRIu64 " x ", s->inners);
    lp_shape_name(b, h, s->inner);
  }
}

/* Append how what entries of a table keep differs. */
static void suspect_spread(LpBuf *b, const LpHeap *h, const LpSuspect *s)
{
  if (!s->largest)
    return;
  lp_buf_puts(b, " (median ");
  lp_text_size(b, s->median, 1);
  lp_buf_puts(b, ", largest ");
  lp_text_size(b, s->largest, 1);
  if (s->most != LP_NONE) {
    lp_buf_puts(b, ": ");
    lp_heap_place(b, h, s->most);
  }
  lp_buf_puts(b, ")");
}

/* Append what a suspect keeps. */
static void suspect_kept(LpBuf *b, const LpHeap *h, const LpSuspect *s)
{
  uint64_t own = lp_graph_size(&h->dump.graph, s->id);
  if (h->dump.graph.flags[s->id] & LP_NODE_EMPTY) {
    lp_buf_puts(b, ": its slots take ");
    lp_text_size(b, own, 1);
  } else if (s->chain) {
    lp_buf_printf(b, ": a chain of %" PRIu64 " such objects", s->chain);
  } else if (s->shape != LP_NONE && s->retained < own && own > s->bytes / 2) {
    lp_buf_puts(b, ": ");
    lp_text_size(b, own, 1);
    lp_buf_puts(b, " of it is its own size");
  } else if (s->shape != LP_NONE && s->objects == 1) {
    lp_buf_puts(b, ": in small parts, of which a ");
    lp_shape_name(b, h, s->shape);
    lp_buf_puts(b, " keeps most, ");
    lp_text_size(b, s->retained, 1);
  } else if (s->shape != LP_NONE && s->retained > s->bytes / 10) {
    lp_buf_printf(b, ": %" PRIu64 " x ", s->objects);
    lp_shape_name(b, h, s->shape);
    lp_buf_puts(b, " keep ");
    lp_text_size(b, s->retained, 1);
    suspect_spread(b, h, s);
    if (s->inner != LP_NONE) {
      lp_buf_printf(b, ", with %" PRIu64 " x ", s->inners);
      lp_shape_name(b, h, s->inner);
    }
  }
}

/* Append who holds what a single object keeps, if several hold the object. */
static void suspect_held(LpBuf *b, const LpHeap *h, uint32_t id)
{
  size_t i, k;
  for (i = 0; i < h->sharing.n; i++) {
    const LpShared *g = &h->sharing.group[i];
    for (k = 0; k < g->n && g->id[k] != id; k++)
      ;
    if (k == g->n || g->nholder > LP_SUSPECT_HOLDERS)
      continue;
    lp_buf_puts(b, "; held by ");
    lp_heap_together(b, h, g);
  }
}

void lp_heap_suspect(LpBuf *b, const LpHeap *h, const LpSuspect *s)
{
  lp_buf_printf(b, "%.1f%% (", lp_text_percent(s->bytes, lp_heap_reached(h)));
  lp_text_size(b, s->bytes, 1);
  lp_buf_puts(b, ") is ");
  if (s->shared) {
    lp_buf_puts(b, "kept by ");
    lp_heap_together(b, h, s->shared);
    lp_heap_things(b, h, s);
    suspect_dropped(b, h, s->shared);
  } else if (h->dump.graph.type[s->id] == LJM_TYPE_TRACE) {
    suspect_traces(b, h, s);
  } else {
    suspect_keeper(b, h, s->id);
    suspect_kept(b, h, s);
    suspect_held(b, h, s->id);
  }
}

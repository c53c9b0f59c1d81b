/*
** A heap as a graph: objects, and references between them.
*/

#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "mem.h"

void lp_graph_open(LpGraph *g)
{
  memset(g, 0, sizeof(*g));
  g->open = LP_NONE;
  lp_graph_id(g, 0); /* No object is at address 0: it stands for the root. */
}

void lp_graph_close(LpGraph *g)
{
  free(g->node);
  free(g->type);
  free(g->flags);
  free(g->edge);
  lp_live_free(&g->ids);
  lp_intern_free(&g->names);
  free(g->text);
  lp_idmap_free(&g->larges);
  free(g->large);
  memset(g, 0, sizeof(*g));
}

void lp_graph_forget(LpGraph *g)
{
  lp_live_free(&g->ids);
}

/* -- Objects --------------------------------------------------------------- */

/* A new object that is not defined. */
static uint32_t graph_add(LpGraph *g, uint64_t addr)
{
  size_t n = g->n + 1;
  if (n > LP_GRAPH_MAX)
    return LP_NONE;
  if (n > g->capnode) {
    g->node = lp_grow(g->node, &g->capnode, n, sizeof(*g->node));
    g->type = lp_grow(g->type, &g->captype, g->capnode, 1);
    g->flags = lp_grow(g->flags, &g->capflags, g->capnode, 1);
  }
  g->node[g->n] = (LpGraphNode){.addr = addr, .first = LP_NONE};
  return (uint32_t)g->n++;
}

uint32_t lp_graph_id(LpGraph *g, uint64_t addr)
{
  uint32_t id = lp_live_get(&g->ids, addr);
  if (id != LP_NONE)
    return id;
  id = graph_add(g, addr);
  if (id != LP_NONE)
    lp_live_put(&g->ids, addr, id);
  return id;
}

/* The references of the object that was filled are complete. */
static void graph_shut(LpGraph *g)
{
  if (g->open != LP_NONE && g->nedge > g->from) {
    g->node[g->open].first = (uint32_t)g->from;
    g->edge[g->nedge - 1].to |= LP_EDGE_LAST;
  }
  g->open = LP_NONE;
}

/* Keeps a size that has no room in its object. */
static void graph_large(LpGraph *g, uint32_t id, uint64_t size)
{
  g->large = lp_grow(g->large, &g->caplarge, g->nlarge + 1, sizeof(*g->large));
  lp_idmap_put(&g->larges, id, (uint32_t)g->nlarge);
  g->large[g->nlarge++] = size;
}

uint32_t lp_graph_object(LpGraph *g, uint64_t addr, unsigned type,
                         uint64_t size, unsigned flags)
{
  uint32_t id = lp_graph_id(g, addr);
  graph_shut(g);
  if (id == LP_NONE || id == LP_GRAPH_ROOT || (g->flags[id] & LP_NODE_DEFINED))
    return LP_NONE;
  g->type[id] = (uint8_t)type;
  g->flags[id] = (uint8_t)(flags | LP_NODE_DEFINED);
  g->node[id].size = size < LP_SIZE_LARGE ? (uint32_t)size : LP_SIZE_LARGE;
  if (size >= LP_SIZE_LARGE)
    graph_large(g, id, size);
  g->open = id;
  g->from = g->nedge;
  return id;
}

void lp_graph_resume(LpGraph *g, uint64_t addr)
{
  if (g->open == LP_NONE || g->node[g->open].addr != addr)
    graph_shut(g);
}

uint64_t lp_graph_size(const LpGraph *g, uint32_t id)
{
  uint32_t size = g->node[id].size;
  if (size != LP_SIZE_LARGE)
    return size;
  return g->large[lp_idmap_get(&g->larges, id)];
}

/* -- References ------------------------------------------------------------ */

/* Add a reference to the end of the list. */
static void graph_edge(LpGraph *g, uint32_t to, uint32_t label)
{
  if (g->nedge >= LP_NONE - 1) /* References that are lost keep nothing. */
    return;
  g->edge = lp_grow(g->edge, &g->capedge, g->nedge + 1, sizeof(*g->edge));
  g->edge[g->nedge++] = (LpEdge){to, label};
}

void lp_graph_edge(LpGraph *g, LpEdgeKind kind, uint64_t detail, uint64_t addr)
{
  uint32_t to = lp_graph_id(g, addr);
  if (g->open == LP_NONE || to == LP_NONE)
    return;
  detail = detail < LP_EDGE_MANY ? detail : LP_EDGE_MANY;
  graph_edge(g, to, (uint32_t)kind << 28 | (uint32_t)detail);
}

void lp_graph_text(LpGraph *g, const void *s, size_t n)
{
  uint16_t len = n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
  size_t need = g->ntext + sizeof(len) + len;
  if (g->open != LP_NONE && need < LP_NONE) {
    g->text = lp_grow(g->text, &g->captext, need, 1);
    memcpy(g->text + g->ntext, &len, sizeof(len));
    memcpy(g->text + g->ntext + sizeof(len), s, len);
    g->node[g->open].first = (uint32_t)g->ntext;
    g->ntext = need;
  }
  g->open = LP_NONE; /* It has no references. */
}

const char *lp_graph_textof(const LpGraph *g, uint32_t id, size_t *n)
{
  uint32_t first = g->node[id].first;
  uint16_t len;
  if (g->type[id] != LJM_TYPE_STRING || first == LP_NONE)
    return NULL;
  memcpy(&len, g->text + first, sizeof(len));
  *n = len;
  return g->text + first + sizeof(len);
}

uint32_t lp_graph_name(LpGraph *g, const void *s, size_t n)
{
  return lp_intern(&g->names, s, n);
}

/* -- The end --------------------------------------------------------------- */

/* Gives room back that was not filled: it can be a third of all. */
static void graph_fit(LpGraph *g)
{
  g->node = lp_realloc(g->node, g->capnode = g->n, sizeof(*g->node));
  g->type = lp_realloc(g->type, g->captype = g->n, 1);
  g->flags = lp_realloc(g->flags, g->capflags = g->n, 1);
  if (g->nedge)
    g->edge = lp_realloc(g->edge, g->capedge = g->nedge, sizeof(*g->edge));
}

void lp_graph_seal(LpGraph *g, const LpEdge *root, size_t n)
{
  size_t i;
  graph_shut(g);
  g->open = LP_GRAPH_ROOT;
  g->from = g->nedge;
  for (i = 0; i < n; i++)
    graph_edge(g, lp_edge_to(&root[i]), root[i].label);
  graph_shut(g);
  graph_fit(g);
}

/* -- Walks ----------------------------------------------------------------- */

/* Put an object on the list of those to visit, once. Returns how many there
** are.
*/
static size_t graph_push(uint8_t *reached, uint32_t *todo, size_t n,
                         uint32_t id)
{
  if (!reached[id])
    todo[n++] = id;
  reached[id] = 1;
  return n;
}

void lp_graph_reach(const LpGraph *g, const uint32_t *from, size_t n,
                    uint8_t *reached)
{
  uint32_t *todo = lp_alloc(g->n * sizeof(*todo));
  size_t left = 0;
  while (n)
    left = graph_push(reached, todo, left, from[--n]);
  while (left) {
    const LpEdge *e = lp_graph_first(g, todo[--left]);
    for (; e; e = lp_graph_next(e))
      left = graph_push(reached, todo, left, lp_edge_to(e));
  }
  free(todo);
}

/* -- Text ------------------------------------------------------------------ */

void lp_graph_quote(LpBuf *b, const char *s, size_t n)
{
  size_t i;
  for (i = 0; i < n; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c == '"' || c == '\\')
      lp_buf_printf(b, "\\%c", c);
    else if (c < 0x20 || c >= 0x7f)
      lp_buf_printf(b, "\\%03u", c);
    else
      lp_buf_add(b, &s[i], 1);
  }
}

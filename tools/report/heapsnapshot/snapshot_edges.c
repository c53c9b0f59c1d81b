/*
** The edges of a .heapsnapshot.
*/

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot_edges.h"

void lp_snapshot_edges_open(LpSnapshotEdges *w, const LpHeap *h,
                            const LpSnapshotNodes *nodes,
                            LpSnapshotNames *names, LpJson *json)
{
  size_t i;
  *w = (LpSnapshotEdges){.h = h, .nodes = nodes, .names = names, .json = json};
  w->seen = lp_zalloc(nodes->n, sizeof(*w->seen));
  for (i = h->dump.nweak; i-- > 0;)
    lp_idmap_put(&w->weak, h->dump.weak[i].from, (uint32_t)i);
}

void lp_snapshot_edges_close(LpSnapshotEdges *w)
{
  free(w->seen);
  lp_idmap_free(&w->weak);
  lp_buf_free(&w->name);
}

/* -- Names ----------------------------------------------------------------- */

/* The name that paths give to a step, without its decoration. */
static uint32_t edge_step(LpSnapshotEdges *w, uint32_t from, const LpEdge *e)
{
  const char *s;
  size_t n;
  w->name.n = 0;
  lp_path_step(&w->name, &w->h->dump, from, e);
  s = w->name.n ? w->name.s : "";
  n = w->name.n;
  if (n && *s == ':')
    s++, n--;
  else if (n > 2 && *s == '<' && s[n - 1] == '>')
    s++, n -= 2;
  return lp_snapshot_name(w->names, s, n);
}

/* -- Edges ----------------------------------------------------------------- */

/* The fields of an edge. */
static void edge_write(LpSnapshotEdges *w, LpSnapshotEdgeType type,
                       uint32_t name, uint32_t to)
{
  lp_json_number(w->json, type);
  lp_json_number(w->json, name);
  lp_json_number(w->json, (uint64_t)to * LP_SNAPSHOT_NODE);
  lp_out_puts(w->json->out, "\n");
}

/* The name that all references of a kind have. */
static uint32_t edge_kind(LpSnapshotEdges *w, LpEdgeKind kind, const char *name)
{
  if (!w->kind[kind])
    w->kind[kind] = lp_snapshot_cname(w->names, name) + 1;
  return w->kind[kind] - 1;
}

/* The name of a reference of an object, among the strings. */
static uint32_t edge_name(LpSnapshotEdges *w, uint32_t from, const LpEdge *e)
{
  static const char *const names[] = {
      [LP_EDGE_VALUE] = "[?]",         [LP_EDGE_KEY] = "key",
      [LP_EDGE_META] = "metatable",    [LP_EDGE_ENV] = "environment",
      [LP_EDGE_CONTENT] = "value",     [LP_EDGE_PROTO] = "prototype",
      [LP_EDGE_CONSTANT] = "constant", [LP_EDGE_LINK] = NULL};
  LpEdgeKind kind = lp_edge_kind(e);
  uint32_t detail = lp_edge_detail(e);
  char number[16];
  if (kind == LP_EDGE_FIELD)
    return lp_snapshot_key_name(w->names, detail);
  if (kind == LP_EDGE_ITEM && detail != LP_EDGE_MANY) {
    snprintf(number, sizeof(number), "%" PRIu32, detail);
    return lp_snapshot_cname(w->names, number);
  }
  if (kind == LP_EDGE_ITEM)
    kind = LP_EDGE_VALUE;
  return kind <= LP_EDGE_LINK && names[kind] ? edge_kind(w, kind, names[kind])
                                             : edge_step(w, from, e);
}

/* Writes a reference of an object. */
static void edge_reference(LpSnapshotEdges *w, uint32_t from, const LpEdge *e)
{
  LpEdgeKind kind = lp_edge_kind(e);
  uint32_t detail = lp_edge_detail(e), to = w->nodes->of[lp_edge_to(e)];
  LpSnapshotEdgeType type = LP_SNAPSHOT_INTERNAL;
  if (kind == LP_EDGE_ITEM && detail != LP_EDGE_MANY) {
    edge_write(w, LP_SNAPSHOT_ELEMENT, detail, to);
    return;
  }
  if (kind == LP_EDGE_ROOT || kind == LP_EDGE_FIELD || kind == LP_EDGE_ITEM ||
      kind == LP_EDGE_VALUE)
    type = LP_SNAPSHOT_PROPERTY;
  else if (kind == LP_EDGE_UPVALUE || kind == LP_EDGE_LOCAL)
    type = LP_SNAPSHOT_CONTEXT;
  edge_write(w, type, edge_name(w, from, e), to);
}

/* An edge that is no reference. */
static uint32_t edge_plain(LpSnapshotEdges *w, const char *name, uint32_t to)
{
  if (w->json)
    edge_write(w, LP_SNAPSHOT_INTERNAL, lp_snapshot_cname(w->names, name), to);
  return 1;
}

/* Groups of a keeper. The edge says how many objects there are, since nodes of
** the same kind must have the same name in order to be compared.
*/
static uint32_t edge_groups(LpSnapshotEdges *w, uint32_t first)
{
  const LpSnapshotNodes *s = w->nodes;
  uint32_t n = 0, i;
  for (i = first; i != LP_NONE; i = s->group[i].next, n++) {
    char name[40];
    snprintf(name, sizeof(name), "%" PRIu32 " object%s", s->group[i].objects,
             s->group[i].objects == 1 ? "" : "s");
    edge_plain(w, name, s->groups + i);
  }
  return n;
}

/* Is a reference one that the VM's node has? */
static int edge_isvm(const LpGraph *g, const LpEdge *e)
{
  return lp_edge_kind(e) == LP_EDGE_ROOT &&
         (g->flags[lp_edge_to(e)] & LP_NODE_FIXED);
}

/* The weak references of an object. What they refer to may be garbage. */
static uint32_t edge_weak(LpSnapshotEdges *w, uint32_t node)
{
  const LpDump *d = &w->h->dump;
  const LpSnapshotNodes *s = w->nodes;
  uint32_t i = lp_idmap_get(&w->weak, s->object[node]), n = 0;
  for (; i < d->nweak && d->weak[i].from == s->object[node]; i++) {
    uint32_t to = s->of[lp_edge_to(&d->weak[i].edge)];
    if (to == LP_NONE || (to >= s->groups && w->seen[to] == node + 1))
      continue;
    w->seen[to] = node + 1;
    if (w->json)
      edge_write(w, LP_SNAPSHOT_WEAK,
                 edge_name(w, s->object[node], &d->weak[i].edge), to);
    n++;
  }
  return n;
}

/* The references of a node's object, each to a node of its own, and one to any
** group that is another keeper's.
*/
static uint32_t edge_object(LpSnapshotEdges *w, uint32_t node)
{
  const LpGraph *g = &w->h->dump.graph;
  const LpSnapshotNodes *s = w->nodes;
  uint32_t id = s->object[node], n = 0;
  const LpEdge *e = lp_graph_first(g, id);
  for (; e; e = lp_graph_next(e)) {
    uint32_t to = s->of[lp_edge_to(e)];
    if (edge_isvm(g, e))
      continue;
    if (to >= s->groups) {
      if (s->group[to - s->groups].keeper == id || w->seen[to] == node + 1)
        continue;
      w->seen[to] = node + 1;
    }
    if (w->json)
      edge_reference(w, id, e);
    n++;
  }
  return n + edge_weak(w, node) + edge_groups(w, s->below[node]);
}

/* One reference of the objects in a group to each node of an object. Those to
** groups are left out: each has one of its keeper.
*/
static uint32_t edge_group(LpSnapshotEdges *w, uint32_t node)
{
  const LpGraph *g = &w->h->dump.graph;
  const LpSnapshotNodes *s = w->nodes;
  uint32_t i = s->group[node - s->groups].first, n = 0;
  uint32_t end = s->group[node - s->groups + 1].first;
  for (; i < end; i++) {
    const LpEdge *e = lp_graph_first(g, s->member[i]);
    for (; e; e = lp_graph_next(e)) {
      uint32_t to = s->of[lp_edge_to(e)];
      if (to >= s->groups || w->seen[to] == node + 1)
        continue;
      w->seen[to] = node + 1;
      if (w->json)
        edge_reference(w, s->member[i], e);
      n++;
    }
  }
  return n;
}

/* The VM's own parts, and objects that it never frees. */
static uint32_t edge_vm(LpSnapshotEdges *w)
{
  const LpGraph *g = &w->h->dump.graph;
  const LpSnapshotNodes *s = w->nodes;
  const LpEdge *e = lp_graph_first(g, LP_GRAPH_ROOT);
  uint32_t i, n = 0;
  for (i = s->parts; i < s->groups; i++)
    n += edge_plain(w, "part", i);
  for (; e; e = lp_graph_next(e)) {
    uint32_t to = s->of[lp_edge_to(e)];
    if (!edge_isvm(g, e) || w->seen[to] == s->vm + 1)
      continue;
    w->seen[to] = s->vm + 1;
    n += edge_plain(w, "never freed", to);
  }
  return n;
}

uint32_t lp_snapshot_edges(LpSnapshotEdges *w, uint32_t node)
{
  const LpSnapshotNodes *s = w->nodes;
  if (node >= s->groups)
    return edge_group(w, node);
  if (node == s->vm)
    return edge_vm(w);
  if (node == s->lost)
    return edge_groups(w, s->nobody);
  if (node > s->vm)
    return 0;
  if (node > 0)
    return edge_object(w, node);
  return edge_object(w, node) + edge_plain(w, "the VM", s->vm) +
         edge_plain(w, "garbage", s->lost);
}

/*
** A heap dump as a .heapsnapshot, which Chrome's DevTools and others open.
**
** The format is one of flat arrays of numbers of 32 bits, with all strings at
** the end: texts of nodes that are strings, in the order of nodes, then names.
** So nothing but names is kept until the end. The counts at the beginning take
** a pass of their own over the references.
*/

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapsnapshot.h"
#include "snapshot_edges.h"

/* Types of nodes, as the file numbers them. */
typedef enum NodeType {
  NODE_STRING = 2,
  NODE_OBJECT = 3,
  NODE_CODE = 4,
  NODE_CLOSURE = 5,
  NODE_NATIVE = 8,
  NODE_SYNTHETIC = 9
} NodeType;

typedef struct Snapshot {
  LpJson json;
  const LpHeap *h;
  LpSnapshotNodes nodes;
  LpSnapshotNames names;
  LpIdMap ids;      /* Ids of nodes that are taken, */
  int apart;        /* those of objects too: they could be equal. */
  uint32_t *nedges; /* By node. */
} Snapshot;

/* -- Header ---------------------------------------------------------------- */

/* A list of texts. */
static void snapshot_list(Snapshot *s, const char *key, const char *const *of,
                          size_t n)
{
  size_t i;
  lp_json_array(&s->json, key);
  for (i = 0; i < n; i++)
    lp_json_text(&s->json, of[i]);
  lp_json_end(&s->json);
}

#define snapshot_texts(s, key, ...)                                            \
  snapshot_list(s, key, (const char *const[]){__VA_ARGS__},                    \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* What the numbers are. The first field's values have names of their own. */
static void snapshot_meta(Snapshot *s)
{
  LpJson *j = &s->json;
  lp_json_object(j, "meta");
  snapshot_texts(s, "node_fields", "type", "name", "id", "self_size",
                 "edge_count", "detachedness");
  lp_json_array(j, "node_types");
  snapshot_texts(s, NULL, "hidden", "array", "string", "object", "code",
                 "closure", "regexp", "number", "native", "synthetic",
                 "concatenated string", "sliced string", "symbol", "bigint",
                 "object shape");
  lp_json_text(j, "string");
  lp_json_text(j, "number");
  lp_json_text(j, "number");
  lp_json_text(j, "number");
  lp_json_text(j, "number");
  lp_json_end(j);
  snapshot_texts(s, "edge_fields", "type", "name_or_index", "to_node");
  lp_json_array(j, "edge_types");
  snapshot_texts(s, NULL, "context", "element", "property", "internal",
                 "hidden", "shortcut", "weak");
  lp_json_text(j, "string_or_number");
  lp_json_text(j, "node");
  lp_json_end(j);
  snapshot_texts(s, "trace_function_info_fields", "function_id", "name",
                 "script_name", "script_id", "line", "column");
  snapshot_texts(s, "trace_node_fields", "id", "function_info_index", "count",
                 "size", "children");
  snapshot_texts(s, "sample_fields", "timestamp_us", "last_assigned_id");
  snapshot_texts(s, "location_fields", "object_index", "script_id", "line",
                 "column");
  lp_json_end(j);
}

/* What the arrays have, and how much of it. */
static void snapshot_header(Snapshot *s, uint64_t nedge)
{
  LpJson *j = &s->json;
  lp_json_object(j, "snapshot");
  snapshot_meta(s);
  lp_json_keynumber(j, "node_count", s->nodes.n);
  lp_json_keynumber(j, "edge_count", nedge);
  lp_json_keynumber(j, "trace_function_count", 0);
  lp_json_end(j);
}

/* -- Identities ------------------------------------------------------------ */

/* The id, or the next one that is free. */
static uint32_t snapshot_id(Snapshot *s, uint32_t id)
{
  while (lp_idmap_get(&s->ids, id) != LP_NONE)
    id += 2;
  lp_idmap_put(&s->ids, id, 0);
  return id;
}

#define SNAPSHOT_WINDOW (1ull << 34) /* Addresses whose ids differ. */

/* The id of an object is odd and the same in each dump of a process: it follows
** from its address.
*/
static uint32_t snapshot_objectid(Snapshot *s, uint32_t object)
{
  uint32_t id = (uint32_t)(s->h->dump.graph.node[object].addr >> 2) | 1;
  return s->apart ? snapshot_id(s, id) : id;
}

/* Could ids that follow from addresses be equal, or that of the root? */
static int snapshot_apart(const Snapshot *s)
{
  uint64_t low = UINT64_MAX, high = 0;
  uint32_t i;
  for (i = 1; i < s->nodes.vm; i++) {
    uint64_t addr = s->h->dump.graph.node[s->nodes.object[i]].addr;
    if (addr % SNAPSHOT_WINDOW < 8)
      return 1;
    low = addr < low ? addr : low;
    high = addr > high ? addr : high;
  }
  return high > low && high - low >= SNAPSHOT_WINDOW;
}

/* The id of a group, or of another node that is no object, is even; it follows
** from its name and the object's that keeps it.
*/
static uint32_t snapshot_otherid(Snapshot *s, uint64_t keeper, uint32_t name)
{
  size_t n, i;
  const char *text = lp_snapshot_nameof(&s->names, name, &n);
  uint64_t h = 0xcbf29ce484222325u ^ keeper; /* FNV-1a: the same in each run. */
  for (i = 0; i < n; i++)
    h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
  return snapshot_id(s, (uint32_t)(h >> 32) & ~1u);
}

/* -- Nodes ----------------------------------------------------------------- */

/* The fields of a node. Its size is cut to the format's numbers. */
static void snapshot_node(Snapshot *s, NodeType type, uint32_t name,
                          uint32_t id, uint64_t size, uint32_t nedges)
{
  LpJson *j = &s->json;
  lp_json_number(j, type);
  lp_json_number(j, name);
  lp_json_number(j, id);
  lp_json_number(j, size < UINT32_MAX ? size : UINT32_MAX);
  lp_json_number(j, nedges);
  lp_json_number(j, 0);
  lp_out_puts(j->out, "\n");
}

/* The type of a node for an object. */
static NodeType snapshot_type(const LpGraph *g, uint32_t object)
{
  static const uint8_t types[16] = {
      [LJM_TYPE_STRING] = NODE_STRING,    [LJM_TYPE_UPVALUE] = NODE_OBJECT,
      [LJM_TYPE_THREAD] = NODE_NATIVE,    [LJM_TYPE_PROTO] = NODE_CODE,
      [LJM_TYPE_FUNCTION] = NODE_CLOSURE, [LJM_TYPE_TRACE] = NODE_CODE,
      [LJM_TYPE_CDATA] = NODE_NATIVE,     [LJM_TYPE_TABLE] = NODE_OBJECT,
      [LJM_TYPE_USERDATA] = NODE_NATIVE};
  NodeType type = types[g->type[object] & 15];
  return type ? type : NODE_OBJECT;
}

/* Nodes of objects. */
static void snapshot_objects(Snapshot *s)
{
  const LpGraph *g = &s->h->dump.graph;
  uint32_t i;
  for (i = 1; i < s->nodes.vm; i++) {
    uint32_t object = s->nodes.object[i];
    snapshot_node(
        s, snapshot_type(g, object), lp_snapshot_object_name(&s->names, i),
        snapshot_objectid(s, object), lp_graph_size(g, object), s->nedges[i]);
  }
}

/* The node of objects that were put together. */
static void snapshot_group(Snapshot *s, uint32_t i)
{
  const LpGraph *g = &s->h->dump.graph;
  const LpSnapshotGroup *group = &s->nodes.group[i];
  uint64_t keeper = group->keeper == LP_NONE ? 1 : g->node[group->keeper].addr;
  uint32_t name = lp_snapshot_group_name(&s->names, i);
  snapshot_node(s, snapshot_type(g, group->one), name,
                snapshot_otherid(s, keeper, name), group->bytes,
                s->nedges[s->nodes.groups + i]);
}

/* A node that is no object. */
static void snapshot_other(Snapshot *s, NodeType type, const char *what,
                           size_t n, uint64_t size, uint32_t node)
{
  uint32_t name = lp_snapshot_name(&s->names, what, n);
  snapshot_node(s, type, name, snapshot_otherid(s, 1, name), size,
                s->nedges[node]);
}

/* Nodes of what is no object: the VM, what is not reached, parts. */
static void snapshot_others(Snapshot *s)
{
  const LpDump *d = &s->h->dump;
  const char *unreached = s->h->doubt == LP_DOUBT_NONE   ? "(garbage)"
                          : s->h->doubt == LP_DOUBT_MADE ? "(not reached)"
                                                         : "(unknown)";
  uint32_t at = s->nodes.parts;
  size_t i;
  snapshot_other(s, NODE_SYNTHETIC, "(the VM)", 8, 0, s->nodes.vm);
  snapshot_other(s, NODE_SYNTHETIC, unreached, strlen(unreached), 0,
                 s->nodes.lost);
  for (i = 0; i < d->npart; i++, at++) {
    size_t n;
    const char *name = lp_intern_get(&d->graph.names, d->part[i].name, &n);
    snapshot_other(s, NODE_NATIVE, name, n, d->part[i].size, at);
  }
  if (at < s->nodes.groups)
    snapshot_other(s, NODE_NATIVE, "in the making", 13, (uint64_t)d->end.making,
                   at);
}

/* All nodes, in the order of their numbers. */
static void snapshot_nodes(Snapshot *s)
{
  uint32_t i;
  lp_json_array(&s->json, "nodes");
  s->apart = snapshot_apart(s);
  snapshot_node(s, NODE_SYNTHETIC, lp_snapshot_cname(&s->names, "(root)"),
                snapshot_id(s, 1), 0, s->nedges[0]);
  snapshot_objects(s);
  snapshot_others(s);
  for (i = 0; i < s->nodes.ngroup; i++)
    snapshot_group(s, i);
  lp_json_end(&s->json);
}

/* -- Edges, locations, strings --------------------------------------------- */

/* Count the edges of each node. Returns how many there are. */
static uint64_t snapshot_count(Snapshot *s)
{
  LpSnapshotEdges w;
  uint64_t sum = 0;
  uint32_t i;
  s->nedges = lp_alloc(s->nodes.n * sizeof(*s->nedges));
  lp_snapshot_edges_open(&w, s->h, &s->nodes, &s->names, NULL);
  for (i = 0; i < s->nodes.n; i++) {
    s->nedges[i] = lp_snapshot_edges(&w, i);
    sum += s->nedges[i];
  }
  lp_snapshot_edges_close(&w);
  return sum;
}

/* All edges, in the order of the nodes that they begin at. */
static void snapshot_edges(Snapshot *s)
{
  LpSnapshotEdges w;
  uint32_t i;
  lp_json_array(&s->json, "edges");
  lp_snapshot_edges_open(&w, s->h, &s->nodes, &s->names, &s->json);
  for (i = 0; i < s->nodes.n; i++)
    lp_snapshot_edges(&w, i);
  lp_snapshot_edges_close(&w);
  lp_json_end(&s->json);
}

/* Where functions are defined: a chunk is a script. */
static void snapshot_locations(Snapshot *s)
{
  const LpDump *d = &s->h->dump;
  LpJson *j = &s->json;
  uint32_t i;
  lp_json_array(j, "locations");
  for (i = 1; i < s->nodes.strings; i++) {
    uint32_t proto = s->nodes.object[i];
    const LpProto *pt;
    if (d->graph.type[proto] == LJM_TYPE_FUNCTION)
      proto = lp_dump_link(d, proto, LP_EDGE_PROTO);
    pt = proto == LP_NONE ? NULL : lp_dump_proto(d, proto);
    if (!pt || pt->line == LP_PROTO_BUILTIN)
      continue;
    lp_json_number(j, (uint64_t)i * LP_SNAPSHOT_NODE);
    lp_json_number(j, (uint64_t)pt->chunk + 1);
    lp_json_number(j, pt->line ? (uint32_t)pt->line - 1 : 0);
    lp_json_number(j, 0);
    lp_out_puts(j->out, "\n");
  }
  lp_json_end(j);
}

/* All strings. */
static void snapshot_strings(Snapshot *s)
{
  lp_json_array(&s->json, "strings");
  lp_snapshot_names_write(&s->names, &s->json);
  lp_json_end(&s->json);
}

/* -- All of it ------------------------------------------------------------- */

/* The whole file. */
static void snapshot_document(Snapshot *s)
{
  uint64_t nedge = snapshot_count(s);
  lp_json_object(&s->json, NULL);
  snapshot_header(s, nedge);
  snapshot_nodes(s);
  snapshot_edges(s);
  snapshot_list(s, "trace_function_infos", NULL, 0);
  snapshot_list(s, "trace_tree", NULL, 0);
  snapshot_list(s, "samples", NULL, 0);
  snapshot_locations(s);
  snapshot_strings(s);
  lp_json_end(&s->json);
}

/* Says what became of objects without a node of their own. */
static void snapshot_note(const Snapshot *s, LpBuf *note)
{
  const LpSnapshotNodes *nodes = &s->nodes;
  uint64_t objects = s->h->dom.n - 1, own = nodes->vm - 1;
  if (own == objects)
    return;
  lp_buf_printf(note,
                "%" PRIu64 " of %" PRIu64 " objects retain less than %" PRIu64
                " bytes: they are %zu groups by %s below what keeps them",
                objects - own, objects, nodes->least, nodes->ngroup,
                nodes->bytype ? "type" : "shape");
}

void lp_heap_snapshot(LpOut *out, const LpHeap *h,
                      const LpSnapshotLimits *limits, LpBuf *note)
{
  Snapshot s = {.h = h};
  lp_snapshot_nodes_open(&s.nodes, h, limits);
  lp_snapshot_names_open(&s.names, h, &s.nodes);
  lp_json_open(&s.json, out);
  snapshot_document(&s);
  snapshot_note(&s, note);
  lp_snapshot_names_close(&s.names);
  lp_idmap_free(&s.ids);
  free(s.nedges);
  lp_snapshot_nodes_close(&s.nodes);
}

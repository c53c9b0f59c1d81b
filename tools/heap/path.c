/*
** Shortest paths from the roots, by a search in breadth.
*/

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "path.h"
#include "printable.h"

#define PATH_TEXT 40 /* Bytes of a string that are shown. */

#define PATH_HEAD 8  /* Steps from the root that are found at once. */
#define PATH_MARK 64 /* Steps between objects whose head is stored. */

/* -- The search ------------------------------------------------------------ */

/* The object on the path to ID that is PATH_HEAD steps from the root. The walk
** up ends at an object for which it is stored.
*/
static uint32_t paths_head(const LpPaths *p, uint32_t id, unsigned depth)
{
  for (; depth > PATH_HEAD; depth--) {
    uint32_t head;
    id = p->from[id];
    head = depth % PATH_MARK == 1 ? lp_idmap_get(&p->heads, id) : LP_NONE;
    if (head != LP_NONE)
      return head;
  }
  return id;
}

/* Stores the heads of paths for the objects of a level, so that the name of an
** object in a long list needs no walk through all of it. Objects that were
** reached from the same one are beside each other.
*/
static void paths_mark(LpPaths *p, const uint32_t *id, size_t n, unsigned depth)
{
  uint32_t head = LP_NONE;
  size_t i;
  for (i = 0; i < n; i++) {
    if (i == 0 || p->from[id[i]] != p->from[id[i - 1]])
      head = paths_head(p, id[i], depth);
    lp_idmap_put(&p->heads, id[i], head);
  }
}

void lp_paths(const LpGraph *g, const uint8_t *stop, LpPaths *p)
{
  uint32_t *queue = lp_alloc(g->n * sizeof(uint32_t));
  size_t at, n = 0, level = 1;
  unsigned depth = 0;
  *p = (LpPaths){.from = lp_alloc(g->n * sizeof(uint32_t)),
                 .edge = lp_alloc(g->n * sizeof(uint32_t))};
  memset(p->from, 0xff, g->n * sizeof(uint32_t));
  queue[n++] = LP_GRAPH_ROOT;
  for (at = 0; at < n; at++) {
    int ends = stop && stop[queue[at]];
    const LpEdge *e = ends ? NULL : lp_graph_first(g, queue[at]);
    if (at == level) {
      level = n;
      if (++depth >= 2 * PATH_MARK && depth % PATH_MARK == 0)
        paths_mark(p, queue + at, level - at, depth);
    }
    for (; e; e = lp_graph_next(e)) {
      uint32_t to = lp_edge_to(e);
      if (to == LP_GRAPH_ROOT || p->from[to] != LP_NONE)
        continue;
      p->from[to] = queue[at];
      p->edge[to] = (uint32_t)(e - g->edge);
      queue[n++] = to;
    }
  }
  free(queue);
}

void lp_paths_free(LpPaths *p)
{
  free(p->from);
  free(p->edge);
  lp_idmap_free(&p->heads);
  memset(p, 0, sizeof(*p));
}

/* -- Steps ----------------------------------------------------------------- */

/* Is a key a name as Lua has them, which needs no brackets? */
static int path_isname(const char *s, size_t n)
{
  size_t i;
  for (i = 0; i < n; i++)
    if (!isalpha((unsigned char)s[i]) && s[i] != '_' &&
        !(i && isdigit((unsigned char)s[i])))
      return 0;
  return n > 0;
}

/* A string, as Lua writes it, or its beginning. */
static void path_quoted(LpBuf *b, const char *s, size_t n)
{
  lp_buf_puts(b, "\"");
  lp_graph_quote(b, s, n < PATH_TEXT ? n : PATH_TEXT);
  lp_buf_puts(b, n > PATH_TEXT ? "...\"" : "\"");
}

/* Append one of the graph's names, with escapes. */
static void path_graphname(LpBuf *b, const LpGraph *g, uint32_t name)
{
  size_t n;
  const char *s = lp_intern_get(&g->names, name, &n);
  lp_graph_quote(b, s, n);
}

/* The value of a key that is an object. */
static void path_field(LpBuf *b, const LpGraph *g, uint32_t key)
{
  size_t n;
  const char *s = lp_graph_textof(g, key, &n);
  if (s && path_isname(s, n)) {
    lp_buf_puts(b, ".");
    lp_buf_add(b, s, n);
  } else if (s) {
    lp_buf_puts(b, "[");
    path_quoted(b, s, n);
    lp_buf_puts(b, "]");
  } else {
    lp_buf_printf(b, "[%s]", lp_path_type(g->type[key]));
  }
}

/* The name of a function's upvalue, if its prototype has it. */
static void path_upvalue(LpBuf *b, const LpDump *d, uint32_t fn, uint32_t i)
{
  const LpGraph *g = &d->graph;
  const LpEdge *e = lp_graph_first(g, fn);
  const LpProto *pt = NULL;
  for (; e && !pt; e = lp_graph_next(e))
    if (lp_edge_kind(e) == LP_EDGE_PROTO)
      pt = lp_dump_proto(d, lp_edge_to(e));
  if (pt && i < pt->nuv) {
    lp_buf_puts(b, ":");
    path_graphname(b, g, d->uvname[pt->uvname + i]);
  } else {
    lp_buf_printf(b, ":upvalue %" PRIu32, i + 1);
  }
}

void lp_path_step(LpBuf *b, const LpDump *d, uint32_t from, const LpEdge *e)
{
  static const char *const plain[] = {
      [LP_EDGE_KEY] = "<key>",         [LP_EDGE_META] = "<metatable>",
      [LP_EDGE_ENV] = "<environment>", [LP_EDGE_CONTENT] = "",
      [LP_EDGE_PROTO] = "<prototype>", [LP_EDGE_CONSTANT] = "<constant>"};
  uint32_t detail = lp_edge_detail(e);
  switch (lp_edge_kind(e)) {
  case LP_EDGE_ROOT:
    path_graphname(b, &d->graph, detail);
    break;
  case LP_EDGE_FIELD:
    path_field(b, &d->graph, detail);
    break;
  case LP_EDGE_ITEM:
    if (detail == LP_EDGE_MANY)
      lp_buf_puts(b, "[?]");
    else
      lp_buf_printf(b, "[%" PRIu32 "]", detail);
    break;
  case LP_EDGE_VALUE:
    lp_buf_puts(b, "[");
    if (detail)
      path_graphname(b, &d->graph, detail - 1);
    lp_buf_puts(b, detail ? "]" : "?]");
    break;
  case LP_EDGE_UPVALUE:
    path_upvalue(b, d, from, detail);
    break;
  case LP_EDGE_SLOT:
    lp_buf_printf(b, "<stack slot %" PRIu32 ">", detail);
    break;
  case LP_EDGE_LOCAL:
    lp_buf_puts(b, "<local ");
    path_graphname(b, &d->graph, detail);
    lp_buf_puts(b, ">");
    break;
  case LP_EDGE_FRAME: /* The line where it is differs from dump to dump. */
    lp_buf_puts(b, "<");
    lp_path_object(b, d, lp_edge_to(e));
    lp_buf_puts(b, ">");
    break;
  case LP_EDGE_LINK:
    lp_buf_puts(b, "<");
    path_graphname(b, &d->graph, detail);
    lp_buf_puts(b, ">");
    break;
  default:
    lp_buf_puts(b, plain[lp_edge_kind(e)]);
    break;
  }
}

/* -- Names ----------------------------------------------------------------- */

/* Appends the steps to N objects, the last one first. */
static void path_steps(LpBuf *b, const LpDump *d, const LpPaths *p,
                       const uint32_t *id, size_t n)
{
  while (n-- > 0)
    lp_path_step(b, d, p->from[id[n]], &d->graph.edge[p->edge[id[n]]]);
}

/* Puts into ID the objects from one up to the root; or up to the first one,
** behind LEAST, whose head is stored: that is returned, else LP_NONE.
*/
static uint32_t path_up(const LpPaths *p, uint32_t at, size_t least,
                        uint32_t *id, size_t *n)
{
  for (*n = 0; at != LP_GRAPH_ROOT; at = p->from[at]) {
    uint32_t head = *n < least ? LP_NONE : lp_idmap_get(&p->heads, at);
    if (head != LP_NONE)
      return head;
    id[(*n)++] = at;
  }
  return LP_NONE;
}

int lp_path_name(LpBuf *b, const LpDump *d, const LpPaths *p, uint32_t id,
                 unsigned most)
{
  uint32_t up[3 * PATH_MARK], top[PATH_HEAD], head;
  size_t n, ntop, half = most < 2 * PATH_HEAD ? most / 2 : PATH_HEAD;
  if (id != LP_GRAPH_ROOT && p->from[id] == LP_NONE) {
    lp_buf_puts(b, "(unreachable)");
    return 1;
  }
  head = path_up(p, id, half, up, &n);
  if (head == LP_NONE && n <= most) {
    path_steps(b, d, p, up, n);
    return 1;
  }
  if (head == LP_NONE)
    path_steps(b, d, p, up + n - half, half);
  else if (path_up(p, head, PATH_HEAD, top, &ntop) == LP_NONE)
    path_steps(b, d, p, top + ntop - half, half);
  lp_buf_puts(b, "...");
  path_steps(b, d, p, up, half);
  return 0;
}

/* The function of the frame that a slot of a stack belongs to, or LP_NONE. */
static uint32_t path_frame(const LpGraph *g, uint32_t thread,
                           const LpEdge *slot)
{
  const LpEdge *e = lp_graph_first(g, thread);
  uint32_t fn = LP_NONE;
  for (; e && e != slot; e = lp_graph_next(e))
    if (lp_edge_kind(e) == LP_EDGE_FRAME)
      fn = lp_edge_to(e);
  return fn;
}

uint32_t lp_path_code(const LpDump *d, const LpPaths *p, uint32_t id)
{
  const LpGraph *g = &d->graph;
  uint32_t at = id;
  while (at != LP_GRAPH_ROOT && p->from[at] != LP_NONE) {
    const LpEdge *e = &g->edge[p->edge[at]];
    LpEdgeKind kind = lp_edge_kind(e);
    uint32_t fn = LP_NONE, proto = LP_NONE;
    at = p->from[at];
    if (kind == LP_EDGE_UPVALUE)
      fn = at;
    else if (kind == LP_EDGE_LOCAL || kind == LP_EDGE_SLOT)
      fn = path_frame(g, at, e);
    if (fn != LP_NONE)
      proto = lp_dump_link(d, fn, LP_EDGE_PROTO);
    if (proto != LP_NONE)
      return proto;
  }
  return LP_NONE;
}

const char *lp_path_type(unsigned type)
{
  static const char *const names[] = {
      [LJM_TYPE_STRING] = "string",     [LJM_TYPE_UPVALUE] = "upvalue",
      [LJM_TYPE_THREAD] = "thread",     [LJM_TYPE_PROTO] = "prototype",
      [LJM_TYPE_FUNCTION] = "function", [LJM_TYPE_TRACE] = "trace",
      [LJM_TYPE_CDATA] = "cdata",       [LJM_TYPE_TABLE] = "table",
      [LJM_TYPE_USERDATA] = "userdata"};
  return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type]
                                                                : "object";
}

void lp_path_proto(LpBuf *b, const LpDump *d, uint32_t id)
{
  const LpProto *pt = lp_dump_proto(d, id);
  size_t n;
  const char *s;
  if (!pt)
    return;
  s = lp_intern_get(&d->graph.names, pt->chunk, &n);
  lp_buf_puts(b, " ");
  if (pt->line == LP_PROTO_BUILTIN) {
    lp_buf_puts(b, "builtin ");
    lp_printable(b, (LpStr){s, n});
    return;
  }
  lp_printable_file(b, (LpStr){s, n});
  lp_buf_printf(b, ":%" PRIu64, pt->line);
}

int lp_path_last(LpBuf *b, const LpDump *d, const LpPaths *p, uint32_t id)
{
  LpBuf step = {0};
  const char *s;
  size_t n;
  if (id == LP_GRAPH_ROOT || p->from[id] == LP_NONE)
    return 0;
  lp_path_step(&step, d, p->from[id], &d->graph.edge[p->edge[id]]);
  s = step.n ? step.s : "";
  s += *s == '.' || *s == ':';
  n = strlen(s);
  if (n > 4 && memcmp(s, "[\"", 2) == 0) { /* A key that is no name. */
    s += 2;
    n -= 4;
  }
  if (n > 8 && memcmp(s, "upvalue ", 8) == 0) /* A number is no name. */
    n = 0;
  if (n && *s != '<' && *s != '[')
    lp_buf_add(b, s, n);
  else
    n = 0;
  lp_buf_free(&step);
  return n > 0;
}

void lp_path_object(LpBuf *b, const LpDump *d, uint32_t id)
{
  const LpGraph *g = &d->graph;
  uint32_t proto = id;
  const char *text;
  size_t n;
  lp_buf_puts(b, lp_path_type(g->type[id]));
  if (g->type[id] == LJM_TYPE_FUNCTION)
    proto = lp_dump_link(d, id, LP_EDGE_PROTO);
  lp_identifiers_add(b, d, proto == LP_NONE ? id : proto);
  if (proto != LP_NONE)
    lp_path_proto(b, d, proto);
  else
    lp_buf_puts(b, " in C");
  text = lp_graph_textof(g, id, &n);
  if (text) {
    lp_buf_puts(b, " ");
    path_quoted(b, text, n);
  }
}

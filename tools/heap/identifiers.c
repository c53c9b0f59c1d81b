/*
** Names that the program itself has for functions and metatables.
*/

#include <stdlib.h>
#include <string.h>

#include "dump.h"

/* What a name is taken from; the larger one is preferred. */
enum { NAME_NONE, NAME_LOCAL, NAME_UPVALUE, NAME_FIELD, NAME_MANY };

/* -- Candidates ------------------------------------------------------------ */

/* Has OBJECT the name? Closures of one prototype that have different names
** have none together.
*/
static void names_put(LpIdentifiers *names, const LpDump *d, uint32_t object,
                      uint32_t name, uint8_t rank)
{
  uint32_t of = object, at;
  LpIdentifier *g;
  if (d->graph.type[object] == LJM_TYPE_FUNCTION)
    of = lp_dump_link(d, object, LP_EDGE_PROTO);
  of = of == LP_NONE ? object : of;
  at = lp_idmap_add(&names->of, of, (uint32_t)names->n);
  if (at == names->n) {
    names->list = lp_grow(names->list, &names->cap, names->n + 1, sizeof(*g));
    names->list[names->n++] = (LpIdentifier){object, name, rank};
    return;
  }
  g = &names->list[at];
  if (rank > g->rank)
    *g = (LpIdentifier){object, name, rank};
  else if (rank == g->rank && g->function != object && g->name != name)
    g->rank = NAME_MANY;
}

/* Is it a key that names what it leads to? Keys with underscores are
** the VM's.
*/
static int names_iskey(const LpGraph *g, uint32_t key)
{
  size_t n;
  const char *s = lp_graph_textof(g, key, &n);
  return s && n && n <= 40 && *s != '_';
}

/* Is it a metatable, or the table where one looks up fields? */
static int names_isclass(const LpIdentifiers *names, uint32_t id)
{
  return lp_idmap_get(&names->of, id) != LP_NONE;
}

/* Is the name of an object worth to be known: of a function, or a class? */
static int names_wants(const LpIdentifiers *names, const LpGraph *g,
                       uint32_t id)
{
  return g->type[id] == LJM_TYPE_FUNCTION ||
         (g->type[id] == LJM_TYPE_TABLE && names_isclass(names, id));
}

/* The upvalues of a function, whose names its prototype has. */
static void names_upvalue(LpIdentifiers *names, const LpDump *d, uint32_t fn,
                          const LpEdge *e)
{
  const LpProto *pt = NULL;
  uint32_t proto = lp_dump_link(d, fn, LP_EDGE_PROTO), i = lp_edge_detail(e);
  uint32_t held = lp_dump_link(d, lp_edge_to(e), LP_EDGE_CONTENT);
  if (proto != LP_NONE && held != LP_NONE)
    pt = lp_dump_proto(d, proto);
  if (pt && i < pt->nuv && names_wants(names, &d->graph, held))
    names_put(names, d, held, d->uvname[pt->uvname + i], NAME_UPVALUE);
}

/* A reference: what it leads to may have its name. */
static void names_edge(LpIdentifiers *names, const LpDump *d, uint32_t from,
                       const LpEdge *e)
{
  const LpGraph *g = &d->graph;
  uint32_t to = lp_edge_to(e), detail = lp_edge_detail(e);
  if (lp_edge_kind(e) == LP_EDGE_UPVALUE)
    names_upvalue(names, d, from, e);
  else if (!names_wants(names, g, to))
    return;
  else if (lp_edge_kind(e) == LP_EDGE_FIELD && names_iskey(g, detail))
    names_put(names, d, to, detail, NAME_FIELD);
  else if (lp_edge_kind(e) == LP_EDGE_LOCAL)
    names_put(names, d, to, detail, NAME_LOCAL);
}

/* -- All of them ----------------------------------------------------------- */

/* The value of a metatable's __index, or LP_NONE. */
static uint32_t names_index(const LpGraph *g, uint32_t meta)
{
  const LpEdge *e = lp_graph_first(g, meta);
  for (; e; e = lp_graph_next(e)) {
    size_t n;
    const char *s = lp_edge_kind(e) == LP_EDGE_FIELD
                        ? lp_graph_textof(g, lp_edge_detail(e), &n)
                        : NULL;
    if (s && n == 7 && memcmp(s, "__index", n) == 0)
      return lp_edge_to(e);
  }
  return LP_NONE;
}

/* A table is to have a name. */
static void names_class(LpIdentifiers *names, const LpDump *d, uint32_t id)
{
  if (id != LP_NONE && d->graph.type[id] == LJM_TYPE_TABLE &&
      !names_isclass(names, id))
    names_put(names, d, id, LP_NONE, NAME_NONE);
}

void lp_identifiers_open(LpIdentifiers *names, const LpDump *d)
{
  const LpGraph *g = &d->graph;
  const LpEdge *e;
  uint32_t id;
  for (id = 1; id < g->n; id++) {
    for (e = lp_graph_first(g, id); e; e = lp_graph_next(e)) {
      uint32_t to = lp_edge_to(e);
      if (lp_edge_kind(e) != LP_EDGE_META || names_isclass(names, to))
        continue;
      names_class(names, d, to);
      names_class(names, d, names_index(g, to));
    }
  }
  for (id = 1; id < g->n; id++)
    for (e = lp_graph_first(g, id); e; e = lp_graph_next(e))
      names_edge(names, d, id, e);
}

void lp_identifiers_close(LpIdentifiers *names)
{
  lp_idmap_free(&names->of);
  free(names->list);
  memset(names, 0, sizeof(*names));
}

/* -- Names ----------------------------------------------------------------- */

/* The identifier of an object, or NULL. */
static const LpIdentifier *names_get(const LpDump *d, uint32_t id)
{
  uint32_t at = lp_idmap_get(&d->names.of, id);
  return at == LP_NONE ? NULL : &d->names.list[at];
}

int lp_identifiers_add(LpBuf *b, const LpDump *d, uint32_t id)
{
  const LpIdentifier *name = names_get(d, id), *other = NULL;
  const char *s;
  size_t n;
  uint32_t index = LP_NONE;
  if (d->graph.type[id] == LJM_TYPE_TABLE)
    index = names_index(&d->graph, id);
  if (index != LP_NONE)
    other = names_get(d, index);
  if (other &&
      (!name || (other->rank == NAME_FIELD && name->rank != NAME_FIELD)))
    name = other;
  if (!name || name->rank == NAME_NONE || name->rank == NAME_MANY)
    return 0;
  s = name->rank == NAME_FIELD ? lp_graph_textof(&d->graph, name->name, &n)
                               : lp_intern_get(&d->graph.names, name->name, &n);
  lp_buf_puts(b, " ");
  lp_graph_quote(b, s, n);
  return 1;
}

/*
** Names that the program itself has for functions and metatables.
*/

#include <stdlib.h>
#include <string.h>

#include "ctype_name.h"

/* What a name is taken from; the larger one is preferred. */
enum { NAME_NONE, NAME_LOCAL, NAME_UPVALUE, NAME_FIELD, NAME_MANY };

/* While names are looked for. */
typedef struct Find {
  LpIdentifiers *names;
  const LpDump *d;
  LpIdMap tables; /* Those with functions whose definition is gone. */
  LpIdMap homes;  /* A table and a chunk: its code stores functions there. */
} Find;

#define HOME_ANY LP_NONE /* Instead of a chunk: code of any. */

/* -- Where code stores its functions --------------------------------------- */

/* The chunk of a Lua function; LP_NONE if it has none. */
static uint32_t names_chunk(const LpDump *d, uint32_t fn)
{
  uint32_t proto = lp_dump_link(d, fn, LP_EDGE_PROTO);
  const LpProto *pt = proto == LP_NONE ? NULL : lp_dump_proto(d, proto);
  return pt ? pt->chunk : LP_NONE;
}

/* Is it a Lua function whose definition is gone? */
static int names_isorphan(const LpDump *d, uint32_t fn)
{
  uint32_t proto = LP_NONE;
  if (d->graph.type[fn] == LJM_TYPE_FUNCTION)
    proto = lp_dump_link(d, fn, LP_EDGE_PROTO);
  return proto != LP_NONE && lp_idmap_get(&d->defined, proto) == LP_NONE;
}

/* Functions of a chunk are stored in a table, if that has any. */
static void find_home(Find *f, uint32_t table, uint32_t chunk)
{
  if (table != LP_NONE && lp_idmap_get(&f->tables, table) != LP_NONE)
    lp_idmap_put(&f->homes, (uint64_t)table << 32 | chunk, 1);
}

/* Does code of a function's chunk store its functions in a table? */
static int find_ishome(const Find *f, uint32_t table, uint32_t fn)
{
  uint64_t key = (uint64_t)table << 32;
  return lp_idmap_get(&f->homes, key | HOME_ANY) != LP_NONE ||
         lp_idmap_get(&f->homes, key | names_chunk(f->d, fn)) != LP_NONE;
}

/* The tables that are fields of a table. */
static void find_modules(Find *f, uint32_t table)
{
  const LpGraph *g = &f->d->graph;
  const LpEdge *e = table == LP_NONE ? NULL : lp_graph_first(g, table);
  for (; e; e = lp_graph_next(e))
    if (lp_edge_kind(e) == LP_EDGE_FIELD)
      find_home(f, lp_edge_to(e), HOME_ANY);
}

/* Globals and loaded modules. */
static void find_globals(Find *f)
{
  const LpDump *d = f->d;
  size_t i;
  for (i = 0; i < d->nroot; i++) {
    uint32_t to = lp_edge_to(&d->root[i]);
    if (lp_dump_isroot(d, &d->root[i], "_G")) {
      find_home(f, to, HOME_ANY);
      find_modules(f, to);
    }
  }
  find_modules(f, lp_dump_modules(d));
}

/* What a function has as an upvalue, or LP_NONE. */
static uint32_t names_held(const LpDump *d, const LpEdge *e)
{
  return lp_edge_kind(e) == LP_EDGE_UPVALUE
             ? lp_dump_link(d, lp_edge_to(e), LP_EDGE_CONTENT)
             : LP_NONE;
}

/* Tables that functions have as upvalues. */
static void find_upvalues(Find *f, uint32_t fn)
{
  const LpEdge *e = lp_graph_first(&f->d->graph, fn);
  uint32_t chunk = names_chunk(f->d, fn);
  for (; e && chunk != LP_NONE; e = lp_graph_next(e))
    find_home(f, names_held(f->d, e), chunk);
}

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

/* Is it a class or a function in C? These have the name that holders have for
** them; a Lua function has that of a place where its chunk stores it.
*/
static int names_isheld(const Find *f, uint32_t id)
{
  const LpDump *d = f->d;
  switch (d->graph.type[id]) {
  case LJM_TYPE_TABLE:
    return names_isclass(f->names, id);
  case LJM_TYPE_FUNCTION:
    return lp_dump_link(d, id, LP_EDGE_PROTO) == LP_NONE;
  case LJM_TYPE_CDATA:
    return lp_ctype_isfunction(d, lp_idmap_get(&d->number, id));
  default:
    return 0;
  }
}

/* The upvalues of a function, whose names its prototype has. */
static void names_upvalue(const Find *f, uint32_t fn, const LpEdge *e)
{
  const LpDump *d = f->d;
  const LpProto *pt = NULL;
  uint32_t proto = lp_dump_link(d, fn, LP_EDGE_PROTO), i = lp_edge_detail(e);
  uint32_t held = names_held(d, e);
  if (proto != LP_NONE && held != LP_NONE)
    pt = lp_dump_proto(d, proto);
  if (pt && i < pt->nuv &&
      (names_isheld(f, held) ||
       (names_isorphan(d, held) && names_chunk(d, held) == pt->chunk)))
    names_put(f->names, d, held, d->uvname[pt->uvname + i], NAME_UPVALUE);
}

/* The field of a table. */
static void names_fieldof(const Find *f, uint32_t table, const LpEdge *e)
{
  uint32_t to = lp_edge_to(e);
  if (names_iskey(&f->d->graph, lp_edge_detail(e)) &&
      (names_isheld(f, to) ||
       (names_isorphan(f->d, to) &&
        (names_isclass(f->names, table) || find_ishome(f, table, to)))))
    names_put(f->names, f->d, to, lp_edge_detail(e), NAME_FIELD);
}

/* A reference: what it leads to may have its name. */
static void names_edge(const Find *f, uint32_t from, const LpEdge *e)
{
  if (lp_edge_kind(e) == LP_EDGE_UPVALUE)
    names_upvalue(f, from, e);
  else if (lp_edge_kind(e) == LP_EDGE_FIELD)
    names_fieldof(f, from, e);
  else if (lp_edge_kind(e) == LP_EDGE_LOCAL && names_isheld(f, lp_edge_to(e)))
    names_put(f->names, f->d, lp_edge_to(e), lp_edge_detail(e), NAME_LOCAL);
}

/* -- All of them ----------------------------------------------------------- */

/* A table is to have a name. */
static void names_class(LpIdentifiers *names, const LpDump *d, uint32_t id)
{
  if (id != LP_NONE && d->graph.type[id] == LJM_TYPE_TABLE &&
      !names_isclass(names, id))
    names_put(names, d, id, LP_NONE, NAME_NONE);
}

/* Finds metatables, the tables where they look up fields, and those that have
** functions.
*/
static void find_tables(Find *f, uint32_t id)
{
  const LpGraph *g = &f->d->graph;
  const LpEdge *e = lp_graph_first(g, id);
  int has = 0;
  for (; e; e = lp_graph_next(e)) {
    uint32_t to = lp_edge_to(e);
    if (lp_edge_kind(e) == LP_EDGE_FIELD && !has) {
      has = names_isorphan(f->d, to);
    } else if (lp_edge_kind(e) == LP_EDGE_META &&
               !names_isclass(f->names, to)) {
      names_class(f->names, f->d, to);
      names_class(f->names, f->d, lp_dump_field(f->d, to, "__index"));
    }
  }
  if (has)
    lp_idmap_put(&f->tables, id, 1);
}

void lp_identifiers_open(LpIdentifiers *names, const LpDump *d)
{
  const LpGraph *g = &d->graph;
  const LpEdge *e;
  Find f = {.names = names, .d = d};
  uint32_t id;
  for (id = 1; id < g->n; id++)
    find_tables(&f, id);
  find_globals(&f);
  for (id = 1; id < g->n; id++)
    if (g->type[id] == LJM_TYPE_FUNCTION)
      find_upvalues(&f, id);
  for (id = 1; id < g->n; id++)
    for (e = lp_graph_first(g, id); e; e = lp_graph_next(e))
      names_edge(&f, id, e);
  lp_idmap_free(&f.tables);
  lp_idmap_free(&f.homes);
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

/* Append a name behind a space; an empty one is none, for which 0 is returned.
 */
static int names_add(LpBuf *b, const char *s, size_t n)
{
  if (!n)
    return 0;
  lp_buf_puts(b, " ");
  lp_graph_quote(b, s, n);
  return 1;
}

int lp_identifiers_add(LpBuf *b, const LpDump *d, uint32_t id)
{
  const LpIdentifier *name = names_get(d, id), *other = NULL;
  const char *s;
  size_t n;
  uint32_t index = LP_NONE, defined = lp_idmap_get(&d->defined, id);
  if (defined != LP_NONE) {
    s = lp_intern_get(&d->graph.names, defined, &n);
    return names_add(b, s, n);
  }
  if (d->graph.type[id] == LJM_TYPE_TABLE)
    index = lp_dump_field(d, id, "__index");
  if (index != LP_NONE)
    other = names_get(d, index);
  if (other &&
      (!name || (other->rank == NAME_FIELD && name->rank != NAME_FIELD)))
    name = other;
  if (!name || name->rank == NAME_NONE || name->rank == NAME_MANY)
    return 0;
  s = name->rank == NAME_FIELD ? lp_graph_textof(&d->graph, name->name, &n)
                               : lp_intern_get(&d->graph.names, name->name, &n);
  return names_add(b, s, n);
}

/*
** Sets of a VM's functions, and how roles spread in its call graph.
*/

#include <string.h>

#include "rolegraph.h"

#define ROLES_EDGES 256 /* Callees that are looked at: a VM's have fewer. */

int ls_roles_calls(const LsRoles *r, uint32_t from, uint32_t to)
{
  return from != LS_FUNC_NONE &&
         ls_callgraph_has(&r->g, from, to, LS_EDGE_CALL);
}

/* It can be identified: it has no name, and is code of the VM's in C. */
int ls_roles_inner(const LsRoles *r, uint32_t f)
{
  return f != r->g.hub && !r->exported[f];
}

/* The edges of a function, *N of them. */
const LsEdge *ls_roles_edges(const LsRoles *r, uint32_t f, uint32_t *n)
{
  *n = r->g.first[f + 1] - r->g.first[f];
  return r->g.edge + r->g.first[f];
}

/* The same, of one whose edges are compared with those of others: not more than
** a function of a VM has.
*/
const LsEdge *ls_roles_few(const LsRoles *r, uint32_t f, uint32_t *n)
{
  const LsEdge *e = ls_roles_edges(r, f, n);
  if (*n > ROLES_EDGES)
    *n = ROLES_EDGES;
  return e;
}

/* The only callee of FROM, of the VM's own, that passes; or LS_FUNC_NONE. */
uint32_t ls_roles_callee(const LsRoles *r, uint32_t from, LsRolesTest *test)
{
  uint32_t n, i, found = LS_FUNC_NONE;
  const LsEdge *e;
  if (from == LS_FUNC_NONE)
    return from;
  e = ls_roles_few(r, from, &n);
  for (i = 0; i < n; i++) {
    if (e[i].kind != LS_EDGE_CALL || !ls_roles_inner(r, e[i].to) ||
        !test(r, e[i].to))
      continue;
    if (found != LS_FUNC_NONE)
      return LS_FUNC_NONE;
    found = e[i].to;
  }
  return found;
}

/* Set the role of a function that has none. */
int ls_roles_assign(LsRoles *r, uint32_t f, LsRole role)
{
  if (f == LS_FUNC_NONE || !ls_roles_inner(r, f) || r->role[f])
    return 0;
  r->role[f] = (uint8_t)role;
  return 1;
}

void ls_roles_clear(const LsRoles *r, uint8_t *set)
{
  memset(set, 0, r->g.n);
}

/* In r->b: what is dominated by the functions in r->gate, and they. Returns
** its size in bytes of code.
*/
uint64_t ls_roles_dominated(LsRoles *r)
{
  const LsCallGraph *g = &r->g;
  uint64_t size = 0;
  uint32_t f;
  for (f = 0; f < g->n; f++) {
    r->a[f] = !r->gate[f] && (g->outside[f] || r->api[f] || f == g->hub);
    r->b[f] = r->gate[f];
  }
  ls_callgraph_reach(g, r->gate, r->a, r->stack);
  /* What can be reached without them is a gate now, not to be passed. */
  ls_callgraph_reach(g, r->a, r->b, r->stack);
  for (f = 0; f < g->n; f++)
    if (r->b[f] && ls_roles_inner(r, f))
      size += g->range[f].hi - g->range[f].lo;
  return size;
}

/* Functions that are dominated by those in r->gate have a role. */
void ls_roles_assign_dominated(LsRoles *r, LsRole role)
{
  uint32_t f;
  ls_roles_dominated(r);
  for (f = 0; f < r->g.n; f++)
    if (r->b[f])
      ls_roles_assign(r, f, role);
}

/* In SET: the functions that one of ROLE leads to. */
void ls_roles_led_by(const LsRoles *r, LsRole role, uint8_t *set)
{
  size_t i;
  ls_roles_clear(r, set);
  for (i = 0; i < r->g.nedge; i++)
    if (r->role[r->g.edge[i].from] == role)
      set[r->g.edge[i].to] = 1;
}

/*
** Which functions of a VM read source code, and which compile it.
*/

#include "rolegraph.h"

#define ROLES_TRIES   64    /* Functions that might be the compiler. */
#define ROLES_JIT_MIN 65536 /* Bytes of code: no JIT compiler has fewer. */

/* lj_vm_cpcall: the only address of the interpreter that lua_loadx calls. */
void ls_roles_cpcall(LsRoles *r)
{
  size_t i, n = 0;
  for (i = 0; i < r->g.ninto; i++)
    if (r->g.into[i].from == r->anchor[LUA_LOADX]) {
      n += r->cpcall != r->g.into[i].addr;
      r->cpcall = r->g.into[i].addr;
    }
  if (n != 1)
    r->cpcall = 0;
}

void ls_roles_parser(LsRoles *r)
{
  uint32_t n, i, loadx = r->anchor[LUA_LOADX];
  const LsEdge *e;
  if (loadx == LS_FUNC_NONE)
    return;
  e = ls_roles_edges(r, loadx, &n);
  ls_roles_clear(r, r->gate);
  r->gate[loadx] = 1;
  for (i = 0; i < n; i++)
    if (e[i].kind == LS_EDGE_REF && ls_roles_inner(r, e[i].to))
      r->gate[e[i].to] = 1;
  ls_roles_assign_dominated(r, LS_ROLE_PARSER);
}

/* The compiler's state machine: of what is called in a protected way, that
** which has by far the most code to itself.
*/
static uint32_t find_compiler(LsRoles *r)
{
  uint64_t most = ROLES_JIT_MIN, size;
  uint32_t n, k, best = LS_FUNC_NONE;
  unsigned tries = 0;
  const LsEdge *e;
  size_t i;
  for (i = 0; r->cpcall && i < r->g.ninto; i++) {
    if (r->g.into[i].addr != r->cpcall)
      continue;
    e = ls_roles_few(r, r->g.into[i].from, &n);
    for (k = 0; k < n; k++) {
      if (e[k].kind != LS_EDGE_REF || !ls_roles_inner(r, e[k].to) ||
          tries++ >= ROLES_TRIES)
        continue;
      ls_roles_clear(r, r->gate);
      r->gate[e[k].to] = 1;
      size = ls_roles_dominated(r);
      if (size > most) {
        most = size;
        best = e[k].to;
      }
    }
  }
  return best;
}

/* In r->a: the functions that make protected calls. */
static void find_protected(LsRoles *r)
{
  size_t i;
  ls_roles_clear(r, r->a);
  for (i = 0; i < r->g.ninto; i++)
    if (r->g.into[i].addr == r->cpcall)
      r->a[r->g.into[i].from] = 1;
}

/* The compiler, and what the interpreter calls of it: when code is hot, and at
** the exit of a trace, which also makes a protected call.
*/
void ls_roles_jit(LsRoles *r)
{
  uint32_t state = find_compiler(r), ins = LS_FUNC_NONE, n, i, m;
  const LsEdge *e;
  size_t k;
  if (state == LS_FUNC_NONE)
    return;
  ls_roles_clear(r, r->gate);
  r->gate[state] = 1;
  for (k = 0; k < r->g.nedge; k++)
    if (r->g.edge[k].to == state && r->g.edge[k].kind == LS_EDGE_REF)
      ins = r->g.edge[k].from;
  if (ins != LS_FUNC_NONE && ls_roles_inner(r, ins)) {
    r->gate[ins] = 1;
    find_protected(r);
    e = ls_roles_edges(r, r->g.hub, &n);
    for (i = 0; i < n; i++) {
      ls_roles_edges(r, e[i].to, &m);
      if (ls_roles_inner(r, e[i].to) && ls_roles_calls(r, e[i].to, ins) &&
          (r->a[e[i].to] || m <= 2))
        r->gate[e[i].to] = 1;
    }
  }
  ls_roles_assign_dominated(r, LS_ROLE_JIT);
}

/*
** Which functions of a VM allocate memory and collect it.
*/

#include <string.h>

#include "rolegraph.h"
#include "x86.h"

/* -- Collector ------------------------------------------------------------ */

/* Do all that allocate, and lua_gc(), call it? */
static int is_step(const LsRoles *r, uint32_t f)
{
  return ls_roles_calls(r, r->anchor[LUA_GC], f) &&
         ls_roles_calls(r, r->anchor[LUA_CREATETABLE], f) &&
         ls_roles_calls(r, r->anchor[LUA_NEWUSERDATA], f) &&
         ls_roles_calls(r, r->anchor[LUA_PUSHCCLOSURE], f);
}

/* The step of the state machine: a full collection calls it, too. */
static int is_onestep(const LsRoles *r, uint32_t f)
{
  uint32_t n, i, gc = r->anchor[LUA_GC];
  const LsEdge *e = ls_roles_few(r, gc, &n);
  if (ls_roles_calls(r, gc, f))
    return 1;
  for (i = 0; i < n; i++)
    if (e[i].to != r->step && ls_roles_inner(r, e[i].to) &&
        ls_roles_calls(r, e[i].to, f))
      return 1;
  return 0;
}

/* All that it calls is the collector's, and it does little itself: more than a
** barrier only if it makes steps, or if the collector calls it.
*/
static int calls_collector(const LsRoles *r, uint32_t f)
{
  uint64_t size = r->g.range[f].hi - r->g.range[f].lo;
  uint64_t most = r->a[f] ? ROLES_SMALL : ROLES_BARRIER;
  uint32_t n, i;
  const LsEdge *e = ls_roles_edges(r, f, &n);
  for (i = 0; i < n; i++) {
    if (e[i].kind != LS_EDGE_CALL || r->role[e[i].to] != LS_ROLE_COLLECTOR)
      return 0;
    if (e[i].to == r->step || e[i].to == r->onestep)
      most = ROLES_SMALL;
  }
  return n && size <= most;
}

/* In r->a: the only callees of functions that the interpreter calls. */
static void find_passed_on(const LsRoles *r)
{
  uint32_t n, i, k, m;
  const LsEdge *e = ls_roles_edges(r, r->g.hub, &n), *v;
  ls_roles_clear(r, r->a);
  for (i = 0; i < n; i++) {
    if (e[i].kind != LS_EDGE_CALL || !ls_roles_inner(r, e[i].to))
      continue;
    v = ls_roles_few(r, e[i].to, &m);
    for (k = 1; k < m && v[k].to == v->to; k++)
      ;
    if (m && k == m)
      r->a[v->to] = 1;
  }
}

/* Marks an object: the state machine calls it, and so does a barrier that the
** interpreter calls and that calls nothing else.
*/
static int is_mark(const LsRoles *r, uint32_t f)
{
  return r->a[f];
}

/* It is a small function that only passes on to the collector, as barriers and
** the ways to make a step are.
*/
static void assign_barriers(LsRoles *r)
{
  uint32_t f;
  ls_roles_led_by(r, LS_ROLE_COLLECTOR, r->a);
  for (f = 0; f < r->g.n; f++)
    if (r->g.owner[f] == f && ls_roles_inner(r, f) && !r->role[f] &&
        calls_collector(r, f))
      r->role[f] = LS_ROLE_COLLECTOR;
}

int ls_roles_collector(LsRoles *r)
{
  uint32_t mark;
  if (r->anchor[LUA_GC] == LS_FUNC_NONE)
    return 0;
  r->step = ls_roles_callee(r, r->anchor[LUA_PUSHLSTRING], is_step);
  r->onestep = ls_roles_callee(r, r->step, is_onestep);
  if (r->onestep == LS_FUNC_NONE)
    return 0;
  ls_roles_clear(r, r->gate);
  r->gate[r->step] = r->gate[r->onestep] = 1;
  ls_roles_assign_dominated(r, LS_ROLE_COLLECTOR);
  find_passed_on(r);
  mark = ls_roles_callee(r, r->onestep, is_mark);
  ls_roles_assign(r, mark, LS_ROLE_COLLECTOR);
  assign_barriers(r);
  return 1;
}

/* What else only the collector and the end of a VM lead to: sweeping, and
** finalizers. ALLOCF is the allocator: its address is taken where a VM ends.
*/
void ls_roles_sweep(LsRoles *r, uint32_t allocf)
{
  uint32_t f;
  size_t i;
  ls_roles_clear(r, r->gate);
  r->gate[r->step] = r->gate[r->onestep] = 1;
  if (r->anchor[LUA_CLOSE] != LS_FUNC_NONE)
    r->gate[r->anchor[LUA_CLOSE]] = 1;
  for (i = 0; i < r->g.nedge; i++)
    if (r->g.edge[i].to == allocf && ls_roles_inner(r, r->g.edge[i].from))
      r->gate[r->g.edge[i].from] = 1;
  ls_roles_dominated(r);
  for (f = 0; f < r->g.n; f++) {
    r->a[f] = r->role[f] == LS_ROLE_COLLECTOR;
    r->b[f] = !r->b[f] || r->gate[f];
  }
  ls_callgraph_reach(&r->g, r->b, r->a, r->stack);
  for (f = 0; f < r->g.n; f++)
    if (r->a[f])
      ls_roles_assign(r, f, LS_ROLE_COLLECTOR);
}

/* -- Allocator ------------------------------------------------------------ */

/* Whether somebody else takes the address of F, too. */
static int taken_twice(const LsRoles *r, uint32_t f)
{
  unsigned n = 0;
  size_t i;
  for (i = 0; i < r->g.nedge; i++)
    n += r->g.edge[i].to == f && r->g.edge[i].kind == LS_EDGE_REF;
  return n > 1;
}

/* The VM's own allocator: its address is taken where a state is made, in
** MAKER, and where it is closed. LS_FUNC_NONE if it is not found.
*/
uint32_t ls_roles_allocator(LsRoles *r, uint32_t maker)
{
  uint32_t n, i, k, m;
  const LsEdge *e, *c;
  if (maker == LS_FUNC_NONE)
    return maker;
  e = ls_roles_few(r, maker, &n);
  for (i = 0; i < n; i++) {
    if (e[i].kind != LS_EDGE_REF || !ls_roles_inner(r, e[i].to) ||
        !taken_twice(r, e[i].to))
      continue;
    c = ls_roles_edges(r, e[i].to, &m);
    for (k = 0;
         k < m && c[k].kind == LS_EDGE_CALL && ls_roles_inner(r, c[k].to); k++)
      ;
    if (!m || k < m)
      continue;
    ls_roles_clear(r, r->gate);
    r->gate[e[i].to] = 1;
    ls_roles_assign_dominated(r, LS_ROLE_ALLOCATOR);
    return e[i].to;
  }
  return LS_FUNC_NONE;
}

/* Where a register's value is stored, in [reg+disp]; -1 if not found. */
static int32_t allocf_offset(const LsRoles *r)
{
  uint32_t f = r->anchor[LUA_SETALLOCF];
  const LsAddrRange *a = &r->g.range[f == LS_FUNC_NONE ? 0 : f];
  const uint8_t *p;
  size_t at = 0, n = a->hi - a->lo;
  LsX86 x;
  if (f == LS_FUNC_NONE || n > ROLES_SMALL ||
      !(p = ls_elf_bytes(r->elf, a->lo, n)))
    return -1;
  for (; at < n && ls_x86_decode(p + at, n - at, &x); at += x.len)
    if (x.map == 0 && x.op == 0x89 && x.wide && x.mem && x.reg == LS_RSI)
      return x.disp;
  return -1;
}

/* Does a function call through [reg+disp]? */
static int calls_through(const LsRoles *r, uint32_t f, int32_t disp)
{
  const LsAddrRange *a = &r->g.range[f];
  size_t at = 0, n = a->hi - a->lo;
  const uint8_t *p = ls_elf_bytes(r->elf, a->lo, n);
  LsX86 x;
  for (; p && at < n && ls_x86_decode(p + at, n - at, &x); at += x.len)
    if (x.map == 0 && x.op == 0xff && (x.reg & 7) == 2 && x.mem &&
        x.base != LS_NREG && x.index == LS_NREG && x.disp == disp)
      return 1;
  return 0;
}

/* The only thing that F calls, or LS_FUNC_NONE. */
static uint32_t calls_one(const LsRoles *r, uint32_t f)
{
  uint32_t n;
  const LsEdge *e = ls_roles_edges(r, f, &n);
  return n == 1 && e->kind == LS_EDGE_CALL && ls_roles_inner(r, e->to)
             ? e->to
             : LS_FUNC_NONE;
}

/* What the VM allocates by: calls the allocator, and if there is no memory the
** function that throws the error, which is the same for all of them.
*/
void ls_roles_mem(LsRoles *r)
{
  int32_t disp = allocf_offset(r);
  uint32_t f;
  if (disp < 0)
    return;
  memset(r->stack, 0, r->g.n * sizeof(*r->stack));
  for (f = 0; f < r->g.n; f++)
    r->a[f] = ls_roles_inner(r, f) && !r->role[f] &&
              r->g.range[f].hi - r->g.range[f].lo <= ROLES_MEM &&
              calls_one(r, f) != LS_FUNC_NONE && calls_through(r, f, disp);
  for (f = 0; f < r->g.n; f++)
    if (r->a[f])
      r->stack[calls_one(r, f)]++;
  for (f = 0; f < r->g.n; f++)
    if (r->a[f] && r->stack[calls_one(r, f)] > 1)
      ls_roles_assign(r, f, LS_ROLE_ALLOCATOR);
}

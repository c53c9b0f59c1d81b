/*
** Which functions of a VM work with its strings, tables and buffers.
*/

#include "rolegraph.h"

/* -- Strings, tables ------------------------------------------------------ */

/* What lua_createtable() calls, too, is not what makes a string. */
static int is_strnew(const LsRoles *r, uint32_t f)
{
  return !ls_roles_calls(r, r->anchor[LUA_CREATETABLE], f);
}

/* What lua_pushlstring() calls, too, is not what makes a table. */
static int is_tabnew(const LsRoles *r, uint32_t f)
{
  return !ls_roles_calls(r, r->anchor[LUA_PUSHLSTRING], f);
}

/* Add luajit2's hash functions to r->gate. No call leads to them: an exported
** function stores their addresses.
*/
static void gate_hashes(LsRoles *r, uint32_t from)
{
  uint32_t n, i;
  const LsEdge *e;
  if (from == LS_FUNC_NONE)
    return;
  e = ls_roles_edges(r, from, &n);
  for (i = 0; i < n; i++)
    if (e[i].kind == LS_EDGE_REF && ls_roles_inner(r, e[i].to))
      r->gate[e[i].to] = 1;
}

/* Strings: the function that makes one, and what it has in common with the
** collector, which also resizes the table.
*/
void ls_roles_strings(LsRoles *r)
{
  uint32_t n, i;
  const LsEdge *e;
  r->strnew = ls_roles_callee(r, r->anchor[LUA_PUSHLSTRING], is_strnew);
  if (r->strnew == LS_FUNC_NONE)
    return;
  e = ls_roles_edges(r, r->strnew, &n);
  ls_roles_clear(r, r->gate);
  r->gate[r->strnew] = 1;
  gate_hashes(r, r->strnew);
  gate_hashes(r, r->anchor[STR_HASH_INIT]);
  ls_roles_led_by(r, LS_ROLE_COLLECTOR, r->a);
  for (i = 0; i < n; i++)
    if (r->a[e[i].to] && ls_roles_inner(r, e[i].to) && !r->role[e[i].to])
      r->gate[e[i].to] = 1;
  ls_roles_assign_dominated(r, LS_ROLE_STRINGS);
}

/* Is F called by a function of the API that uses no table? Then it is not of
** tables.
*/
static int is_common(const LsRoles *r, uint32_t f)
{
  return ls_roles_calls(r, r->anchor[LUA_TYPE], f) ||
         ls_roles_calls(r, r->anchor[LUA_TOLSTRING], f) ||
         ls_roles_calls(r, r->anchor[LUA_CONCAT], f) ||
         ls_roles_calls(r, r->anchor[LUA_RAWEQUAL], f) ||
         ls_roles_calls(r, r->anchor[LUA_NEWUSERDATA], f) ||
         ls_roles_calls(r, r->anchor[LUA_PUSHLSTRING], f) ||
         ls_roles_calls(r, r->strnew, f);
}

/* Of the functions that F calls: is one in r->gate, and are all inner ones of
** tables? If only compiled code calls F, it may be any one of tables.
*/
static int passes_on(const LsRoles *r, uint32_t f)
{
  uint32_t n, i;
  int helper =
      r->g.outside[f] && r->g.range[f].hi - r->g.range[f].lo <= ROLES_BARRIER;
  int gate = 0;
  const LsEdge *e = ls_roles_edges(r, f, &n);
  for (i = 0; i < n; i++) {
    gate |= r->gate[e[i].to] || (helper && r->role[e[i].to] == LS_ROLE_TABLES);
    if (e[i].kind != LS_EDGE_CALL ||
        (ls_roles_inner(r, e[i].to) && r->role[e[i].to] != LS_ROLE_TABLES))
      return 0;
  }
  return gate;
}

/* Functions that only make, copy or resize a table: by those, in r->gate, that
** call what allocates memory.
*/
static void assign_makers(LsRoles *r)
{
  uint32_t f, round;
  ls_roles_clear(r, r->gate);
  for (f = 0; f < r->g.n; f++) {
    uint32_t n, i;
    const LsEdge *e = ls_roles_edges(r, f, &n);
    for (i = 0; i < n && r->role[f] == LS_ROLE_TABLES; i++)
      r->gate[f] |= r->role[e[i].to] == LS_ROLE_ALLOCATOR;
  }
  for (round = 0; round < 2; round++)
    for (f = 0; f < r->g.n; f++)
      if (r->g.range[f].hi - r->g.range[f].lo <= ROLES_SMALL &&
          passes_on(r, f)) {
        ls_roles_assign(r, f, LS_ROLE_TABLES);
        r->gate[f] |= r->g.range[f].hi - r->g.range[f].lo <= ROLES_MEM &&
                      r->role[f] == LS_ROLE_TABLES;
      }
}

/* Tables: what the API calls to work with them, and what those call. */
void ls_roles_tables(LsRoles *r)
{
  static const uint8_t from[] = {LUA_RAWGET,       LUA_RAWGETI, LUA_RAWSET,
                                 LUA_RAWSETI,      LUA_NEXT,    LUA_OBJLEN,
                                 LUAL_GETMETAFIELD};
  uint32_t n, i, f, top = 0, maker;
  const LsEdge *e;
  size_t k;
  maker = ls_roles_callee(r, r->anchor[LUA_CREATETABLE], is_tabnew);
  if (ls_roles_assign(r, maker, LS_ROLE_TABLES))
    r->stack[top++] = maker;
  for (k = 0; k < sizeof(from); k++) {
    if (r->anchor[from[k]] == LS_FUNC_NONE)
      continue;
    e = ls_roles_edges(r, r->anchor[from[k]], &n);
    for (i = 0; i < n; i++)
      if (e[i].kind == LS_EDGE_CALL && !is_common(r, e[i].to) &&
          ls_roles_assign(r, e[i].to, LS_ROLE_TABLES))
        r->stack[top++] = e[i].to;
  }
  while (top) {
    e = ls_roles_edges(r, r->stack[--top], &n);
    for (i = 0; i < n; i++)
      if (e[i].kind == LS_EDGE_CALL && !is_common(r, e[i].to) &&
          ls_roles_assign(r, e[i].to, LS_ROLE_TABLES))
        r->stack[top++] = e[i].to;
  }
  assign_makers(r);
  for (f = 0; f < r->g.n; f++)
    r->gate[f] = r->role[f] == LS_ROLE_TABLES;
  ls_roles_assign_dominated(r, LS_ROLE_TABLES);
}

/* -- Formatting ----------------------------------------------------------- */

/* Makes a string of a number: no function of the API that makes none calls it,
** as they call that which finds an argument.
*/
static int is_number(const LsRoles *r, uint32_t f)
{
  static const uint8_t others[] = {LUA_TYPE,   LUA_RAWGET,   LUA_RAWGETI,
                                   LUA_RAWSET, LUA_RAWEQUAL, LUA_NEXT};
  size_t i;
  for (i = 0; i < sizeof(others); i++)
    if (ls_roles_calls(r, r->anchor[others[i]], f))
      return 0;
  return !r->role[f];
}

/* Does F only fill a buffer or make a string of it? It calls nothing of the VM
** but what is known. What other functions call is small.
*/
static int only_formats(const LsRoles *r, uint32_t f)
{
  int small = r->g.range[f].hi - r->g.range[f].lo <= ROLES_BARRIER;
  int text = 0, strings = 0;
  uint32_t n, i;
  const LsEdge *e = ls_roles_edges(r, f, &n);
  for (i = 0; i < n; i++) {
    LsRole role = r->role[e[i].to];
    if (e[i].kind != LS_EDGE_CALL || r->api[e[i].to])
      return 0;
    text |= role == LS_ROLE_TEXT;
    strings |= role == LS_ROLE_STRINGS;
    if (ls_roles_inner(r, e[i].to) && role != LS_ROLE_TEXT &&
        role != LS_ROLE_STRINGS && role != LS_ROLE_TABLES &&
        role != LS_ROLE_ALLOCATOR)
      return 0;
  }
  return (text && (small || r->g.outside[f])) ||
         (strings && small && r->g.outside[f]);
}

/* Numbers as text, by the API's function that makes a string of one: all that
** this calls, with the buffers, but not the errors that the allocator throws,
** too. Compiled code calls others, which only use these.
*/
void ls_roles_text(LsRoles *r)
{
  uint32_t number = ls_roles_callee(r, r->anchor[LUA_TOLSTRING], is_number);
  uint32_t top = 0, n, i, f, round;
  const LsEdge *e;
  if (!ls_roles_assign(r, number, LS_ROLE_TEXT))
    return;
  ls_roles_led_by(r, LS_ROLE_ALLOCATOR, r->a);
  r->stack[top++] = number;
  while (top) {
    e = ls_roles_edges(r, r->stack[--top], &n);
    for (i = 0; i < n; i++)
      if (e[i].kind == LS_EDGE_CALL && !r->a[e[i].to] &&
          ls_roles_assign(r, e[i].to, LS_ROLE_TEXT))
        r->stack[top++] = e[i].to;
  }
  for (round = 0; round < 3; round++)
    for (f = 0; f < r->g.n; f++)
      if (only_formats(r, f))
        ls_roles_assign(r, f, LS_ROLE_TEXT);
}

/*
** What functions of a VM without symbols do: the same as their names say in the
** file that was stripped.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "callgraph.h"
#include "open.h"
#include "roles.h"
#include "suites.h"
#include "symbols.h"
#include "vmroles.h"

/* Functions that are found, of each role: at least so many percent of bytes. */
static const unsigned least[LS_ROLES] = {
    [LS_ROLE_ALLOCATOR] = 88, [LS_ROLE_COLLECTOR] = 88, [LS_ROLE_JIT] = 95,
    [LS_ROLE_STRINGS] = 90,   [LS_ROLE_TABLES] = 90,    [LS_ROLE_PARSER] = 85,
    [LS_ROLE_TEXT] = 70,
};

static void check_file(const char *path)
{
  RolesScore s;
  LsRole role;
  uint64_t all = 0, wrong = 0;
  roles_score(path, &s);
  for (role = LS_ROLE_ALLOCATOR; role < LS_ROLE_INTERPRETER; role++) {
    all += s.bytes[role];
    wrong += s.wrong[role];
    ck_assert_msg(s.right[role] * 100 >= s.bytes[role] * least[role],
                  "%s: of %s %llu of %llu bytes", path, ls_role_name(role),
                  (unsigned long long)s.right[role],
                  (unsigned long long)s.bytes[role]);
  }
  ck_assert_uint_gt(all, 100000);
  ck_assert_msg(wrong * 200 < all,
                "%s: %llu bytes are not what they are said to be, as %s", path,
                (unsigned long long)wrong, s.example);
}

/* Under sanitizers, all functions call theirs, and the allocator is malloc. */
START_TEST(program)
{
  if (!SANITIZED)
    check_file(LUAJIT);
}
END_TEST

START_TEST(library)
{
  if (!SANITIZED)
    check_file(LUAJIT_SO);
}
END_TEST

/* Without the name of the API's function that runs the collector that is not
** found, and nothing is said.
*/
START_TEST(nameless)
{
  static const char gone[] = "\0lua_gc";
  char *path = open_changed(LUAJIT, "bare", "strip -s -o \"$to\" \"$from\"");
  size_t n, i;
  uint8_t *p = open_bytes(path, &n), *role, *at = memmem(p, n, gone, 8);
  char why[LS_WHY];
  struct ljs_vm vm;
  LsRows rows;
  LsElf *e;
  ck_assert_ptr_nonnull(at);
  at[1] = 'x';
  e = ls_elf_memory(p, n);
  ck_assert_int_eq(ls_rows_build(e, &rows), 0);
  ck_assert_int_eq(ls_vm_find(e, &rows, &vm, why), 1);
  role = ls_vm_roles(e, rows.range, rows.nrange, &vm);
  ck_assert_ptr_nonnull(role);
  for (i = 0; i < rows.nrange; i++)
    ck_assert(role[i] == LS_ROLE_NONE || role[i] == LS_ROLE_INTERPRETER);
  free(role);
  ls_rows_free(&rows);
  ls_elf_close(e);
  unlink(path);
  free(path);
  free(p);
}
END_TEST

/* A graph: who calls whom, and what is reached past a gate. */
START_TEST(graph)
{
  LsRows rows;
  LsElf *e = open_rows(LUAJIT, &rows);
  LsCallGraph g;
  const char *name;
  uint64_t start, size;
  uint32_t gc = LS_FUNC_NONE, step = gc, onestep = gc, i;
  uint8_t *gate, *reached;
  uint32_t *stack;
  ck_assert_int_eq(
      ls_callgraph_build(e, rows.range, rows.nrange, LS_FUNC_NONE, &g), 0);
  for (i = 0; i < g.n; i++) {
    if (ls_symbols_find(e, g.range[i].lo, &name, &start, &size))
      continue;
    if (strcmp(name, "lua_gc") == 0)
      gc = i;
    if (strcmp(name, "lj_gc_step") == 0)
      step = i;
    if (strcmp(name, "gc_onestep") == 0)
      onestep = i;
  }
  ck_assert(gc != LS_FUNC_NONE && step != LS_FUNC_NONE &&
            onestep != LS_FUNC_NONE);
  ck_assert(ls_callgraph_has(&g, gc, step, LS_EDGE_CALL));
  ck_assert(ls_callgraph_has(&g, step, onestep, LS_EDGE_CALL));
  ck_assert(!ls_callgraph_has(&g, onestep, gc, LS_EDGE_CALL | LS_EDGE_REF));
  ck_assert(g.outside[gc] || !g.outside[onestep]);
  gate = calloc(g.n, 1);
  reached = calloc(g.n, 1);
  stack = calloc(g.n, sizeof(*stack));
  gate[onestep] = 1;
  reached[step] = 1;
  ls_callgraph_reach(&g, gate, reached, stack);
  ck_assert(!reached[onestep] && reached[step]);
  gate[onestep] = 0;
  ls_callgraph_reach(&g, gate, reached, stack);
  ck_assert(reached[onestep]);
  ck_assert_uint_eq(ls_callgraph_at(&g, 0), LS_FUNC_NONE);
  ck_assert_uint_eq(ls_callgraph_at(&g, UINT64_MAX), LS_FUNC_NONE);
  ck_assert_uint_eq(ls_callgraph_at(&g, g.range[gc].hi - 1), gc);
  free(gate);
  free(reached);
  free(stack);
  ls_callgraph_free(&g);
  ls_rows_free(&rows);
  ls_elf_close(e);
}
END_TEST

Suite *suite_roles(void)
{
  const TTest *tests[] = {program, library, nameless, graph, NULL};
  return suite_of("roles", tests);
}

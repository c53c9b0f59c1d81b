/*
** Compares the roles of functions in a stripped file with their names.
*/

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "open.h"
#include "roles.h"
#include "symbols.h"

/* How LuaJIT names its functions. The first one that fits counts. */
static const struct Name {
  const char *begins;
  LsRole role;
} names[] = {
    /* Called only by the sweep; or only when strings or code are compared. */
    {"lj_tab_free", LS_ROLE_COLLECTOR},
    {"lj_tab_rehash", LS_ROLE_COLLECTOR},
    {"lj_str_free", LS_ROLE_COLLECTOR},
    {"lj_func_free", LS_ROLE_COLLECTOR},
    {"lj_udata_free", LS_ROLE_COLLECTOR},
    {"lj_state_free", LS_ROLE_COLLECTOR},
    {"lj_state_shrinkstack", LS_ROLE_COLLECTOR},
    {"lj_cdata_free", LS_ROLE_COLLECTOR},
    {"lj_buf_shrink", LS_ROLE_COLLECTOR},
    {"lj_str_cmp", LS_ROLE_OTHER},
    {"lj_str_find", LS_ROLE_OTHER},
    {"lj_str_haspattern", LS_ROLE_OTHER},
    {"lj_parse_keepstr", LS_ROLE_PARSER},
    {"lj_alloc_", LS_ROLE_ALLOCATOR},
    {"lj_mem_", LS_ROLE_ALLOCATOR},
    {"release_unused_segments", LS_ROLE_ALLOCATOR},
    {"lj_gc_", LS_ROLE_COLLECTOR},
    {"gc_", LS_ROLE_COLLECTOR},
    {"propagatemark", LS_ROLE_COLLECTOR},
    {"lj_tab_", LS_ROLE_TABLES},
    {"newtab", LS_ROLE_TABLES},
    {"rehashtab", LS_ROLE_TABLES},
    {"hashkey", LS_ROLE_TABLES},
    {"countint", LS_ROLE_TABLES},
    {"tab_len", LS_ROLE_TABLES},
    {"lj_str_", LS_ROLE_STRINGS},
    {"lj_strfmt_", LS_ROLE_TEXT},
    {"lj_buf_", LS_ROLE_TEXT},
    {"lj_bufx_", LS_ROLE_TEXT},
    {"buf_grow", LS_ROLE_TEXT},
    {"nd_", LS_ROLE_TEXT},
    {"hash_dense", LS_ROLE_STRINGS},
    {"hash_sparse", LS_ROLE_STRINGS},
    {"lj_lex_", LS_ROLE_PARSER},
    {"lj_parse", LS_ROLE_PARSER},
    {"lj_bcread", LS_ROLE_PARSER},
    {"lj_err_lex", LS_ROLE_PARSER},
    {"lex_", LS_ROLE_PARSER},
    {"bcread_", LS_ROLE_PARSER},
    {"bcemit_", LS_ROLE_PARSER},
    {"expr_", LS_ROLE_PARSER},
    {"parse_", LS_ROLE_PARSER},
    {"fs_", LS_ROLE_PARSER},
    {"fscope_", LS_ROLE_PARSER},
    {"jmp_", LS_ROLE_PARSER},
    {"cpparser", LS_ROLE_PARSER},
    {"lj_trace_", LS_ROLE_JIT},
    {"lj_record_", LS_ROLE_JIT},
    {"lj_crecord_", LS_ROLE_JIT},
    {"lj_ffrecord_", LS_ROLE_JIT},
    {"lj_opt_", LS_ROLE_JIT},
    {"lj_asm_", LS_ROLE_JIT},
    {"lj_ir_", LS_ROLE_JIT},
    {"lj_snap_", LS_ROLE_JIT},
    {"lj_mcode_", LS_ROLE_JIT},
    {"fold_", LS_ROLE_JIT},
    {"rec_", LS_ROLE_JIT},
    {"recff_", LS_ROLE_JIT},
    {"crec_", LS_ROLE_JIT},
    {"asm_", LS_ROLE_JIT},
    {"ra_", LS_ROLE_JIT},
    {"snap_", LS_ROLE_JIT},
    {"trace_", LS_ROLE_JIT},
};

/* Functions that have no class of their own name: each may have any role. */
static int says_nothing(const char *name)
{
  return strncmp(name, "lj_", 3) != 0 || strncmp(name, "lj_memprof", 10) == 0 ||
         strcmp(name, "lj_err_register_mcode") == 0 ||
         strncmp(name, "lj_serialize_peektype", 21) == 0;
}

LsRole roles_of_name(const char *name)
{
  size_t i;
  for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (strncmp(name, names[i].begins, strlen(names[i].begins)) == 0)
      return names[i].role;
  return LS_ROLE_OTHER;
}

/* Count one function that was found to have ROLE. */
static void score_one(RolesScore *s, const char *name, uint64_t size,
                      LsRole role, uint64_t *worst)
{
  LsRole named = roles_of_name(name);
  if (role == LS_ROLE_INTERPRETER)
    return;
  s->bytes[named] += size;
  if (role == named)
    s->right[named] += size;
  if (role == named || role <= LS_ROLE_OTHER ||
      (named == LS_ROLE_OTHER && says_nothing(name)))
    return;
  s->wrong[named] += size;
  if (size <= *worst)
    return;
  *worst = size;
  snprintf(s->example, sizeof(s->example), "%s", name);
}

void roles_score(const char *path, RolesScore *s)
{
  char *bare = open_changed(path, "bare", "strip -s -o \"$to\" \"$from\"");
  LsRows rows;
  LsElf *full = open_elf(path), *e = open_rows(bare, &rows);
  struct ljs_vm vm;
  char why[LS_WHY];
  uint64_t start, size, worst = 0;
  const char *name;
  uint8_t *role;
  size_t i;
  memset(s, 0, sizeof(*s));
  ck_assert_int_eq(ls_vm_find(e, &rows, &vm, why), 1);
  role = ls_vm_roles(e, rows.range, rows.nrange, &vm);
  ck_assert_ptr_nonnull(role);
  for (i = 0; i < rows.nrange; i++)
    if (!ls_symbols_find(full, rows.range[i].lo, &name, &start, &size) &&
        start == rows.range[i].lo)
      score_one(s, name, rows.range[i].hi - rows.range[i].lo, (LsRole)role[i],
                &worst);
  free(role);
  ls_rows_free(&rows);
  ls_elf_close(e);
  ls_elf_close(full);
  unlink(bare);
  free(bare);
}

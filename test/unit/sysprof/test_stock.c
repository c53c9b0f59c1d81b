/*
** Programs as Debian ships them, stripped: test/stock has put them
** into the directory STOCK.
*/

#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "open.h"
#include "live.h"
#include "roles.h"
#include "luasites.h"
#include "suites.h"
#include "vmcheck.h"
#include "vmcode.h"

/* What is known of them, from their headers. Those of tarantool 2.6 are not
** at hand: they are from its own code, which vm_check confirms.
*/
static const struct Stock {
  const char *file;
  int gc64, frame, g2disp, vmstate, jit_base, cur_l, trace;
} stock[] = {
    {"luajit/usr/bin/luajit*", 1, 80, 3968, 184, 376, 368, 1112},
    {"libluajit-5.1-2/usr/lib/*/libluajit-5.1.so.2", 1, 80, 3968, 184, 376, 368,
     1112},
    {"libluajit2-5.1-2/usr/lib/*/libluajit-5.1.so.2", 1, 80, 4008, 184, 376,
     368, 1120},
    {"tarantool/usr/bin/tarantool", 0, 80, 3144, 120, 284, 280, 816},
    {"nginx/usr/sbin/nginx", -1, 0, 0, 0, 0, 0, 0},
};
#define NSTOCK (sizeof(stock) / sizeof(stock[0]))

/* The path of a file, or NULL if it could not be had. */
static const char *stock_path(const char *file, char path[512])
{
  const char *dir = getenv("STOCK");
  glob_t g;
  ck_assert_msg(dir != NULL, "this suite is run by test/stock");
  snprintf(path, 512, "%s/%s", dir, file);
  if (glob(path, 0, NULL, &g) != 0)
    return NULL;
  snprintf(path, 512, "%s", g.gl_pathv[0]);
  globfree(&g);
  return path;
}

START_TEST(layouts)
{
  size_t i, seen = 0;
  for (i = 0; i < NSTOCK; i++) {
    const struct Stock *s = &stock[i];
    char path[512], why[LS_WHY];
    struct ljs_vm vm;
    int found;
    if (!stock_path(s->file, path))
      continue;
    seen++;
    found = open_vm(path, &vm, why);
    ck_assert_msg(found == (s->gc64 >= 0), "%s: %d %s", path, found, why);
    if (!found)
      continue;
    ck_assert_int_eq(vm.gc64, s->gc64);
    ck_assert_int_eq(vm.frame, s->frame);
    ck_assert_int_eq(vm.g2disp, s->g2disp);
    ck_assert_int_eq(vm.vmstate, s->vmstate);
    ck_assert_int_eq(vm.jit_base, s->jit_base);
    ck_assert_int_eq(vm.cur_l, s->cur_l);
    ck_assert_int_eq(vm.trace, s->trace);
    ck_assert_int_eq(vm.irform != 0, vm.jit);
    ck_assert_int_eq(memchr(vm.library, 0, sizeof(vm.library)) == NULL, vm.jit);
  }
  ck_assert_uint_ge(seen, 1);
}
END_TEST

/* The stack of stock.lua, in a program that can run it. */
static void stock_run(const char *path)
{
  static const char *const want[][2] = {
      {"os.execute", "0"}, {"stop", "4"}, {"M.go", "10"},
      {"pcall", "0"},      {"", "15"},
  };
  static struct ljs_stack s;
  const char *argv[] = {path, SOURCE "/stock.lua", NULL};
  char why[LS_WHY], line[32];
  unsigned i;
  LsLua *lua;
  Live p;
  live_start(&p, argv, NULL);
  ck_assert_int_eq(live_wait(&p), 1);
  live_find(&p);
  ck_assert_msg(ls_vm_check(p.pid, &p.vm, p.l, p.g, why) == 1, "%s", why);
  live_walk(&p, &s);
  lua = ls_lua_open(p.pid);
  ck_assert_uint_ge(s.nframes, 5);
  for (i = 0; i < 5; i++) {
    LsSite site;
    ck_assert_uint_eq(ls_lua_sites(lua, &p.vm, &s, i, &site, 1), 1);
    ck_assert_str_eq(site.name, want[i][0]);
    snprintf(line, sizeof(line), "%" PRIu64, site.line);
    ck_assert_str_eq(line, want[i][1]);
  }
  /* Nothing of it is true for another VM's address. */
  ck_assert_int_eq(ls_vm_check(p.pid, &p.vm, p.l + 8, p.g, why), 0);
  ck_assert_int_eq(ls_vm_check(p.pid, &p.vm, p.l, p.g + 8, why), 0);
  p.vm.g2disp += 8 * 256;
  ck_assert_int_eq(ls_vm_check(p.pid, &p.vm, p.l, p.g, why), 0);
  ck_assert_int_ne(why[0], 0);
  ls_lua_close(lua);
  live_end(&p);
}

START_TEST(names)
{
  char path[512];
  unsigned seen = 0;
  if (stock_path("luajit/usr/bin/luajit*", path) && ++seen)
    stock_run(path);
  if (stock_path("tarantool/usr/bin/tarantool", path) && ++seen)
    stock_run(path);
  ck_assert_uint_ge(seen, 1);
}
END_TEST

/* Functions of all kinds are found in them. Debian's tarantool has symbols:
** what they say is right.
*/
START_TEST(roles)
{
  size_t i, k, seen = 0;
  for (i = 0; i < NSTOCK; i++) {
    char path[512], why[LS_WHY];
    size_t bytes[LS_ROLES] = {0};
    struct ljs_vm vm;
    RolesScore score;
    LsRows rows;
    LsRole r;
    LsElf *e;
    uint8_t *role;
    char *bare;
    if (stock[i].gc64 < 0 || !stock_path(stock[i].file, path))
      continue;
    seen++;
    bare = open_changed(path, "stock-bare", "strip -s -o \"$to\" \"$from\"");
    e = open_rows(bare, &rows);
    ck_assert_int_eq(ls_vm_find(e, &rows, &vm, why), 1);
    role = ls_vm_roles(e, rows.range, rows.nrange, &vm);
    ck_assert_ptr_nonnull(role);
    for (k = 0; k < rows.nrange; k++)
      bytes[role[k]] += rows.range[k].hi - rows.range[k].lo;
    for (r = LS_ROLE_OTHER; r < LS_ROLES; r++)
      ck_assert_msg(bytes[r] >= 1000, "%s: %s", path, ls_role_name(r));
    free(role);
    ls_rows_free(&rows);
    ls_elf_close(e);
    unlink(bare);
    free(bare);
    if (!strstr(path, "tarantool"))
      continue;
    roles_score(path, &score);
    ck_assert_uint_gt(score.right[LS_ROLE_JIT], 100000);
    ck_assert_msg(score.wrong[LS_ROLE_OTHER] < 1000, "%s", score.example);
  }
  ck_assert_uint_ge(seen, 1);
}
END_TEST

Suite *suite_stock(void)
{
  const TTest *tests[] = {layouts, names, roles, NULL};
  return suite_of("stock", tests);
}

/*
** Heap dumps that a child process writes to a file: what has the name, whatever
** happens to the child.
*/

#include "forking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls a:status(), whose results are x, y, z, until that is not "running". */
static const char *await_lua(lua_State *L)
{
  do {
    usleep(1000);
    rec_run(L, "x, y, z = a:status()");
  } while (strcmp(fork_global(L, "x"), "running") == 0);
  return fork_global(L, "x");
}

START_TEST(named_when_whole)
{
  lua_State *L = fork_vm();
  struct stat st;
  RecStream s;
  fork_put(fork_file("a.ljd"), "old");
  fork_dumpto(L, fork_file("a.ljd"));
  ck_assert_str_eq(await_lua(L), "done");
  ck_assert_str_eq(await_lua(L), "done");
  ck_assert_str_eq(fork_names(), "a.ljd a.ljd.old ");
  ck_assert_int_eq(stat(fork_file("a.ljd"), &st), 0);
  ck_assert_int_eq(st.st_mode & 0777, 0600);
  s = rec_read(fork_file("a.ljd"));
  ck_assert_uint_gt(s.n, 10000);
  ck_assert_int_eq(memcmp(s.p, "ljs\x10", 4), 0);
  rec_free(&s);
  s = rec_read(fork_file("a.ljd.old"));
  ck_assert(s.n == 3 && memcmp(s.p, "old", 3) == 0);
  rec_free(&s);
  ck_assert_int_eq(fork_sigchlds, 0);
  lua_close(L);
}
END_TEST

START_TEST(killed)
{
  lua_State *L = fork_vm();
  RecStream s;
  long pid;
  fork_put(fork_file("a.ljd"), "old");
  fork_wrap.hangwrite = 1;
  fork_dumpto(L, fork_file("a.ljd"));
  pid = fork_awaithanging();
  ck_assert_ptr_nonnull(strstr(fork_names(), ".tmp "));
  rec_run(L, "x = a:status()");
  ck_assert_str_eq(fork_global(L, "x"), "running");
  kill((pid_t)pid, SIGKILL);
  ck_assert_str_eq(await_lua(L), "nil");
  ck_assert_ptr_nonnull(
      strstr(fork_global(L, "y"), "a.ljd: signal 9 has killed its process"));
  ck_assert_str_eq(fork_names(), "a.ljd ");
  s = rec_read(fork_file("a.ljd"));
  ck_assert(s.n == 3 && memcmp(s.p, "old", 3) == 0);
  rec_free(&s);
  ck_assert(fork_isgone(pid));
  ck_assert_int_eq(fork_sigchlds, 0);
  lua_close(L);
}
END_TEST

/* Nobody asks: the temporary file goes away all the same. */
START_TEST(killed_and_forgotten)
{
  lua_State *L = fork_vm();
  fork_wrap.hangwrite = 1;
  fork_dumpto(L, fork_file("a.ljd"));
  kill((pid_t)fork_awaithanging(), SIGKILL);
  rec_run(L, "a = nil collectgarbage() collectgarbage()");
  lua_close(L);
  ck_assert_str_eq(fork_names(), "");
}
END_TEST

/* Killed between two renames: the dump was whole, and both files are kept. */
START_TEST(killed_while_renaming)
{
  lua_State *L = fork_vm();
  RecStream s;
  fork_put(fork_file("a.ljd"), "old");
  fork_wrap.hangkeep = 1;
  fork_dumpto(L, fork_file("a.ljd"));
  kill((pid_t)fork_awaithanging(), SIGKILL);
  fork_wrap.hangkeep = 0;
  ck_assert_str_eq(await_lua(L), "done");
  ck_assert_str_eq(fork_names(), "a.ljd a.ljd.old ");
  s = rec_read(fork_file("a.ljd.old"));
  ck_assert(s.n == 3 && memcmp(s.p, "old", 3) == 0);
  rec_free(&s);
  s = rec_read(fork_file("a.ljd"));
  ck_assert_uint_gt(s.n, 10000);
  rec_free(&s);
  lua_close(L);
}
END_TEST

START_TEST(no_space)
{
  lua_State *L = fork_vm();
  fork_put(fork_file("a.ljd"), "old");
  fork_wrap.nospace = 2;
  fork_dumpto(L, fork_file("a.ljd"));
  ck_assert_str_eq(await_lua(L), "nil");
  ck_assert_ptr_nonnull(
      strstr(fork_global(L, "y"), "a.ljd: No space left on device"));
  ck_assert_int_eq(strtol(fork_global(L, "z"), NULL, 10), ENOSPC);
  ck_assert_str_eq(fork_names(), "a.ljd ");
  fork_wrap.nospace = 0;
  fork_dumpto(L, "/dev/full");
  ck_assert_str_eq(await_lua(L), "nil");
  ck_assert_str_eq(fork_global(L, "y"), "/dev/full: No space left on device");
  lua_close(L);
}
END_TEST

START_TEST(lua_arguments)
{
  lua_State *L = fork_vm();
  rec_run(L, "local d = misc.memprof.dump\n"
             "assert(not pcall(d, 'x', {fork = 1}))\n"
             "assert(not pcall(d, 'x', {fork = true, spoon = 1}))\n"
             "assert(not pcall(d, nil, {fork = true}))\n"
             "local a, b, c = d('/nowhere/x', {fork = true})\n"
             "assert(a == false and b:find('/nowhere/x: ') and c == 2)\n"
             "local h = d('/dev/null', {fork = true, strings = 0})\n"
             "assert(not pcall(h.status)) assert(not pcall(h.status, {}))\n"
             "assert(not pcall(h.status, newproxy(true)))\n"
             "assert(d('/dev/null', {fork = false}) == true)\n");
  lua_close(L);
}
END_TEST

/* fork() by the program: the dump stays the parent's. */
START_TEST(forked_program)
{
  lua_State *L = fork_vm();
  struct luam_Dump unknown;
  long pid;
  pid_t child;
  int status;
  fork_wrap.hangwrite = 1;
  fork_dumpto(L, fork_file("a.ljd"));
  pid = fork_awaithanging();
  child = fork();
  if (child == 0) {
    fork_wrap.hangwrite = 0;
    if (luaL_dostring(L, "local x, y = a:status()\n"
                         "assert(x == nil and y:find('another process'))"))
      _exit(1);
    lua_close(L);
    _exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  ck_assert_ptr_nonnull(strstr(fork_names(), ".tmp "));
  rec_run(L, "x = a:status()");
  ck_assert_str_eq(fork_global(L, "x"), "running");
  kill((pid_t)pid, SIGKILL);
  ck_assert_str_eq(await_lua(L), "nil");
  ck_assert_str_eq(fork_names(), "");
  memset(&unknown, 0, sizeof(unknown));
  ck_assert_int_eq(luaM_memprof_dumpstatus(L, &unknown), LUAM_PROFILE_ERR);
  lua_close(L);
}
END_TEST

int main(void)
{
  const TTest *tests[] = {named_when_whole,      killed,   killed_and_forgotten,
                          killed_while_renaming, no_space, lua_arguments,
                          forked_program};
  rec_setup = fork_setup;
  rec_teardown = fork_teardown;
  return REC_MAIN("forkfile", tests);
}

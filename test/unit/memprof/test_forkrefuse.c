/*
** Heap dumps that no child process can write: there is too little memory, or
** no process, or the writer fails.
*/

#include "forking.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lj_headroom.h"
#include "lj_obj.h"

#include "format/ljm_block.h"

START_TEST(too_little_memory)
{
  lua_State *L = fork_vm();
  GCSize total;
  fork_put(fork_file("a.ljd"), "old");
#if !LJ_GC64 && !defined(REC_AMALG)
  if (lj_headroom_has("", (uint64_t)0xf0000000, (char[200]){0}, 200)) {
    lua_close(L); /* A count of 32 bits cannot be too large. */
    return;
  }
#endif
  luaL_loadstring(L, "a, b, c = misc.memprof.dump(fname, {fork = true})");
  lua_pushstring(L, fork_file("a.ljd"));
  lua_setglobal(L, "fname");
  lua_gc(L, LUA_GCSTOP, 0);
  total = G(L)->gc.total;
  G(L)->gc.total =
      LJ_GC64 ? total + ((GCSize)1 << (LJ_GC64 ? 50 : 0)) : (GCSize)0xf0000000;
  lua_call(L, 0, 0);
  G(L)->gc.total -=
      LJ_GC64 ? (GCSize)1 << (LJ_GC64 ? 50 : 0) : (GCSize)0xf0000000 - total;
  rec_run(L, "a = tostring(a)");
  ck_assert_str_eq(fork_global(L, "a"), "false");
  ck_assert_ptr_nonnull(strstr(fork_global(L, "b"), "a.ljd: a fork may take "));
  ck_assert_int_eq(strtol(fork_global(L, "c"), NULL, 10), ENOMEM);
  ck_assert_str_eq(fork_names(), "a.ljd ");
  lua_close(L);
}
END_TEST

/* No recording has a record of a dump that could not begin. */
START_TEST(too_many_processes)
{
  struct rlimit one = {1, 1};
  int status;
  pid_t child;
  child = fork();
  /* The limit is no limit for root, who else comes back for the decoder. */
  if (child == 0) {
    bool root = geteuid() == 0;
    lua_State *L = fork_vm();
    RecStream s = {0};
    struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
    if (setrlimit(RLIMIT_NPROC, &one) != 0 ||
        (root && setresuid(65534, 65534, 0) != 0))
      _exit(77);
    if (luaM_memprof_start(L, &opt) != LUAM_PROFILE_SUCCESS ||
        luaL_dostring(
            L, "local a, b, c = misc.memprof.dump('/dev/null', {fork = true})\n"
               "assert(a == false and c == 11)\n"
               "assert(b:find('/dev/null: no further process can be made'))"))
      _exit(1);
    lua_close(L);
    if (root && setresuid(0, 0, 0) != 0)
      _exit(3);
    if (!rec_books(&s).whole || rec_books(&s).dumps != 0)
      _exit(2);
    _exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status));
  ck_assert(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
}
END_TEST

/* Takes nothing after so many calls. */
typedef struct Failing {
  unsigned calls, most;
} Failing;

static size_t failing_write(const void *data, size_t len, void *arg)
{
  Failing *f = arg;
  (void)data;
  return f->calls++ < f->most ? len : 0;
}

/* How often a dump looks at the time: for each block, and for its end. */
static unsigned looks_of(lua_State *L, unsigned most, int expected)
{
  Failing f = {0, most};
  struct luam_Prof_options opt;
  unsigned looks;
  memset(&opt, 0, sizeof(opt));
  opt.writer = failing_write;
  opt.arg = &f;
  opt.buffer = LJM_BLOCK_MIN;
  fork_wrap.frozen = 1000;
  fork_wrap.last = ~(uint64_t)0;
  ck_assert_int_eq(luaM_memprof_dump(L, &opt), expected);
  looks = (unsigned)(fork_wrap.frozen - 1000);
  fork_wrap.frozen = 0;
  return looks;
}

/* What has failed does not walk on over what is left of the heap. */
START_TEST(fails_at_once)
{
  static const char *const heaps[] = {
      "keep = {} for i = 1, 60000 do keep[i] = {i} end",
      "keep = {} for i = 1, 60000 do keep['k' .. i] = keep end",
      "keep = {} for i = 1, 60000 do keep[i] = 'string ' .. i end",
      "jit.off() keep = {} local u = {}\n"
      "local function f(n)\n"
      "  local a_name_of_a_variable_that_is_long_enough_to_fill_blocks = u\n"
      "  local another_name_that_is_long_enough_to_fill_a_few_blocks = u\n"
      "  if n > 0 then return 1 + f(n - 1) end\n"
      "  coroutine.yield() return u end\n"
      "co = coroutine.create(f) assert(coroutine.resume(co, 9000))\n"};
  size_t i;
  for (i = 0; i < sizeof(heaps) / sizeof(heaps[0]); i++) {
    lua_State *L = rec_open();
    unsigned most, whole;
    rec_run(L, heaps[i]);
    whole = looks_of(L, ~0u, LUAM_PROFILE_SUCCESS);
    ck_assert_msg(whole > 16, "heap %zu: %u looks", i, whole);
    for (most = 0; most < whole - 8; most++) {
      unsigned looks = looks_of(L, most, LUAM_PROFILE_ERRIO);
      ck_assert_msg(looks <= most + 6, "heap %zu: %u looks after %u writes", i,
                    looks, most);
    }
    lua_close(L);
  }
}
END_TEST

#ifndef REC_AMALG

/* Makes a file below the directory, with the directories above it. */
static void fake(const char *path, const char *text)
{
  char command[256];
  snprintf(command, sizeof(command), "mkdir -p $(dirname %s)", fork_file(path));
  ck_assert_int_eq(system(command), 0);
  fork_put(fork_file(path), text);
}

#define MIB ((uint64_t)1 << 20)

/* Checks that so many MiB are left, by the words for one more. */
static void check_left(uint64_t mib, const char *of)
{
  char why[200] = "", expected[200];
  ck_assert_msg(lj_headroom_has(fork_dir, mib * MIB, why, sizeof(why)), "%s",
                why);
  ck_assert(!lj_headroom_has(fork_dir, mib * MIB + 1, why, sizeof(why)));
  snprintf(expected, sizeof(expected),
           "a fork may take %u MiB more, and %u MiB are left of %s",
           (unsigned)mib + 1, (unsigned)mib, of);
  ck_assert_str_eq(why, expected);
}

START_TEST(headroom)
{
  char why[200];
  /* What cannot be read is no limit. */
  ck_assert(lj_headroom_has(fork_dir, ~(uint64_t)0, why, sizeof(why)));
  fake("proc/meminfo", "MemTotal: 1 kB\nMemAvailable:    102400 kB\n");
  check_left(100, "the system's memory");
  fake("proc/self/cgroup", "1:name=systemd:/x\n0::/a/b\n");
  check_left(100, "the system's memory");
  fake("sys/fs/cgroup/a/b/memory.max", "max\n");
  fake("sys/fs/cgroup/a/b/memory.current", "12345\n");
  check_left(100, "the system's memory");
  fake("sys/fs/cgroup/a/memory.max", "83886080\n"); /* 80 MiB */
  fake("sys/fs/cgroup/a/memory.current", "20971520\n");
  check_left(60, "the cgroup's limit");
  fake("sys/fs/cgroup/a/memory.stat",
       "anon 1\nactive_file 7340032\ninactive_file 10485760\n");
  check_left(70, "the cgroup's limit");
  fake("sys/fs/cgroup/memory.max", "31457280\n");
  fake("sys/fs/cgroup/memory.current", "31457281\n");
  check_left(0, "the cgroup's limit");
  fake("sys/fs/cgroup/memory.max", "max\n");
  fake("proc/self/cgroup", "9:memoryx:/v\n4:cpu,memory:/v\n0::/none\n");
  check_left(100, "the system's memory");
  fake("sys/fs/cgroup/memory/v/memory.limit_in_bytes", "62914560\n");
  fake("sys/fs/cgroup/memory/v/memory.usage_in_bytes", "52428800\n");
  fake("sys/fs/cgroup/memory/v/memory.stat", "total_inactive_file 5242880\n");
  check_left(15, "the cgroup's limit");
  /* Broken files are no limit. */
  fake("proc/self/cgroup", "no colon");
  check_left(100, "the system's memory");
  fake("proc/meminfo", "MemFree: 1 kB\n");
  ck_assert(lj_headroom_has(fork_dir, ~(uint64_t)0, why, sizeof(why)));
}
END_TEST

#endif

int main(void)
{
  const TTest *tests[] = {too_little_memory, too_many_processes,
#ifndef REC_AMALG
                          headroom,
#endif
                          fails_at_once};
  rec_setup = fork_setup;
  rec_teardown = fork_teardown;
  return REC_MAIN("forkrefuse", tests);
}

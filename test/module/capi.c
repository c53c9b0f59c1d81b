/*
** The C API of memprof.so, for a host that loads it or is linked with it.
**
**   capi [MODULE]     loads it; without, it is linked
*/

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* For __WALL. */
#endif

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lmisclib.h"
#include "lualib.h"

static int (*start)(lua_State *L, const struct luam_Prof_options *opt);
static int (*stop)(const lua_State *L);
static bool (*isrunning)(void);
static int (*dump)(lua_State *L, const struct luam_Prof_options *opt);
static int (*dumpstatus)(lua_State *L, struct luam_Dump *dump);
static int (*tofile)(struct luam_Prof_options *opt, const char *fname);
static int (*tofd)(struct luam_Prof_options *opt, int fd);
static int (*tosocket)(struct luam_Prof_options *opt, const char *address);
static int (*tomemory)(struct luam_Prof_options *opt, struct luam_Memory *m);
static void (*drop)(struct luam_Prof_options *opt);

static unsigned checks, failures;

static void ok(int cond, const char *what)
{
  checks++;
  if (!cond) {
    failures++;
    printf("FAILED: %s\n", what);
  }
}

/* Finds the module's functions. */
static int capi_load(const char *module)
{
  void *so = dlopen(module, RTLD_NOW | RTLD_LOCAL);
  if (so == NULL) {
    printf("%s\n", dlerror());
    return 0;
  }
  *(void **)&start = dlsym(so, "luaM_memprof_start");
  *(void **)&stop = dlsym(so, "luaM_memprof_stop");
  *(void **)&isrunning = dlsym(so, "luaM_memprof_isrunning");
  *(void **)&dump = dlsym(so, "luaM_memprof_dump");
  *(void **)&dumpstatus = dlsym(so, "luaM_memprof_dumpstatus");
  *(void **)&tofile = dlsym(so, "luaM_memprof_tofile");
  *(void **)&tofd = dlsym(so, "luaM_memprof_tofd");
  *(void **)&tosocket = dlsym(so, "luaM_memprof_tosocket");
  *(void **)&tomemory = dlsym(so, "luaM_memprof_tomemory");
  *(void **)&drop = dlsym(so, "luaM_memprof_drop");
  return start && stop && isrunning && dump && dumpstatus && tofile && tofd &&
         tosocket && tomemory && drop;
}

typedef struct Sink {
  char head[4];
  size_t len;
  int stops;
} Sink;

static size_t sink_write(const void *data, size_t len, void *arg)
{
  Sink *to = (Sink *)arg;
  if (to->len == 0 && len >= sizeof(to->head))
    memcpy(to->head, data, sizeof(to->head));
  to->len += len;
  return len;
}

static int sink_stop(void *arg)
{
  ((Sink *)arg)->stops++;
  return 0;
}

/* The writer of a child process: arg is its descriptor. */
static size_t child_write(const void *data, size_t len, void *arg)
{
  ssize_t n = write(*(int *)arg, data, len);
  return n > 0 ? (size_t)n : 0;
}

/* Dumps a VM by a child, which lua_close() has to wait for if it is closed. */
static void capi_fork(lua_State *L, size_t least, int closes)
{
  struct luam_Dump to;
  int fd[2];
  char buf[4096];
  size_t len = 0;
  ssize_t n;
  struct luam_Prof_options opt = {.arg = &fd[1], .writer = child_write};
  ok(pipe(fd) == 0, "pipe");
  opt.reserved[LUAM_PROF_FORK] = 1;
  opt.reserved[LUAM_PROF_FORK_FD] = (uint64_t)fd[1] + 1;
  opt.reserved[LUAM_PROF_FORK_DUMP] = (uint64_t)(uintptr_t)&to;
  ok(dump(L, &opt) == LUAM_PROFILE_SUCCESS && to.pid > 0, "a child dumps");
  close(fd[1]);
  while ((n = read(fd[0], buf, sizeof(buf))) > 0) {
    ok(len > 0 || memcmp(buf, "ljs\x10", 4) == 0, "a dump");
    len += (size_t)n;
  }
  close(fd[0]);
  ok(len >= least, "it is as long as that of the VM's own process");
  if (closes)
    lua_close(L);
  else
    while (dumpstatus(L, &to) == LUAM_PROFILE_SUCCESS &&
           to.state == LUAM_DUMP_RUNNING)
      usleep(1000);
  ok(closes || to.state == LUAM_DUMP_DONE, "it is whole");
  ok(waitpid((pid_t)to.pid, NULL, __WALL | WNOHANG) == -1, "no zombie");
}

/* Dumps by this process and by others. Closes the VM. */
static void capi_dump(lua_State *L)
{
  Sink sink = {{0}, 0, 0};
  struct luam_Prof_options opt = {.arg = &sink, .writer = sink_write};
  ok(dump(NULL, &opt) == LUAM_PROFILE_ERR, "no VM to dump");
  ok(dump(L, &opt) == LUAM_PROFILE_SUCCESS, "dump");
  ok(memcmp(sink.head, "ljs\x10", 4) == 0 && sink.len > 10000, "its bytes");
  /* Times in it differ by some bytes. */
  capi_fork(L, sink.len - 256, 0);
  capi_fork(L, sink.len - 256, 1);
}

/* An allocator that dumps its VM now and then, while nothing records. */
typedef struct Spy {
  lua_State *L;
  lua_Alloc f;
  void *ud;
  unsigned calls, dumps, failed;
  int status; /* Of the finalizer's dump. */
} Spy;

static int spy_dump(Spy *spy)
{
  Sink sink = {{0}, 0, 0};
  struct luam_Prof_options opt = {.arg = &sink, .writer = sink_write};
  return dump(spy->L, &opt);
}

static void *spy_alloc(void *ud, void *p, size_t osize, size_t nsize)
{
  Spy *spy = (Spy *)ud;
  if (++spy->calls % 31 == 0 && nsize > 0) {
    if (spy_dump(spy) == LUAM_PROFILE_SUCCESS)
      spy->dumps++;
    else
      spy->failed++;
  }
  return spy->f(spy->ud, p, osize, nsize);
}

static int spy_finalizer(lua_State *L)
{
  Spy *spy = (Spy *)lua_touserdata(L, lua_upvalueindex(1));
  spy->status = spy_dump(spy);
  return 0;
}

static const char spy_program[] =
    "local function add(t, i) local a, b, c = 1, 2, 3 t[i % 9] = {i}"
    " return a + b + c end "
    "local t, sum = {}, 0 "
    "for i = 1, 3000 do sum = sum + add(t, i) end "
    "for i = 1, 300 do sum = sum + #(i .. 'x') - #tostring(i) end "
    "assert(sum == 18300)";

static lua_State *capi_newstate(void)
{
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  return L;
}

/* A dump is taken anywhere, and leaves nothing in the VM. */
static void capi_still(void)
{
  Spy spy = {0};
  lua_State *L = spy.L = capi_newstate();
  int i, live;
  lua_gc(L, LUA_GCSTOP, 0);
  live = lua_gc(L, LUA_GCCOUNT, 0) * 1024 + lua_gc(L, LUA_GCCOUNTB, 0);
  for (i = 0; i < 3; i++)
    ok(spy_dump(&spy) == LUAM_PROFILE_SUCCESS, "a dump");
  ok(lua_gc(L, LUA_GCCOUNT, 0) * 1024 + lua_gc(L, LUA_GCCOUNTB, 0) == live,
     "nothing is left on the heap");
  lua_gc(L, LUA_GCRESTART, 0);
  spy.f = lua_getallocf(L, &spy.ud);
  lua_setallocf(L, spy_alloc, &spy);
  ok(luaL_dostring(L, spy_program) == 0, "the program");
  lua_setallocf(L, spy.f, spy.ud);
  ok(spy.dumps > 50 && spy.failed == 0, "dumps in allocations");
  spy.status = -1;
  lua_newuserdata(L, 1);
  lua_createtable(L, 0, 1);
  lua_pushlightuserdata(L, &spy);
  lua_pushcclosure(L, spy_finalizer, 1);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_close(L);
  ok(spy.status == LUAM_PROFILE_SUCCESS, "a dump in a finalizer at the end");
}

/* The writers that are ready to use, with a thread and without. */
static void capi_writers(lua_State *L)
{
  struct luam_Memory m = {.max = 0};
  struct luam_Prof_options opt = {.buffer = 0};
  int i, fd[2];
  for (i = 0; i < 2; i++) {
    opt.reserved[LUAM_PROF_THREAD] =
        i ? LUAM_THREAD(0, LUAM_THREAD_DROP, 0) : 0;
    ok(tomemory(&opt, &m) == LUAM_PROFILE_SUCCESS, "a writer to memory");
    ok(start(L, &opt) == LUAM_PROFILE_SUCCESS, "it starts");
    ok(luaL_dostring(L, "t = {} for i = 1, 1e4 do t[i] = {} end") == 0, "runs");
    ok(stop(L) == LUAM_PROFILE_SUCCESS, "it stops");
    ok(m.len > 10000 && memcmp(m.data, "ljs\x10", 4) == 0, "in memory");
    drop(&opt);
    ok(pipe(fd) == 0 && tofd(&opt, fd[1]) == LUAM_PROFILE_SUCCESS, "a pipe");
    close(fd[0]);
    close(fd[1]);
    ok(start(L, &opt) == LUAM_PROFILE_ERRIO, "nobody reads");
    drop(&opt);
  }
  ok(tofile(&opt, "/nonexistent/x") == LUAM_PROFILE_ERRIO, "no file");
  ok(tosocket(&opt, "unix:/nonexistent/x") == LUAM_PROFILE_ERRIO, "no socket");
  ok(tosocket(&opt, "/nonexistent/x") == LUAM_PROFILE_ERR, "no address");
}

int main(int argc, char **argv)
{
  Sink one = {{0}, 0, 0}, two = {{0}, 0, 0};
  struct luam_Prof_options opt = {
      .arg = &one, .writer = sink_write, .on_stop = sink_stop};
  lua_State *L = capi_newstate(), *other = capi_newstate();
  int top = lua_gettop(L);
  if (argc > 1 && !capi_load(argv[1]))
    return 1;
#ifdef CAPI_LINKED
  start = luaM_memprof_start;
  stop = luaM_memprof_stop;
  isrunning = luaM_memprof_isrunning;
  dump = luaM_memprof_dump;
  dumpstatus = luaM_memprof_dumpstatus;
  tofile = luaM_memprof_tofile;
  tofd = luaM_memprof_tofd;
  tosocket = luaM_memprof_tosocket;
  tomemory = luaM_memprof_tomemory;
  drop = luaM_memprof_drop;
#endif
  ok(stop(L) == LUAM_PROFILE_ERR, "there is nothing to stop");
  ok(start(NULL, &opt) == LUAM_PROFILE_ERR, "no VM");
  ok(!isrunning(), "nothing runs");
  ok(start(L, &opt) == LUAM_PROFILE_SUCCESS, "start");
  ok(start(L, &opt) == LUAM_PROFILE_ERR, "once is enough");
  opt.arg = &two;
  ok(start(other, &opt) == LUAM_PROFILE_SUCCESS, "another VM");
  ok(luaL_dostring(L, "local t = {} for i = 1, 1e4 do t[i] = {} end") == 0,
     "the program");
  ok(stop(L) == LUAM_PROFILE_SUCCESS && one.stops == 1, "stop");
  ok(memcmp(one.head, "ljs\x10", 4) == 0 && one.len > 10000, "a recording");
  ok(lua_gettop(L) == top, "the stack is as it was");
  ok(isrunning(), "the other goes on");
  lua_close(other);
  ok(two.stops == 1 && !isrunning(), "lua_close() ends it");
  capi_writers(L);
  capi_still();
  capi_dump(L);
  printf("%u checks, %u failures\n", checks, failures);
  return failures != 0;
}

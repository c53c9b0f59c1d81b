/*
** memprof.so in hosts that make it hard. Runs with whichever LuaJIT the loader
** finds; the module is loaded as a host would, by its path.
**
**   test-module-hostile MEMPROF.SO
*/

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lmisclib.h"

#include "lauxlib.h"
#include "luajit.h"
#include "lualib.h"

static unsigned checks, failures;

#define OK(cond) ok((cond), #cond, __func__, __LINE__)

static void ok(int cond, const char *what, const char *func, int line)
{
  checks++;
  if (!cond) {
    failures++;
    printf("FAILED: %s, line %d: %s\n", func, line, what);
  }
}

/* -- The module ----------------------------------------------------------- */

static lua_CFunction module_open;
static int (*module_start)(lua_State *L, const struct luam_Prof_options *opt);
static int (*module_stop)(const lua_State *L);
static bool (*module_isrunning)(void);

static void *module_symbol(void *handle, const char *name)
{
  void *p = dlsym(handle, name);
  if (p == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(64);
  }
  return p;
}

static void module_load(const char *path)
{
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(64);
  }
  *(void **)&module_open = module_symbol(handle, "luaopen_memprof");
  *(void **)&module_start = module_symbol(handle, "luaM_memprof_start");
  *(void **)&module_stop = module_symbol(handle, "luaM_memprof_stop");
  *(void **)&module_isrunning = module_symbol(handle, "luaM_memprof_isrunning");
  dlclose(handle); /* It stays. */
}

/* Opens the module in a VM. Its result, or the error, is on top. */
static int module_require(lua_State *L)
{
  lua_pushcfunction(L, module_open);
  return lua_pcall(L, 0, 1, 0);
}

/* The same, for a VM with libraries whose code needs it as "memprof". */
static lua_State *module_newstate(void)
{
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "loaded");
  lua_pushnil(L); /* A patched VM's own would go first. */
  lua_setfield(L, -2, "misc");
  OK(module_require(L) == 0);
  lua_setglobal(L, "memprof");
  lua_settop(L, 0);
  return L;
}

static int run(lua_State *L, const char *code)
{
  if (luaL_dostring(L, code) == 0)
    return 1;
  printf("%s\n", lua_tostring(L, -1));
  return 0;
}

/* -- Recordings ----------------------------------------------------------- */

/* What became of one. */
typedef struct Sink {
  lua_State *L; /* Whose recording a writer is rude to, or NULL. */
  size_t bytes;
  int stops;
  int rude; /* Calls from the writer that did not fail. */
} Sink;

static size_t sink_write(const void *data, size_t len, void *arg)
{
  Sink *s = (Sink *)arg;
  (void)data;
  s->bytes += len;
  if (s->L != NULL) {
    struct luam_Prof_options opt = {
        .arg = s, .writer = sink_write, .on_stop = NULL};
    s->rude += module_stop(s->L) != LUAM_PROFILE_ERR;
    s->rude += module_start(s->L, &opt) != LUAM_PROFILE_ERR;
  }
  return len;
}

static int sink_stop(void *arg)
{
  ((Sink *)arg)->stops++;
  return 0;
}

static int sink_start(lua_State *L, Sink *s)
{
  struct luam_Prof_options opt = {
      .arg = s, .writer = sink_write, .on_stop = sink_stop};
  return module_start(L, &opt);
}

/* -- An allocator that fails ---------------------------------------------- */

typedef struct Heap {
  long left; /* Allocations that it will make, or -1: any number. */
  long blocks;
} Heap;

static void *heap_alloc(void *ud, void *ptr, size_t osize, size_t nsize)
{
  Heap *h = (Heap *)ud;
  void *p;
  (void)osize;
  if (nsize == 0) {
    h->blocks -= ptr != NULL;
    free(ptr);
    return NULL;
  }
  if (ptr == NULL || nsize > osize) {
    if (h->left == 0)
      return NULL;
    h->left -= h->left > 0;
  }
  p = realloc(ptr, nsize);
  h->blocks += ptr == NULL && p != NULL;
  return p;
}

static int descriptors(void)
{
  DIR *dir = opendir("/proc/self/fd");
  int n = 0;
  while (readdir(dir) != NULL)
    n++;
  closedir(dir);
  return n;
}

/* -- Tests ---------------------------------------------------------------- */

/* Before the module has looked at the library: there is nothing to look with.
 */
static void test_descriptors(void)
{
  lua_State *L = luaL_newstate();
  struct rlimit had, none;
  int n;
  getrlimit(RLIMIT_NOFILE, &had);
  none = had;
  n = dup(0);
  close(n);
  none.rlim_cur = (rlim_t)n; /* The first free one is not allowed. */
  setrlimit(RLIMIT_NOFILE, &none);
  OK(module_require(L) != 0);
  OK(strstr(lua_tostring(L, -1), "no file descriptors") != NULL);
  setrlimit(RLIMIT_NOFILE, &had);
  lua_close(L);
}

/* jit.p runs in another VM, the module is loaded for the first time. */
static void test_profiled(void)
{
  lua_State *L = luaL_newstate(), *other = luaL_newstate();
  luaL_openlibs(other);
  OK(run(other, "require('jit.profile').start('fi1000', function() end)"));
  OK(module_require(L) != 0);
  OK(strstr(lua_tostring(L, -1), "jit.p is running") != NULL);
  OK(run(other, "require('jit.profile').stop()"));
  lua_close(other);
  lua_close(L);
}

/* A host that has opened nothing, and has a timer of its own. */
static void test_bare(void)
{
  lua_State *L = luaL_newstate();
  struct itimerval timer = {{77, 0}, {77, 0}}, after;
  int fds = descriptors();
  setitimer(ITIMER_PROF, &timer, NULL);
  if (module_require(L) != 0)
    printf("%s\n", lua_tostring(L, -1));
  OK(lua_istable(L, -1));
  getitimer(ITIMER_PROF, &after);
  OK(after.it_interval.tv_sec == 77);
  memset(&timer, 0, sizeof(timer));
  setitimer(ITIMER_PROF, &timer, NULL);
  lua_getfield(L, -1, "stop");
  lua_call(L, 0, 1);
  OK(!lua_toboolean(L, -1));
  OK(descriptors() == fds);
  lua_close(L);
}

/* Without require, and without a library. */
static void test_c(void)
{
  lua_State *L = luaL_newstate();
  Sink s = {0};
  int i;
  OK(module_stop(L) == LUAM_PROFILE_ERR);
  OK(sink_start(L, &s) == LUAM_PROFILE_SUCCESS);
  OK(sink_start(L, &s) == LUAM_PROFILE_ERR);
  OK(module_isrunning());
  for (i = 0; i < 1000; i++)
    lua_newtable(L);
  OK(module_stop(lua_newthread(L)) == LUAM_PROFILE_SUCCESS);
  OK(s.stops == 1 && s.bytes > 1000 && !module_isrunning());
  lua_close(L);
}

/* Each allocation of require and start fails once. */
static void test_memory(void)
{
  int fds = descriptors(), n, done = 0;
  for (n = 0; n < 1000 && !done; n++) {
    Heap h = {-1, 0};
    Sink s = {0};
    lua_State *L = lua_newstate(heap_alloc, &h);
    int status, started;
    if (L == NULL)
      return; /* With references of 32 bits the VM has memory of its own. */
    lua_checkstack(L, 100);
    lua_pushcfunction(L, module_open);
    h.left = n;
    status = lua_pcall(L, 0, 1, 0);
    OK(status == 0 || status == LUA_ERRMEM || status == LUA_ERRRUN);
    if (status != 0)
      OK(strstr(lua_tostring(L, -1), "not enough memory") != NULL);
    h.left = n; /* C hosts are told otherwise. */
    started = sink_start(L, &s);
    OK(started == LUAM_PROFILE_SUCCESS || started == LUAM_PROFILE_ERRMEM);
    done = status == 0;
    lua_close(L);
    OK(s.stops == (started == LUAM_PROFILE_SUCCESS));
    OK(h.blocks == 0);
  }
  OK(n > 5 && done);
  OK(descriptors() == fds);
}

/* A VM is closed because it has used up its memory. */
static void test_closing(void)
{
  int left;
  for (left = 0; left < 6; left++) {
    Heap h = {-1, 0};
    Sink s = {0};
    lua_State *L = lua_newstate(heap_alloc, &h);
    if (L == NULL)
      return;
    luaL_openlibs(L);
    OK(sink_start(L, &s) == LUAM_PROFILE_SUCCESS);
    OK(run(L, "kept = {} for i = 1, 100 do kept[i] = {i} end"));
    h.left = left;
    lua_close(L);
    OK(s.stops == 1 && h.blocks == 0 && !module_isrunning());
  }
}

/* Finalizers that run later than ours, or fail. */
static void test_finalizers(void)
{
  lua_State *L = module_newstate();
  Sink s = {0};
  OK(run(L, "local function last(depth)\n"
            "  local p = newproxy(true)\n"
            "  getmetatable(p).__gc = function()\n"
            "    started, why = memprof.start('/dev/null')\n"
            "    if depth > 0 then last(depth - 1) end\n"
            "    error('in a finalizer')\n"
            "  end\n"
            "end\n"
            "last(20)\n"));
  OK(sink_start(L, &s) == LUAM_PROFILE_SUCCESS);
  OK(run(L, "for i = 1, 100 do last = {i} end"));
  lua_close(L);
  OK(s.stops == 1 && !module_isrunning());
}

/* The registry loses what is ours. */
static void test_registry(void)
{
  lua_State *L = module_newstate();
  Sink s = {0};
  int i;
  for (i = 0; i < 3; i++) {
    OK(run(L, "local r = debug.getregistry()\n"
              "for k, v in pairs(r) do\n"
              "  if type(k) == 'userdata' then r[k] = nil end\n"
              "end\n"
              "collectgarbage() collectgarbage()\n"
              "assert(memprof.start('/dev/null'))\n"
              "assert(memprof.stop())\n"));
  }
  OK(sink_start(L, &s) == LUAM_PROFILE_SUCCESS);
  lua_close(L);
  OK(s.stops == 1 && !module_isrunning());
}

/* A writer that calls us while the VM allocates. */
static void test_writer(void)
{
  lua_State *L = module_newstate();
  Sink s = {L, 0, 0, 0};
  OK(sink_start(L, &s) == LUAM_PROFILE_SUCCESS);
  OK(run(L, "local function f(a, b, c)\n"
            "  local t = {a, b, c}\n"
            "  last = t\n"
            "  return t[1] + t[2] + t[3] + a + b + c\n"
            "end\n"
            "for i = 1, 300000 do assert(f(i, i, 1) == 4 * i + 2) end\n"));
  OK(module_stop(L) == LUAM_PROFILE_SUCCESS);
  OK(s.rude == 0);
  OK(s.bytes > 100000 && s.stops == 1);
  lua_close(L);
}

static void hook_fails(lua_State *L, lua_Debug *ar)
{
  (void)ar;
  luaL_error(L, "hook fails");
}

/* Everywhere that Lua code may ask for it. */
static void test_places(void)
{
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushcfunction(L, module_open);
  lua_setglobal(L, "open");
  OK(run(L, "package.loaded.misc = nil")); /* Of a patched VM. */
  lua_sethook(L, hook_fails, LUA_MASKCOUNT, 1);
  OK(module_require(L) != 0);
  OK(strstr(lua_tostring(L, -1), "hook fails") != NULL);
  lua_sethook(L, NULL, 0, 0);
  OK(run(
      L,
      "local open, n = open, 0\n"
      "local function check(m)\n"
      "  assert(m and m.start('/dev/null') and m.stop())\n"
      "  n = n + 1\n"
      "end\n"
      "check(coroutine.wrap(open)())\n"
      "xpcall(error, function() check(open()) end)\n"
      "local ffi = require('ffi')\n"
      "local cb = ffi.cast('void (*)(void)', function() check(open()) end)\n"
      "cb()\n"
      "debug.sethook(function() debug.sethook() check(open()) end, 'l')\n"
      "local x = 1\n"
      "local p = newproxy(true)\n"
      "getmetatable(p).__gc = function() check(open()) end\n"
      "p = nil collectgarbage()\n"
      "jit.off() check(open()) jit.on()\n"
      "jit.opt.start(1, '-fold', 'maxtrace=1', 'sizemcode=1') check(open())\n"
      "assert(n == 7, n)\n"
      "local g = _G for k in pairs(g) do g[k] = nil end\n"
      "check = open()\n"));
  lua_close(L);
}

/* A child has the parent's recording, but not its stream. */
static void test_fork(void)
{
  lua_State *L = module_newstate();
  Sink s = {0};
  size_t before;
  int status;
  pid_t pid;
  OK(sink_start(L, &s) == LUAM_PROFILE_SUCCESS);
  before = s.bytes;
  pid = fork();
  if (pid == 0) {
    Sink own = {0};
    run(L, "for i = 1, 100000 do last = {i} end");
    status = s.bytes != before || module_isrunning();
    status |= module_stop(L) == LUAM_PROFILE_ERR ? 0 : 2;
    status |= sink_start(L, &own) == LUAM_PROFILE_SUCCESS ? 0 : 4;
    lua_close(L);
    status |= own.stops == 1 && own.bytes > 0 && s.bytes == before ? 0 : 8;
    _exit(status);
  }
  waitpid(pid, &status, 0);
  OK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  OK(s.bytes == before && s.stops == 0 && module_isrunning());
  lua_close(L);
  OK(s.stops == 1 && s.bytes > before);
}

static void *thread_main(void *arg)
{
  int *bad = (int *)arg, i;
  for (i = 0; i < 10; i++) {
    lua_State *L = luaL_newstate();
    Sink s = {0};
    int status = module_require(L);
    *bad += status != 0;
    *bad += sink_start(L, &s) != LUAM_PROFILE_SUCCESS;
    lua_newtable(L);
    if (i % 2)
      *bad += module_stop(L) != LUAM_PROFILE_SUCCESS;
    lua_close(L);
    *bad += s.stops != 1;
  }
  return NULL;
}

/* Threads, of which all may be the first to load it. */
static void test_threads(void)
{
  pthread_t thread[4];
  int bad[4] = {0}, i;
  for (i = 0; i < 4; i++)
    pthread_create(&thread[i], NULL, thread_main, &bad[i]);
  for (i = 0; i < 4; i++) {
    pthread_join(thread[i], NULL);
    OK(bad[i] == 0);
  }
}

/* Resident pages: the second number there. */
static long resident(void)
{
  FILE *f = fopen("/proc/self/statm", "r");
  char text[128] = "", *second;
  OK(f != NULL && fgets(text, sizeof(text), f) != NULL);
  if (f != NULL)
    fclose(f);
  second = strchr(text, ' ');
  OK(second != NULL);
  return second != NULL ? strtol(second, NULL, 10) : 0;
}

/* VMs that come and go leave nothing behind. */
static void test_churn(void)
{
  long before = 0;
  int fds = descriptors(), i;
  for (i = 0; i < 2200; i++) {
    lua_State *L = luaL_newstate();
    Sink s = {0};
    if (i == 200)
      before = resident();
    OK(module_require(L) == 0);
    OK(sink_start(L, &s) == LUAM_PROFILE_SUCCESS);
    lua_close(L);
    OK(s.stops == 1);
  }
#ifndef __SANITIZE_ADDRESS__ /* It keeps what is freed, and looks for leaks.   \
                              */
  OK(resident() - before < 256);
#else
  OK(before > 0);
#endif
  OK(descriptors() == fds);
}

int main(int argc, char **argv)
{
  if (argc != 2)
    return 64;
  module_load(argv[1]);
  test_descriptors();
  test_profiled();
  test_threads();
  test_bare();
  test_c();
  test_memory();
  test_closing();
  test_finalizers();
  test_registry();
  test_writer();
  test_places();
  test_fork();
  test_churn();
  printf("%u checks, %u failures\n", checks, failures);
  return failures != 0;
}

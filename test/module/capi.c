/*
** The C API of memprof.so, for a host that loads it or is linked with it.
**
**   capi [MODULE]     loads it; without, it is linked
*/

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "lauxlib.h"
#include "lmisclib.h"
#include "lualib.h"

static int (*start)(lua_State *L, const struct luam_Prof_options *opt);
static int (*stop)(const lua_State *L);
static bool (*isrunning)(void);

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
  return start && stop && isrunning;
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

static lua_State *capi_newstate(void)
{
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  return L;
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
  lua_close(L);
  printf("%u checks, %u failures\n", checks, failures);
  return failures != 0;
}

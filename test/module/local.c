/*
** A host that has loaded LuaJIT for itself alone: memprof.so says what helps,
** and works with that.
**
**   local PLUGIN MEMPROF.SO     the host; this is its plugin
*/

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lmisclib.h"
#include "lualib.h"

#define AGAIN "MODULE_LOCAL_AGAIN" /* In the environment: with LD_PRELOAD. */

static unsigned failures;

static void ok(int cond, const char *what)
{
  if (!cond) {
    failures++;
    printf("FAILED: %s\n", what);
  }
}

static const char program[] =
    "local open, message = package.loadlib((...), 'luaopen_memprof')\n"
    "local auto = package.loadlib((...), 'luaopen_memprof_auto')\n"
    "if not open or not auto then return message end\n"
    "local ok, got = pcall(open)\n"
    "local again = pcall(auto)\n"
    "if not ok then return again and 'auto: no error' or got end\n"
    "return type(got.start) == 'function' and 'works' or type(got)\n";

/* The C API refuses, without a crash. */
static void local_capi(lua_State *L, const char *module)
{
  typedef int (*Start)(lua_State *, const struct luam_Prof_options *);
  struct luam_Prof_options opt = {0};
  void *so = dlopen(module, RTLD_NOW | RTLD_LOCAL);
  ok(so != NULL, "the module is loaded");
  if (so == NULL)
    return;
  ok(((Start)(uintptr_t)dlsym(so, "luaM_memprof_start"))(L, &opt) ==
         LUAM_PROFILE_ERR,
     "luaM_memprof_start");
  ok(((Start)(uintptr_t)dlsym(so, "luaM_memprof_dump"))(L, &opt) ==
         LUAM_PROFILE_ERR,
     "luaM_memprof_dump");
}

/* What the module says: the library's path is behind LD_PRELOAD=. */
static void local_said(const char *said, char **argv)
{
  const char *path = strstr(said, "LD_PRELOAD=");
  printf("%s\n", said);
  ok(strncmp(said, "memprof cannot call this LuaJIT: ", 33) == 0, "the reason");
  ok(path != NULL, "what helps");
  if (path == NULL || failures)
    return;
  setenv("LD_PRELOAD", path + strlen("LD_PRELOAD="), 1);
  setenv(AGAIN, "1", 1);
  fflush(stdout);
  execv("/proc/self/exe", argv);
  perror("exec");
  failures++;
}

int plugin_main(char **argv);

int plugin_main(char **argv)
{
  lua_State *L = luaL_newstate();
  const char *said;
  luaL_openlibs(L);
  ok(luaL_loadbuffer(L, program, strlen(program), "=local") == 0, "compile");
  lua_pushstring(L, argv[2]);
  ok(lua_pcall(L, 1, 1, 0) == 0, "run");
  said = lua_tostring(L, -1);
  if (getenv(AGAIN)) {
    ok(strcmp(said, "works") == 0, said);
  } else {
    local_capi(L, argv[2]);
    local_said(said, argv);
  }
  lua_close(L);
  return failures ? 1 : 0;
}

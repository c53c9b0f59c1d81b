/*
** Hosts that end without lua_close(), while another thread runs the VM: their
** recordings are whole.
**
**   exit MODULE PARSER FILE
*/

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lmisclib.h"
#include "lualib.h"

static const char *module, *file;
static volatile int running;

/* -- The host -------------------------------------------------------------- */

static size_t out_write(const void *data, size_t len, void *arg)
{
  return fwrite(data, 1, len, (FILE *)arg);
}

static int out_stop(void *arg)
{
  return fclose((FILE *)arg);
}

/* By the C API of a module that is loaded, and then closed. */
static void start_by_c(lua_State *L)
{
  struct luam_Prof_options opt = {.writer = out_write, .on_stop = out_stop};
  int (*start)(lua_State * L, const struct luam_Prof_options *opt);
  void *so = dlopen(module, RTLD_NOW | RTLD_LOCAL);
  if (so == NULL)
    abort();
  *(void **)&start = dlsym(so, "luaM_memprof_start");
  opt.arg = fopen(file, "w");
  if (start(L, &opt) != LUAM_PROFILE_SUCCESS || dlclose(so) != 0)
    abort();
}

/* From Lua, in a VM that has the recorder as a module. */
static void start_by_lua(lua_State *L)
{
  char code[512];
  snprintf(code, sizeof(code),
           "package.loaded.misc = nil\n"
           "assert(require('memprof').start('%s', {stack = 16}))",
           file);
  if (luaL_dostring(L, code)) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    abort();
  }
}

static void (*start)(lua_State *L);

static void *host_thread(void *arg)
{
  lua_State *L = luaL_newstate();
  (void)arg;
  luaL_openlibs(L);
  start(L);
  running = 1;
  if (luaL_dostring(L, "local t = {}\n"
                       "while true do\n"
                       "  for i = 1, 100 do t[i] = {i, tostring(i)} end\n"
                       "end\n"))
    abort();
  return NULL;
}

static void host(void)
{
  pthread_t thread;
  pthread_create(&thread, NULL, host_thread, NULL);
  while (!running)
    usleep(1000);
  usleep(50000);
  exit(0);
}

/* -- The test -------------------------------------------------------------- */

static int run(const char *parser, const char *what, void (*way)(lua_State *))
{
  int status;
  pid_t pid;
  unlink(file);
  start = way;
  pid = fork();
  if (pid == 0)
    host();
  if (waitpid(pid, &status, 0) != pid || status != 0) {
    printf("FAILED: %s: the host ends with %#x\n", what, (unsigned)status);
    return 1;
  }
  pid = fork();
  if (pid == 0) {
    execl(parser, parser, "-o", "/dev/null", file, (char *)NULL);
    _exit(127);
  }
  if (waitpid(pid, &status, 0) != pid || status != 0) {
    printf("FAILED: %s: the parser ends with %#x\n", what, (unsigned)status);
    return 1;
  }
  return 0;
}

int main(int argc, char **argv)
{
  int i, failed = 0;
  if (argc != 4)
    return 64;
  module = argv[1];
  file = argv[3];
  for (i = 0; i < 10 && !failed; i++)
    failed = run(argv[2], "from Lua", start_by_lua) +
             run(argv[2], "from C", start_by_c);
  unlink(file);
  return failed != 0;
}

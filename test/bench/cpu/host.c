/*
** A host of LuaJIT VMs: runs a Lua file in each of some threads, each with a VM
** of its own. Linked with the shared library, it also is the embedder that has
** no LuaJIT in its own file.
**
**   host THREADS FILE [ARGUMENT...]
**
** THREADS 0 is the main thread. Globals: `arg`; in threads also THREAD, from 1
** on, and ready(), which waits for all of them, and for a line on standard
** input if TRUTH_GO is set. HOST_JIT_OFF in the environment: no JIT compiler.
*/

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

#define MAX_THREADS 64

static pthread_barrier_t prepared, started;
static int argc_of_all;
static char **argv_of_all;

static int ready(lua_State *L)
{
  (void)L;
  if (pthread_barrier_wait(&prepared) == PTHREAD_BARRIER_SERIAL_THREAD) {
    puts("truth ready");
    fflush(stdout);
    if (getenv("TRUTH_GO"))
      (void)getchar();
  }
  pthread_barrier_wait(&started);
  return 0;
}

static void set_globals(lua_State *L, int thread)
{
  int i;
  lua_newtable(L);
  for (i = 2; i < argc_of_all; i++) {
    lua_pushstring(L, argv_of_all[i]);
    lua_rawseti(L, -2, i - 2);
  }
  lua_setglobal(L, "arg");
  if (thread > 0) {
    lua_pushinteger(L, thread);
    lua_setglobal(L, "THREAD");
    lua_register(L, "ready", ready);
  }
}

static int run(int thread)
{
  lua_State *L = luaL_newstate();
  int status;
  if (L == NULL)
    return 1;
  luaL_openlibs(L);
  set_globals(L, thread);
  if (getenv("HOST_JIT_OFF"))
    (void)luaL_dostring(L, "jit.off()");
  status = luaL_dofile(L, argv_of_all[2]);
  if (status != 0)
    fprintf(stderr, "host: %s\n", lua_tostring(L, -1));
  lua_close(L);
  return status;
}

static void *thread_main(void *arg)
{
  int *status = (int *)arg;
  *status = run(*status);
  return NULL;
}

int main(int argc, char **argv)
{
  pthread_t thread[MAX_THREADS];
  int status[MAX_THREADS], n, i, failed = 0;
  if (argc < 3 || (n = atoi(argv[1])) < 0 || n > MAX_THREADS) {
    fputs("usage: host THREADS FILE [ARGUMENT...]\n", stderr);
    return 64;
  }
  argc_of_all = argc;
  argv_of_all = argv;
  if (n == 0)
    return run(0) != 0;
  pthread_barrier_init(&prepared, NULL, (unsigned)n);
  pthread_barrier_init(&started, NULL, (unsigned)n);
  for (i = 0; i < n; i++) {
    status[i] = i + 1;
    if (pthread_create(&thread[i], NULL, thread_main, &status[i]) != 0)
      return 1;
  }
  for (i = 0; i < n; i++) {
    pthread_join(thread[i], NULL);
    failed |= status[i] != 0;
  }
  return failed;
}

/*
** Threads with a VM each: two run, two wait, one has none.
*/

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>

static pthread_mutex_t locked = PTHREAD_MUTEX_INITIALIZER;

/* Waits forever. */
static int wait_for_lock(lua_State *L)
{
  (void)L;
  pthread_mutex_lock(&locked);
  return 0;
}

static void *run(void *source)
{
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_register(L, "wait_for_lock", wait_for_lock);
  if (luaL_dostring(L, source))
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
  return NULL;
}

static void *idle(void *arg)
{
  for (;;)
    pause();
  return arg;
}

int main(void)
{
  static char spin[] = "local function spin() local n = 0 "
                       "while true do n = n + 1 end end spin() return 1";
  static char block[] = "local function block() wait_for_lock() return 1 end "
                        "block() return 1";
  char *source[] = {spin, spin, block, block};
  pthread_t t;
  int i;
  pthread_mutex_lock(&locked);
  for (i = 0; i < 4; i++)
    pthread_create(&t, NULL, run, source[i]);
  pthread_create(&t, NULL, idle, NULL);
  usleep(200000);
  puts("ready");
  fflush(stdout);
  idle(NULL);
  return 0;
}

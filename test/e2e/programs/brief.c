/*
** Threads with a VM and a name each, one after the other: none lives long.
*/

#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#include <lauxlib.h>
#include <lualib.h>

#define THREADS 40

static void *run(void *name)
{
  lua_State *L = luaL_newstate();
  pthread_setname_np(pthread_self(), name);
  luaL_openlibs(L);
  if (luaL_dostring(L, "local stop, n = os.clock() + 0.03, 0 "
                       "while os.clock() < stop do n = n + 1 end"))
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
  lua_close(L);
  return NULL;
}

int main(void)
{
  int i;
  for (i = 0; i < THREADS; i++) {
    pthread_t thread;
    char name[16];
    snprintf(name, sizeof(name), "brief-%d", i);
    if (pthread_create(&thread, NULL, run, name))
      return 1;
    pthread_join(thread, NULL);
  }
  return 0;
}

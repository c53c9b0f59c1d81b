/* Runs a Lua script and writes a recording of its memory to standard output. */

#include <stdio.h>

#include "lauxlib.h"
#include "lmisclib.h"
#include "lualib.h"

/* Hand a part of the stream over. */
static size_t host_write(const void *data, size_t len, void *arg)
{
  return fwrite(data, 1, len, arg);
}

/* The recording has ended. */
static int host_stop(void *arg)
{
  return fflush(arg);
}

int main(int argc, char **argv)
{
  struct luam_Prof_options opt = {
      .arg = stdout, .writer = host_write, .on_stop = host_stop};
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  if (argc != 2 || luaM_memprof_start(L, &opt) != LUAM_PROFILE_SUCCESS ||
      luaL_dofile(L, argv[1]) || luaM_memprof_stop(L) != LUAM_PROFILE_SUCCESS)
    return 1;
  lua_close(L);
  return 0;
}

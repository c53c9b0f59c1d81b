/*
** Runs a Lua program in a VM that takes heap dumps at random, and judges them.
**
**   host MODULE SCRIPTS COUNT SEED PROGRAM [ARGUMENT...]
**
** MODULE is memprof.so, or "-" for the recorder in LuaJIT itself. At least
** COUNT dumps are taken, in as many runs as that needs, up to RUNS. Prints to
** stderr what they had.
*/

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"

#define RUNS 200

typedef int Take(lua_State *L, const struct luam_Prof_options *opt);

static Take *host_take(const char *module)
{
  bool own = strcmp(module, "-") == 0;
  void *so = own ? RTLD_DEFAULT : dlopen(module, RTLD_NOW);
  Take *take = NULL;
  if (own || so != NULL)
    *(void **)&take = dlsym(so, "luaM_memprof_dump");
  if (take == NULL)
    fprintf(stderr, "host: %s\n", dlerror());
  return take;
}

/* Runs the program in a VM of its own. */
static int host_run(Judge *j, char **argv)
{
  lua_State *L = judge_open(j);
  int i, status;
  if (L == NULL) {
    fprintf(stderr, "host: this LuaJIT has its own allocator only\n");
    return 77;
  }
  lua_newtable(L);
  for (i = 0; argv[i] != NULL; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i);
  }
  lua_setglobal(L, "arg");
  status = luaL_loadfile(L, argv[0]);
  for (i = 1; !status && argv[i] != NULL; i++)
    lua_pushstring(L, argv[i]);
  if (!status)
    status = judge_call(j, L, i - 1);
  if (status)
    fprintf(stderr, "host: %s\n", lua_tostring(L, -1));
  lua_close(L);
  return status;
}

int main(int argc, char **argv)
{
  Judge count = {0}, j = {0};
  uint64_t dumps;
  int status, i;
  if (argc < 6 || (dumps = strtoull(argv[3], NULL, 10)) == 0)
    return 64;
  if ((j.take = host_take(argv[1])) == NULL)
    return 1;
  status = host_run(&count, argv + 5);
  if (status)
    return status;
  j.scripts = argv[2];
  j.seed = strtoull(argv[4], NULL, 10);
  j.mean = count.during / dumps + 1;
  for (i = 0; i < RUNS && !status && j.dumps < dumps && !*j.fault; i++)
    status = host_run(&j, argv + 5);
  fprintf(stderr,
          "%u dumps, %u on traces, %u with bytes without an owner, %u refused; "
          "%llu objects, %llu garbage%s%s\n",
          j.dumps, j.traces, j.making, j.refused, (unsigned long long)j.objects,
          (unsigned long long)j.garbage, *j.fault ? "; FAULT: " : "", j.fault);
  return status || *j.fault;
}

/*
** A Lua module of C functions that call back into Lua in all the ways there
** are, and that burn CPU time: for the programs of this benchmark.
*/

#include <time.h>

#include "lua.h"
#include "lauxlib.h"

int luaopen_cbench(lua_State *L);
double cb_burn(double n);
void cb_each(int n, double (*fn)(double), double arg);
extern volatile double cb_last;
int cb_late(lua_State *L);

/* Burns CPU time: n steps. For FFI, too. */
double cb_burn(double n)
{
  double x = 1;
  long steps = (long)n, i;
  for (i = 0; i < steps; i++)
    x = x * 0.999 + (double)i;
  return x;
}

volatile double cb_last; /* Without it the last call would be a jump. */

/* Calls fn n times. For FFI callbacks. */
__attribute__((noinline)) void cb_each(int n, double (*fn)(double), double arg)
{
  for (; n > 0; n--)
    cb_last = fn(arg);
}

/* -- C between Lua and Lua: NAME(fn, ...) calls fn(...) -------------------- */

static int cb_call(lua_State *L)
{
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int cb_pcall(lua_State *L)
{
  if (lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0) != 0)
    return lua_error(L);
  return lua_gettop(L);
}

/* The function and its arguments are in a table, as lua_cpcall() takes one
** pointer only.
*/
static int protected_call(lua_State *L)
{
  const int *ref = (const int *)lua_touserdata(L, 1);
  int i, n;
  lua_rawgeti(L, LUA_REGISTRYINDEX, *ref);
  n = (int)lua_objlen(L, 2);
  for (i = 1; i <= n; i++)
    lua_rawgeti(L, 2, i);
  lua_call(L, n - 1, 0);
  return 0;
}

static int cb_cpcall(lua_State *L)
{
  int i, n = lua_gettop(L), ref, status;
  lua_createtable(L, n, 0);
  lua_insert(L, 1);
  for (i = n; i >= 1; i--)
    lua_rawseti(L, 1, i);
  ref = luaL_ref(L, LUA_REGISTRYINDEX);
  status = lua_cpcall(L, protected_call, &ref);
  luaL_unref(L, LUA_REGISTRYINDEX, ref);
  return status != 0 ? lua_error(L) : 0;
}

/* In a coroutine of its own. */
static int cb_resume(lua_State *L)
{
  int n = lua_gettop(L);
  lua_State *co = lua_newthread(L);
  lua_insert(L, 1);
  lua_xmove(L, co, n);
  if (lua_resume(co, n - 1) != 0) {
    lua_xmove(co, L, 1);
    return lua_error(L);
  }
  return 0;
}

/* A function to be loaded by its own name, late. */
int cb_late(lua_State *L)
{
  lua_call(L, lua_gettop(L) - 1, 0);
  return 0;
}

static int cb_lburn(lua_State *L)
{
  lua_pushnumber(L, cb_burn(luaL_checknumber(L, 1)));
  return 1;
}

static int push_clock(lua_State *L, clockid_t id)
{
  struct timespec t;
  clock_gettime(id, &t);
  lua_pushnumber(L, (double)t.tv_sec + (double)t.tv_nsec / 1e9);
  return 1;
}

/* seconds = cpu(): of this thread. That of the process goes in ticks of 4 ms
** while ITIMER_PROF runs, and LuaJIT's own profiler needs that.
*/
static int cb_cpu(lua_State *L)
{
  return push_clock(L, CLOCK_THREAD_CPUTIME_ID);
}

/* seconds = wall(): of a clock that runs always */
static int cb_wall(lua_State *L)
{
  return push_clock(L, CLOCK_MONOTONIC);
}

int luaopen_cbench(lua_State *L)
{
  static const luaL_Reg functions[] = {
      {"call", cb_call},     {"pcall", cb_pcall}, {"cpcall", cb_cpcall},
      {"resume", cb_resume}, {"burn", cb_lburn},  {"cpu", cb_cpu},
      {"wall", cb_wall},     {NULL, NULL}};
  lua_newtable(L);
  luaL_register(L, NULL, functions);
  return 1;
}

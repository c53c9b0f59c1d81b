/*
** What a host does with a VM outside of Lua: no call, other coroutines.
*/

#include "rec.h"

#include <string.h>

/* Runs fn(L) as a recording; the events without a place have to be UNKNOWN,
** or, if that is negative, at least as many as it says.
*/
static void record(void (*fn)(lua_State *L), int unknown)
{
  int format;
  for (format = 0; format < REC_FORMATS; format++) {
    RecStream s = {0};
    lua_State *L = rec_open();
    struct luam_Prof_options opt = rec_options(&s, format);
    int64_t live = rec_live(L);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    fn(L);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    rec_checkwhole(&s, rec_live(L) - live);
    if (format == LUAM_PROF_COMPACT) {
      RecBooks b = rec_books(&s);
      if (unknown >= 0)
        ck_assert_uint_eq(b.unknown, (unsigned)unknown);
      else
        ck_assert_uint_ge(b.unknown, (unsigned)-unknown);
    }
    lua_close(L);
    rec_free(&s);
  }
}

/* -- Outside of any call --------------------------------------------------- */

static void outside(lua_State *L)
{
  int i;
  lua_gc(L, LUA_GCSTOP, 0);
  for (i = 0; i < 100; i++) {
    lua_newtable(L);
    lua_newuserdata(L, 100);
    lua_pop(L, 2);
  }
  lua_gc(L, LUA_GCRESTART, 0);
}

START_TEST(outside_of_any_call)
{
  record(outside, 200);
}
END_TEST

/* A VM that has not run anything at all yet. */
START_TEST(virgin)
{
  RecStream s = {0};
  lua_State *L = luaL_newstate();
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  int64_t live = rec_live(L);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  luaL_openlibs(L);
  rec_run(L, rec_small);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  rec_checkwhole(&s, rec_live(L) - live);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* The collector at work, with nobody running. */
static void collect(lua_State *L)
{
  int i;
  for (i = 0; i < 1000; i++) {
    lua_newtable(L);
    lua_pop(L, 1);
    if (i % 100 == 0)
      lua_gc(L, i % 200 ? LUA_GCSTEP : LUA_GCCOLLECT, 10);
  }
}

START_TEST(collector)
{
  record(collect, -1000);
}
END_TEST

/* -- Coroutines of C ------------------------------------------------------- */

static int body(lua_State *L)
{
  lua_newtable(L);
  return lua_yield(L, 1);
}

static int deep(lua_State *L)
{
  luaL_checkstack(L, 3000, "deep");
  lua_newuserdata(L, 64);
  return lua_yield(L, 0);
}

/* Resumed from plain C, dropped, and collected while nobody is running. */
static void drop(lua_State *L)
{
  int i;
  for (i = 0; i < 50; i++) {
    lua_State *co = lua_newthread(L);
    lua_pushcfunction(co, i % 2 ? body : deep);
    ck_assert_int_eq(lua_resume(co, 0), LUA_YIELD);
    lua_newtable(co);
    if (i % 3 == 0)
      lua_resume(co, 0);
    lua_pop(L, 1);
    lua_gc(L, LUA_GCCOLLECT, 0);
    lua_newtable(L);
    lua_pop(L, 1);
  }
}

START_TEST(dropped_coroutines)
{
  record(drop, -50);
}
END_TEST

/* Lua code as the body, with pcall and errors. */
static void resume_lua(lua_State *L)
{
  int i, n;
  for (i = 0; i < 20; i++) {
    lua_State *co = lua_newthread(L);
    ck_assert_int_eq(luaL_loadstring(co, "for i = 1, 5 do\n"
                                         "  local t = { {} }\n"
                                         "  pcall(coroutine.yield, t)\n"
                                         "end\n"
                                         "error({})\n"),
                     0);
    for (n = 0; lua_resume(co, 0) == LUA_YIELD; n++) {
      lua_settop(co, 0);
      lua_gc(L, LUA_GCSTEP, 1);
    }
    ck_assert_int_eq(n, 5);
    lua_pop(L, 1);
  }
}

START_TEST(resume_from_c)
{
  record(resume_lua, -1);
}
END_TEST

/* -- One coroutine's stack from another one -------------------------------- */

static int on_other(lua_State *L)
{
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  int i;
  for (i = 0; i < 50; i++) {
    lua_newtable(co);
    lua_newuserdata(co, 32);
    lua_pushfstring(co, "text %d", i);
    lua_settop(co, 0);
  }
  luaL_checkstack(co, 5000, "more");
  lua_newtable(L);
  return 1;
}

static void other(lua_State *L)
{
  lua_newthread(L);
  lua_pushcclosure(L, on_other, 1);
  lua_setglobal(L, "on_other");
  rec_run(L, "for i = 1, 5 do coroutine.wrap(function()\n"
             "  local t = on_other()\n"
             "  pcall(on_other)\n"
             "end)() end\n");
}

START_TEST(other_coroutine)
{
  record(other, -1);
}
END_TEST

/* -- Loads, calls and errors of C ------------------------------------------ */

static const char *read_some(lua_State *L, void *ud, size_t *size)
{
  int *n = ud;
  lua_newtable(L); /* A reader that allocates. */
  lua_pop(L, 1);
  *size = 12;
  return ++*n <= 3 ? "local x={}  " : NULL;
}

static int fails(lua_State *L)
{
  lua_newtable(L);
  return lua_error(L);
}

static int protected(lua_State *L)
{
  int n = 0;
  ck_assert_int_eq(lua_load(L, read_some, &n, "=reader"), 0);
  lua_call(L, 0, 0);
  lua_pushcfunction(L, fails);
  ck_assert_int_eq(lua_pcall(L, 0, 0, 0), LUA_ERRRUN);
  lua_newuserdata(L, 128);
  return 0;
}

static void calls(lua_State *L)
{
  int i, n = 0;
  ck_assert_int_eq(lua_load(L, read_some, &n, "=reader"), 0);
  ck_assert_int_eq(lua_pcall(L, 0, 0, 0), 0);
  for (i = 0; i < 20; i++) {
    ck_assert_int_eq(lua_cpcall(L, protected, NULL), 0);
    ck_assert_int_eq(lua_cpcall(L, fails, NULL), LUA_ERRRUN);
    lua_settop(L, 0);
  }
}

START_TEST(loads_and_calls)
{
  record(calls, -1);
}
END_TEST

/* -- Hooks of C ------------------------------------------------------------ */

static void hook(lua_State *L, lua_Debug *ar)
{
  lua_newuserdata(L, 16 + (size_t)ar->event);
  lua_pop(L, 1);
}

static void hooked(lua_State *L)
{
  lua_sethook(L, hook, LUA_MASKLINE | LUA_MASKCALL | LUA_MASKRET, 0);
  rec_run(L, rec_small);
  lua_sethook(L, hook, LUA_MASKCOUNT, 3);
  rec_run(L, rec_small);
  lua_sethook(L, NULL, 0, 0);
}

START_TEST(hooks)
{
  record(hooked, -1);
}
END_TEST

int main(void)
{
  const TTest *tests[] = {outside_of_any_call, virgin,        collector,
                          dropped_coroutines,  resume_from_c, other_coroutine,
                          loads_and_calls,     hooks};
  return REC_MAIN("host", tests);
}

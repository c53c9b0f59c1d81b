/*
** Names of functions whose definition is gone: by the closures that hold them,
** and by verified calls. What cannot be told has no name.
*/

#include <string.h>

#include "live.h"
#include "luasites.h"
#include "remote.h"
#include "suites.h"

#define NAMES (SOURCE "/names.lua")

/* The names of the module's functions on the stack, innermost first, with a
** blank behind each; "-" for those without.
*/
static void names_of(const Live *p, char *text, size_t size)
{
  static struct ljs_stack s;
  LsLua *lua = ls_lua_open(p->pid);
  unsigned i;
  size_t n = 0;
  live_walk(p, &s);
  text[0] = '\0';
  for (i = 0; i < s.nframes; i++) {
    LsSite site;
    ck_assert_uint_eq(ls_lua_sites(lua, &p->vm, &s, i, &site, 1), 1);
    if (((site.kind == LS_BUILTIN || site.kind == LS_CFUNC) && *site.name) ||
        strcmp(site.chunk, "@module.lua") == 0)
      n += (size_t)snprintf(text + n, size - n, "%s ",
                            *site.name ? site.name : "-");
    ck_assert_uint_lt(n, size);
  }
  ls_lua_close(lua);
}

static void names_of_are(const char *const *argv, const char *want)
{
  char text[256];
  Live p;
  live_start(&p, argv, NULL);
  ck_assert_int_eq(live_wait(&p), 1);
  live_find(&p);
  names_of(&p, text, sizeof(text));
  ck_assert_msg(strcmp(text, want) == 0, "%s %s: %s\nbut should be %s", argv[2],
                argv[3] ? argv[3] : "", text, want);
  live_end(&p);
}

static void names_are(const char *how, const char *loaded, const char *want)
{
  names_of_are((const char *[]){LUAJIT, NAMES, how, loaded, NULL}, want);
}

START_TEST(upvalues)
{
  names_are("upvalue", NULL, "os.execute stop middle - ");
  names_are("upvalue", "1", "os.execute stop middle module.upvalue ");
  names_are("pcall", NULL, "os.execute stop protected pcall - ");
}
END_TEST

/* One that is assigned to is the function's if it is called by that. */
START_TEST(assigned)
{
  names_are("forward", NULL, "os.execute stop forward - ");
  names_are("state", NULL, "os.execute stop idle - ");
}
END_TEST

/* The first of two variables that have it is what the function is called. */
START_TEST(alias)
{
  names_are("alias", NULL, "os.execute stop first - ");
}
END_TEST

START_TEST(tables)
{
  names_are("method", NULL, "os.execute stop T.method - ");
  names_are("object", NULL, "os.execute stop object.other - ");
  names_are("field", NULL, "os.execute stop util.sub.deep - ");
}
END_TEST

/* What did a tail call has left no frame: what it called has not its name. */
START_TEST(tailcalls)
{
  names_are("tail", NULL, "os.execute stop - ");
  names_are("any", NULL, "os.execute stop - - ");
}
END_TEST

/* Variables of other functions, keys of data and globals of an environment that
** no module has are no names.
*/
START_TEST(others)
{
  names_are("parameter", NULL, "os.execute stop - - ");
  names_are("data", NULL, "os.execute stop - - ");
  names_are("global", NULL, "os.execute stop - - ");
}
END_TEST

/* By a variable that it holds, a function is named by who made it: if memory is
** near each other, which that of AddressSanitizer is not.
*/
START_TEST(made)
{
#ifndef __SANITIZE_ADDRESS__
  names_are("factory", NULL, "os.execute stop counter - ");
#endif
}
END_TEST

/* -- C functions ---------------------------------------------------------- */

/* The name of a C function, which is in tables in this way. */
static void cname_is(const char *how, const char *name)
{
  static const char script[] = SOURCE "/cnames.lua";
  char want[64], dir[] = CBENCH;
  const char *argv[] = {LUAJIT, script, dir, how, NULL};
  *strrchr(dir, '/') = '\0';
  snprintf(want, sizeof(want), "os.execute %s%s", name, *name ? " " : "");
  names_of_are(argv, want);
}

START_TEST(cfunctions)
{
  cname_is("none", "");
  cname_is("module", "a.module.call");
  cname_is("global", "aglobal");
  cname_is("table", "a.module.api.call");
  cname_is("globals", "vimlike.api.call");
  cname_is("deep", "");
}
END_TEST

/* Which of several names is no matter of chance; data has none. */
START_TEST(choices)
{
  cname_is("several", "core.call");
  cname_is("cycle", "cyclic.call");
  cname_is("data", "");
  cname_is("large", "");
}
END_TEST

/* -- Builtins ------------------------------------------------------------- */

/* Whether no module has a builtin, by LuaJIT's own list: metamethods, methods
** of files and buffers, and what iterators call.
*/
static int is_hidden(const char *list)
{
  static const char *const part[] = {"ffi.meta.", "ffi.clib.", "ffi.callback.",
                                     ".method.", "_aux"};
  size_t i;
  for (i = 0; i < sizeof(part) / sizeof(part[0]); i++)
    if (strstr(list, part[i]))
      return 1;
  return 0;
}

/* Whether a name is that of LuaJIT's own list, or none of a hidden one. */
static int is_builtin(const char *name, const char *list)
{
  if (is_hidden(list))
    return !*name;
  if (strncmp(name, "string.buffer.", 14) == 0 && *list == 'b')
    name += 7;
  return strcmp(name, list) == 0;
}

/* So have all builtins. */
START_TEST(builtins)
{
  static struct ljs_stack s;
  const char *argv[] = {LUAJIT, SOURCE "/builtins.lua", VMDEF, NULL};
  static char told[256][64];
  unsigned ffid, n = 0;
  char line[256];
  LsLua *lua;
  Live p;
  live_start(&p, argv, NULL);
  while (fgets(line, sizeof(line), p.out) && strcmp(line, "END\n") != 0)
    if (sscanf(line, "%u", &ffid) == 1 && ffid < 256)
      ck_assert_int_eq(sscanf(line, "%*u %63s", told[ffid]), 1);
  ck_assert_int_eq(live_wait(&p), 1);
  live_find(&p);
  lua = ls_lua_open(p.pid);
  s = (struct ljs_stack){.nframes = 1, .g = p.g, .key = 1};
  for (ffid = 2; ffid < 256; ffid++) {
    LsSite site;
    if (!*told[ffid])
      continue;
    s.frame[0] =
        (struct ljs_frame){.addr = 1, .kind = LJS_FRAME_BUILTIN, .x = ffid};
    ck_assert_uint_eq(ls_lua_sites(lua, &p.vm, &s, 0, &site, 1), 1);
    ck_assert_msg(is_builtin(site.name, told[ffid]), "%u is %s, not %s", ffid,
                  told[ffid], site.name);
    n++;
  }
  ck_assert_uint_gt(n, 100);
  ls_lua_close(lua);
  live_end(&p);
}
END_TEST

/* -- Traces --------------------------------------------------------------- */

/* What was seen of the functions that are compiled. */
typedef struct Seen {
  unsigned small, step, none;
} Seen;

static uint64_t number(const Live *p, uint64_t addr, size_t n)
{
  uint64_t v = 0;
  ck_assert_int_eq(ls_remote_read(p->pid, addr, &v, n), 0);
  return v;
}

/* The names at all places of a trace. */
static void see_trace(const Live *p, LsLua *lua, struct ljs_stack *s,
                      uint64_t fn, uint64_t T, Seen *seen)
{
  uint64_t mcode = number(p, T + p->vm.t_mcode, 8), pc;
  uint32_t size = (uint32_t)number(p, T + p->vm.t_szmcode, 4);
  for (pc = mcode; pc < mcode + size; pc++) {
    LsSite site[64];
    unsigned n, i;
    s->frame[0] =
        (struct ljs_frame){.addr = pc, .fn = fn, .kind = LJS_FRAME_JIT};
    n = ls_lua_sites(lua, &p->vm, s, 0, site, 64);
    for (i = 0; i < n; i++) {
      seen->small += strcmp(site[i].name, "small") == 0;
      seen->step += strcmp(site[i].name, "step") == 0;
      seen->none += i + 1 < n && !*site[i].name;
    }
  }
}

/* Inlined functions have their names; no frame has their closures. The last one
** is compiled() itself, or the main chunk's loop.
*/
START_TEST(traces)
{
  static struct ljs_stack s;
  const char *argv[] = {LUAJIT, SOURCE "/names.lua", "compiled", NULL};
  Seen seen = {0};
  uint32_t n, size;
  uint64_t array, fn;
  LsLua *lua;
  Live p;
  live_start(&p, argv, NULL);
  ck_assert_int_eq(live_wait(&p), 1);
  if (p.vm.jit) {
    unsigned ref = p.vm.gc64 ? 8 : 4;
    live_find(&p);
    live_walk(&p, &s);
    fn = s.frame[2].fn; /* Of compiled(), which calls stop(). */
    s = (struct ljs_stack){.nframes = 1, .g = p.g, .key = 1};
    lua = ls_lua_open(p.pid);
    array = number(&p, p.g + (uint64_t)p.vm.trace, 8);
    size = (uint32_t)number(&p, p.g + (uint64_t)p.vm.trace + 12, 4);
    for (n = 1; n < size; n++) {
      uint64_t T = number(&p, array + (uint64_t)n * ref, ref);
      if (T)
        see_trace(&p, lua, &s, fn, T, &seen);
    }
    ck_assert_uint_gt(seen.small, 0);
    ck_assert_uint_gt(seen.step, 0);
    ck_assert_uint_eq(seen.none, 0);
    ls_lua_close(lua);
  }
  live_end(&p);
}
END_TEST

Suite *suite_names(void)
{
  const TTest *tests[] = {upvalues,  assigned,   alias,   tables,
                          tailcalls, others,     made,    traces,
                          builtins,  cfunctions, choices, NULL};
  return suite_of("names", tests);
}

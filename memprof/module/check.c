/*
** Whether a VM has a layout: the program that makes objects of known content,
** and the probe that it calls to have them looked at.
*/

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "lauxlib.h"
#include "lualib.h"

#include "checking.h"

/* Lines are not needed here: the program is not recorded. */
static const char program[] =
    "local probe, cfunction, builtin = ...\n"
    "local up\n"
    "local function ops(t, ...)\n"
    "  global = t\n"
    "  up = t\n"
    "  local a, b = known, up\n"
    "  a = t.x\n"
    "  t.x = b\n"
    "  t.y = function() end\n"
    "  b = a\n"
    "  for k in next, t do b = k end\n"
    "  for k in a, t do b = k end\n"
    "  t(...)\n"
    "  a = {}\n"
    "  return b, ...\n"
    "end\n"
    "local function values(co)\n"
    "  probe('values', 1234.5, nil, false, 'a string', {}, ops, co)\n"
    "end\n"
    "local function proto(param, other)\n"
    "  probe('proto', proto)\n"
    "  return param.known, other + 1234.5, 'known'\n"
    "end\n"
    "local function many(a, b, c, d, e, f, g)\n"
    "  return a * 1.5 + b * 2.5 + c * 3.5, d, e, f, g, up, ops, values\n"
    "end\n"
    "local function open(value)\n"
    "  probe('upvalues', function() value = value + 1 end, proto, many)\n"
    "end\n"
    "local function interp()\n"
    "  probe('interp')\n"
    "  local t = {}\n"
    "  probe('seen')\n"
    "  return t\n"
    "end\n"
    "local function loops(t, n)\n"
    "  local sum = 0\n"
    "  probe('trace')\n"
    "  for i = 1, n do\n"
    "    sum = sum * 2.71828 + i\n"
    "    t.known = {sum}\n"
    "    if t.absent then sum = 0 end\n"
    "    if i > n / 2 then t.other = {i} end\n"
    "  end\n"
    "  for i = 1, n do\n"
    "    t[1] = {i}\n"
    "  end\n"
    "  probe('traces')\n"
    "  for i = 1, 3 do\n"
    "    probe('mcode', i, require('jit.util').tracemc(i))\n"
    "  end\n"
    "end\n"
    "values(coroutine.create(ops))\n"
    "probe('functions', cfunction, ops, builtin)\n"
    "probe('ops', ops, values)\n"
    "proto({}, 1)\n"
    "probe('protos', values, proto, interp, loops, many)\n"
    "open(1)\n"
    "probe('nested')\n"
    "local main = coroutine.create(function()\n"
    "  local co = coroutine.running()\n"
    "  coroutine.wrap(function() probe('resumed', co) end)()\n"
    "end)\n"
    "assert(coroutine.resume(main))\n"
    "interp()\n"
    "jit.opt.start('hotloop=10', 'hotexit=5')\n"
    "loops({known = 1, other = 2}, 400)\n"
    "probe('mode')\n"
    "probe('white')\n"
    "probe('gc', {}, 'a string ' .. 1)\n"
    "collectgarbage()\n"
    "probe('seen')\n"
    "probe('white')\n";

/* -- The spy -------------------------------------------------------------- */

/* Stands in the place of the VM's allocator. */
static void *check_spy(void *ud, void *ptr, size_t osize, size_t nsize)
{
  MPCheck *ck = (MPCheck *)ud;
  void *p;
  if (ck->watch != WATCH_GC ? nsize > 0 : nsize == 0)
    mp_check_alloc(ck, ptr);
  p = ck->allocf(ck->allocd, ptr, osize, nsize);
  if (p != NULL && ck->nblock < CHECK_BLOCKS) {
    ck->block[ck->nblock].addr = check_addr(p);
    ck->block[ck->nblock++].size = nsize;
  }
  return p;
}

/* -- The probe ------------------------------------------------------------ */

#define NESTED_RESULTS 11

static MPCheck *probe_check(lua_State *L)
{
  MPCheck *ck = (MPCheck *)lua_touserdata(L, lua_upvalueindex(1));
  ck->L = L;
  return ck;
}

/* The inner one of two C functions. */
static int probe_inner(lua_State *L)
{
  MPCheck *ck = probe_check(L);
  uint64_t outer = (uint64_t)(uintptr_t)lua_touserdata(L, 1);
  if (ck->bad == MP_CHECK_FITS)
    mp_check_cframe(ck, outer, NESTED_RESULTS);
  return 0;
}

static void probe_nested(MPCheck *ck)
{
  lua_State *L = ck->L;
  uint64_t outer = mp_check_cframeof(ck, check_addr(L));
  lua_pushlightuserdata(L, ck);
  lua_pushcclosure(L, probe_inner, 1);
  lua_pushlightuserdata(L, (void *)(uintptr_t)outer);
  lua_call(L, 1, NESTED_RESULTS);
  lua_pop(L, NESTED_RESULTS);
}

/* What a C function that is called with the known values can look at: first
** what is looked at in any VM, then what is for a VM of our own.
*/
#define PROBE_ANYVM 4

static void (*const probe_order[])(MPCheck *ck) = {
    mp_check_values, mp_check_state, mp_check_frames,  mp_check_coroutine,
    mp_check_hooks,  mp_check_heap,  mp_check_strings, mp_check_table,
};

/* Looks, up to the first failure. */
static void probe_first(MPCheck *ck, size_t n)
{
  size_t i;
  for (i = 0; i < n && ck->bad == MP_CHECK_FITS; i++)
    probe_order[i](ck);
}

static void probe_values(MPCheck *ck)
{
  probe_first(ck, sizeof(probe_order) / sizeof(probe_order[0]));
}

/* Arms the spy, for what the function that calls us does next. */
static void probe_watch(MPCheck *ck, int watch)
{
  mp_check_frames(ck);
  ck->seen = 0;
  ck->watch = watch;
}

static void probe_interp(MPCheck *ck)
{
  probe_watch(ck, WATCH_INTERP);
}

static void probe_trace(MPCheck *ck)
{
  probe_watch(ck, WATCH_TRACE);
}

static void probe_gc(MPCheck *ck)
{
  ck->strings = U32(ck->g + LAY(g_strnum));
  probe_watch(ck, WATCH_GC);
}

/* What the spy was armed for must have come. */
static void probe_seen(MPCheck *ck)
{
  int gc = ck->watch == WATCH_GC;
  ck->watch = WATCH_NOTHING;
  if (!gc) {
    WANT(vm_interp, ck->seen > 0);
    return;
  }
  WANT(vm_gc, ck->seen == (CHECK_SEENSTRING | CHECK_SEENTABLE));
  /* Other counters of strings do not go down. */
  WANT(g_strnum, U32(ck->g + LAY(g_strnum)) < ck->strings);
}

static void probe_traces(MPCheck *ck)
{
  ck->watch = WATCH_NOTHING;
  mp_check_traces(ck);
  WANT(T_spadjust, ck->seen > 0);
}

static const struct {
  const char *name;
  void (*check)(MPCheck *ck);
} probes[] = {
    {"values", probe_values},
    {"functions", mp_check_functions},
    {"ops", mp_check_ops},
    {"proto", mp_check_proto},
    {"protos", mp_check_protos},
    {"upvalues", mp_check_upvalues},
    {"nested", probe_nested},
    {"resumed", mp_check_resumed},
    {"interp", probe_interp},
    {"seen", probe_seen},
    {"trace", probe_trace},
    {"traces", probe_traces},
    {"mcode", mp_check_mcode},
    {"mode", mp_check_mode},
    {"gc", probe_gc},
    {"white", mp_check_white},
};

/* probe(name, ...): after the first failure, nothing more is looked at. */
static int check_probe(lua_State *L)
{
  MPCheck *ck = probe_check(L);
  size_t i;
  const char *name = lua_tostring(L, 1);
  if (ck->bad != MP_CHECK_FITS)
    return 0;
  for (i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
    if (strcmp(name, probes[i].name) == 0) {
      lua_remove(L, 1);
      probes[i].check(ck);
    }
  return 0;
}

/* -- Entry ---------------------------------------------------------------- */

/* Pushes a program. The error that it raises is none of memory any more. */
static void check_load(lua_State *L, MPCheck *ck, const char *text)
{
  int status = luaL_loadbuffer(L, text, strlen(text), "=memprof");
  if (status == LUA_ERRMEM)
    ck->bad = MP_CHECK_NOMEM;
  if (status != 0)
    lua_error(L);
}

/* Runs the program, in a VM with all libraries. */
static int check_run(lua_State *L)
{
  MPCheck *ck = (MPCheck *)lua_touserdata(L, 1);
  luaL_openlibs(L);
  lua_gc(L, LUA_GCSTOP, 0);
  check_load(L, ck, program);
  lua_pushlightuserdata(L, ck);
  lua_pushcclosure(L, check_probe, 1);
  lua_pushvalue(L, -1);
  lua_getglobal(L, "pcall");
  lua_call(L, 3, 0);
  return 0;
}

/* The check has run, and returned a status. */
static void check_ended(MPCheck *ck, int status)
{
  if (status != 0 && ck->bad == MP_CHECK_FITS)
    ck->bad = status == LUA_ERRMEM ? MP_CHECK_NOMEM : MP_CHECK_FAILED;
}

int mp_check_library(const MPLayout *lay)
{
  MPCheck ck;
  lua_State *L;
  memset(&ck, 0, sizeof(ck));
  ck.lay = lay;
  ck.bad = MP_CHECK_FITS;
  ck.block = (MPBlock *)malloc(CHECK_BLOCKS * sizeof(MPBlock));
  if (ck.block == NULL)
    return MP_CHECK_NOMEM;
  if (!mp_peek_open(&ck.pk)) {
    free(ck.block);
    return MP_CHECK_NOPIPE;
  }
  L = luaL_newstate();
  if (L != NULL) {
    ck.allocf = lua_getallocf(L, &ck.allocd);
    lua_setallocf(L, check_spy, &ck);
    check_ended(&ck, lua_cpcall(L, check_run, &ck));
    ck.watch = WATCH_NOTHING;
    lua_setallocf(L, ck.allocf, ck.allocd);
    lua_close(L);
  } else {
    ck.bad = MP_CHECK_NOMEM;
  }
  mp_peek_close(&ck.pk);
  free(ck.block);
  return ck.bad;
}

/* The same values as above, in any VM. */
static const char short_program[] =
    "local probe, co = ...\n"
    "probe(1234.5, nil, false, 'a string', {}, probe, co)\n"
    "return true\n"; /* The probe must not be a tail call. */

static int check_short(lua_State *L)
{
  MPCheck *ck = probe_check(L);
  probe_first(ck, PROBE_ANYVM);
  return 0;
}

static int check_runshort(lua_State *L)
{
  MPCheck *ck = (MPCheck *)lua_touserdata(L, 1);
  check_load(L, ck, short_program);
  lua_pushlightuserdata(L, ck);
  lua_pushcclosure(L, check_short, 1);
  lua_newthread(L);
  lua_call(L, 2, 0);
  return 0;
}

int mp_check_vm(lua_State *L, const MPLayout *lay)
{
  MPCheck ck;
  int status;
  memset(&ck, 0, sizeof(ck));
  ck.lay = lay;
  ck.bad = MP_CHECK_FITS;
  if (!mp_peek_open(&ck.pk))
    return MP_CHECK_NOPIPE;
  status = lua_cpcall(L, check_runshort, &ck);
  mp_peek_close(&ck.pk);
  check_ended(&ck, status);
  if (status != 0 && ck.bad != MP_CHECK_FAILED)
    lua_pop(L, 1);
  return ck.bad;
}

int mp_check_still(lua_State *L, const MPLayout *lay)
{
  MPCheck ck;
  memset(&ck, 0, sizeof(ck));
  ck.L = L;
  ck.lay = lay;
  ck.bad = MP_CHECK_FITS;
  if (!mp_peek_open(&ck.pk))
    return MP_CHECK_NOPIPE;
  mp_check_global(&ck);
  mp_peek_close(&ck.pk);
  return ck.bad;
}

const char *mp_check_name(int entry)
{
  static const char *const names[] = {
#define CHECK_NAME(name) #name,
      MP_LAYOUT(CHECK_NAME)
#undef CHECK_NAME
  };
  if (entry >= 0 && entry < MP_LAYOUT_MAX)
    return names[entry];
  switch (entry) {
  case MP_CHECK_FITS:
    return "fits";
  case MP_CHECK_NOTRACE:
    return "it compiles nothing";
  case MP_CHECK_NOMEM:
    return "not enough memory";
  case MP_CHECK_NOPIPE:
    return "no file descriptors for a pipe";
  case MP_CHECK_BUSY:
    return "jit.p is running: stop it until memprof is loaded";
  default:
    return "it runs Lua in another way";
  }
}

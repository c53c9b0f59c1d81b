/*
** Memory runs out: our own, at every single call, at start and later; and the
** VM's.
*/

#include "rec.h"

#include <stdlib.h>
#include <string.h>

#include "lj_obj.h"
#include "luajit.h"

/* -- malloc() and its like, by --wrap -------------------------------------- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool oom_on;      /* Count and fail; else all is as ever. */
static size_t oom_calls; /* So far. */
static size_t oom_from;  /* The first call that fails. */
static size_t oom_to;    /* The last one. */

static bool oom_fails(void)
{
  if (!oom_on)
    return false;
  oom_calls++;
  return oom_calls >= oom_from && oom_calls <= oom_to;
}

void *__wrap_malloc(size_t size)
{
  return oom_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
  return oom_fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
  return oom_fails() ? NULL : __real_realloc(p, size);
}

static void oom_begin(size_t from, size_t to)
{
  oom_calls = 0;
  oom_from = from;
  oom_to = to;
  oom_on = true;
}

static size_t oom_end(void)
{
  oom_on = false;
  return oom_calls;
}

/* Writers of the tests need memory, too. */
static size_t oom_write(const void *data, size_t len, void *arg)
{
  bool on = oom_on;
  size_t n;
  oom_on = false;
  n = rec_write(data, len, arg);
  oom_on = on;
  return n;
}

static struct luam_Prof_options oom_options(RecStream *s, int format)
{
  struct luam_Prof_options opt = rec_options(s, format);
  opt.writer = oom_write;
  return opt;
}

/* -- A VM that has memory of its own --------------------------------------- */

static void *oom_vmalloc(void *ud, void *p, size_t osize, size_t nsize)
{
  (void)ud;
  (void)osize;
  if (nsize == 0) {
    free(p);
    return NULL;
  }
  return __real_realloc(p, nsize);
}

/* Where LuaJIT takes no allocator, its own one calls no malloc(). */
static lua_State *oom_open(void)
{
  lua_State *L = lua_newstate(oom_vmalloc, NULL);
  if (L == NULL)
    L = luaL_newstate();
  ck_assert_ptr_nonnull(L);
  luaL_openlibs(L);
  return L;
}

/* Functions of many chunks, so that there is much to define. */
static const char oom_program[] =
    "local fns = {}\n"
    "for i = 1, 300 do\n"
    "  fns[i] = loadstring('\\n' .. ('\\n'):rep(i % 9) ..\n"
    "    'local t = { ' .. i .. ' }\\nreturn { t }', '=c' .. i)\n"
    "end\n"
    "for round = 1, 3 do\n"
    "  for i = 1, #fns do fns[i]() end\n"
    "  for i = 1, 20 do\n"
    "    coroutine.wrap(string.rep)('x', i + 100)\n"
    "    coroutine.wrap(newproxy)(true)\n"
    "  end\n"
    "  for i = 1, 100 do fns[round * 100 - i + 1] = print end\n"
    "  for i = 1, #fns do if fns[i] == print then fns[i] = type end end\n"
    "  for i = #fns, 1, -1 do\n"
    "    if fns[i] == type then table.remove(fns, i) end\n"
    "  end\n"
    "  collectgarbage()\n"
    "end\n";

/* -- At start ---------------------------------------------------------------
 */

/* Starts with the calls FROM to TO failing. Returns the status. */
static int start_with(int format, size_t from, size_t to, size_t *calls)
{
  RecStream s = {0};
  lua_State *L = oom_open();
  struct luam_Prof_options opt = oom_options(&s, format);
  void *ud, *ud0;
  lua_Alloc f0 = lua_getallocf(L, &ud0);
  int64_t live = rec_live(L);
  int status;
  oom_begin(from, to);
  status = luaM_memprof_start(L, &opt);
  *calls = oom_end();
  if (status != LUAM_PROFILE_SUCCESS) {
    ck_assert_int_eq(status, LUAM_PROFILE_ERRMEM);
    ck_assert_int_eq(s.stops, 0);
    ck_assert(!luaM_memprof_isrunning());
    ck_assert(lua_getallocf(L, &ud) == f0 && ud == ud0);
    ck_assert_int_eq(rec_live(L) - live, 0);
    rec_run(L, rec_small);
    rec_free(&s);
    live = rec_live(L);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  }
  rec_run(L, rec_small);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(s.stops, 1);
  rec_checkwhole(&s, rec_live(L) - live);
  lua_close(L);
  rec_free(&s);
  return status;
}

START_TEST(at_start)
{
  int format;
  for (format = 0; format < REC_FORMATS; format++) {
    size_t n = 1, calls, all;
    int refused = 0;
    ck_assert_int_eq(start_with(format, 0, 0, &all), LUAM_PROFILE_SUCCESS);
    ck_assert_uint_ge(all, 3);
    for (n = 1; n <= all; n++) {
      if (start_with(format, n, n, &calls) == LUAM_PROFILE_ERRMEM)
        refused++;
      if (n <= 60 || n % 16 == 0) /* Nothing at all from there on. */
        start_with(format, n, SIZE_MAX, &calls);
    }
    /* Without its state or its buffer it cannot record. */
    ck_assert_int_ge(refused, 2);
    ck_assert_int_eq(start_with(format, 1, SIZE_MAX, &calls),
                     LUAM_PROFILE_ERRMEM);
  }
}
END_TEST

/* A dump without memory of its own: it is refused, or whole. */
START_TEST(at_dump)
{
  size_t all = 1, n;
  for (n = 0; n <= all; n++) {
    RecStream s = {0}, r = {0};
    lua_State *L = oom_open();
    struct luam_Prof_options opt = {.writer = oom_write, .arg = &s};
    struct luam_Prof_options rec = oom_options(&r, LUAM_PROF_COMPACT);
    int64_t live;
    int status;
    size_t calls;
    ck_assert_int_eq(luaM_memprof_start(L, &rec), LUAM_PROFILE_SUCCESS);
    rec_run(L, rec_small);
    live = rec_live(L);
    oom_begin(n, n);
    status = luaM_memprof_dump(L, &opt);
    calls = oom_end();
    ck_assert_int_eq(rec_live(L), live);
    ck_assert_int_eq(status,
                     n == 0 ? LUAM_PROFILE_SUCCESS : LUAM_PROFILE_ERRMEM);
    ck_assert_int_eq(s.n > 1000, n == 0);
    if (n == 0)
      all = calls;
    ck_assert_uint_ge(all, 1);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    ck_assert_uint_eq(rec_books(&r).dumps, n == 0);
    rec_free(&r);
    rec_free(&s);
    lua_close(L);
  }
}
END_TEST

/* -- While it runs ----------------------------------------------------------
 */

/* Runs a program while the calls FROM to TO fail. Returns how many there are
** without a failure.
*/
static size_t run_with(int format, size_t from, size_t to)
{
  RecStream s = {0};
  lua_State *L = oom_open();
  struct luam_Prof_options opt = oom_options(&s, format);
  int64_t live;
  size_t calls;
  int ran, stopped;
  luaL_loadstring(L, oom_program);
  live = rec_live(L);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  oom_begin(from, to); /* Assertions need memory, too. */
  ran = lua_pcall(L, 0, 0, 0);
  stopped = luaM_memprof_stop(L);
  calls = oom_end();
  ck_assert_int_eq(ran, 0);
  ck_assert_int_eq(stopped, LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(s.stops, 1);
  rec_checkwhole(&s, rec_live(L) - live);
  if (format == LUAM_PROF_COMPACT && from == 1 && to == SIZE_MAX)
    ck_assert_uint_gt(rec_books(&s).unknown, 100); /* No site is known. */
  if (format == LUAM_PROF_COMPACT && from == 0)
    ck_assert_uint_eq(rec_books(&s).unknown, 0);
  lua_close(L);
  rec_free(&s);
  return calls;
}

START_TEST(mid_run)
{
  int format;
  for (format = 0; format < REC_FORMATS; format++) {
    size_t all = run_with(format, 0, 0), n;
    ck_assert_uint_gt(all, 100);
    run_with(format, 1, SIZE_MAX);
    for (n = 1; n <= all; n += n < 30 ? 1 : all / 60 + 1) {
      run_with(format, n, n);
      run_with(format, n, n + 20);
    }
    for (n = 1; n <= all; n += all / 12 + 1)
      run_with(format, n, SIZE_MAX);
  }
}
END_TEST

/* After a shortage, places become known again. */
START_TEST(afterwards)
{
  RecStream s = {0};
  lua_State *L = oom_open();
  struct luam_Prof_options opt = oom_options(&s, LUAM_PROF_COMPACT);
  RecBooks b;
  int64_t live = rec_live(L);
  int ran;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  oom_begin(1, SIZE_MAX);
  ran = luaL_dostring(L, "for i = 1, 100 do local t = { {} } end");
  oom_end();
  ck_assert_int_eq(ran, 0);
  rec_run(L, "for i = 1, 100 do _G.t = { {} } end _G.t = nil");
  rec_run(L, "for i = 1, 100 do _G.t = { {} } end _G.t = nil");
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  rec_checkwhole(&s, rec_live(L) - live);
  b = rec_books(&s);
  ck_assert_uint_gt(b.unknown, 0);
  ck_assert_uint_gt(b.allocs - b.unknown, 300);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* -- The VM's memory ------------------------------------------------------ */

/* An allocator that fails once in a while, in front of the VM's own. */
typedef struct Scarce {
  lua_Alloc allocf;
  void *allocd;
  lua_State *L;
  bool on;
  unsigned every;  /* One in so many that grow fails. */
  uint64_t random; /* xorshift64, never 0. */
  size_t failed;
  size_t ontrace; /* Of those, the ones that JIT-compiled code called. */
} Scarce;

/*
** LuaJIT throws the error where L->base points, and before June 2023 that is
** out of date on a trace: it crashes, recording or not (LuaJIT issue 1004).
** What is left after its own repair is a crash of the recorder.
*/
static void scarce_repair(Scarce *sc)
{
  global_State *g = G(sc->L);
  TValue *base = tvref(g->jit_base);
  if (base == NULL)
    return;
  gco2th(gcref(g->cur_L))->base = base;
  sc->ontrace++;
}

static bool scarce_fails(Scarce *sc)
{
  sc->random ^= sc->random << 13;
  sc->random ^= sc->random >> 7;
  sc->random ^= sc->random << 17;
  return (sc->random >> 20) % sc->every == 0;
}

static void *scarce_alloc(void *ud, void *p, size_t osize, size_t nsize)
{
  Scarce *sc = ud;
  if (sc->on && nsize > osize && scarce_fails(sc)) {
    sc->failed++;
    scarce_repair(sc);
    return NULL;
  }
  return sc->allocf(sc->allocd, p, osize, nsize);
}

/*
** Allocations on traces and in inlined calls, under pcall(). None is a closure
** with a new upvalue: if there is no memory for that one, LuaJIT later frees
** the closure with a size that it did not have.
*/
static const char scarce_program[] =
    "local function tree(d)\n"
    "  return d == 0 and {} or { tree(d - 1), tree(d - 1) }\n"
    "end\n"
    "local function pair(i) return { i, { x = i } } end\n"
    "local function flat()\n"
    "  local keep\n"
    "  for i = 1, 100 do keep = pair(i) end\n"
    "  return keep\n"
    "end\n"
    "local function strings()\n"
    "  local t = {}\n"
    "  for i = 1, 100 do\n"
    "    t['k' .. i] = { i }\n"
    "    t[i] = coroutine.wrap(pair)(i)\n"
    "  end\n"
    "end\n"
    "for round = 1, 200 do\n"
    "  pcall(tree, 6) pcall(flat) pcall(strings)\n"
    "end\n";

/* Records the program in a VM that is short of memory. */
static void scarce_run(const struct luam_Prof_options *how, int jit,
                       uint64_t seed, Scarce *sc)
{
  RecStream s = {0};
  lua_State *L = oom_open();
  struct luam_Prof_options opt = oom_options(&s, how->format);
  int64_t live;
  int ran;
  opt.stack = how->stack;
  opt.lines = how->lines;
  opt.sample = how->sample;
  *sc = (Scarce){.L = L, .every = 400, .random = seed};
  sc->allocf = lua_getallocf(L, &sc->allocd);
  lua_setallocf(L, scarce_alloc, sc);
  luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | jit);
  luaL_loadstring(L, scarce_program);
  live = rec_live(L);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  sc->on = true;
  ran = lua_pcall(L, 0, 0, 0);
  sc->on = false;
  ck_assert(ran == 0 || ran == LUA_ERRMEM); /* The loop itself may need some. */
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(s.stops, 1);
  if (opt.sample == 0)
    rec_checkwhole(&s, rec_live(L) - live);
  else
    ck_assert(rec_books(&s).whole);
  lua_setallocf(L, sc->allocf, sc->allocd);
  lua_close(L);
  rec_free(&s);
}

START_TEST(scarce)
{
  static const struct luam_Prof_options how[] = {
      {.stack = 1},
      {.stack = 64},
      {.stack = 64, .lines = LUAM_PROF_LINES_NATURAL},
      {.stack = 64, .sample = 512},
      {.format = LUAM_PROF_RFC},
      {.format = LUAM_PROF_TARANTOOL},
  };
  size_t failed = 0, ontrace = 0, i;
  uint64_t seed;
  for (i = 0; i < sizeof(how) / sizeof(*how); i++)
    for (seed = 1; seed <= 4; seed++) {
      Scarce sc;
      int jit = seed % 4 == 0 ? LUAJIT_MODE_OFF : LUAJIT_MODE_ON;
      scarce_run(&how[i], jit, seed << 32 | 88172645, &sc);
      failed += sc.failed;
      ontrace += sc.ontrace;
    }
  ck_assert_uint_gt(failed, 1000);
  if (LJ_HASJIT)
    ck_assert_uint_gt(ontrace, 1000);
}
END_TEST

int main(void)
{
  const TTest *tests[] = {at_start, at_dump, mid_run, afterwards, scarce};
  return REC_MAIN("oom", tests);
}

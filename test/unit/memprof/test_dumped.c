/*
** Heap dumps of a VM that is being recorded, taken where an allocator can take
** them: in the middle of an event.
*/

#include "rec.h"

#include "luajit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An allocator that takes a dump in each call of a number. */
typedef struct Heap {
  lua_State *L; /* The VM, once it is there. */
  unsigned calls, each;
  unsigned dumps;
  size_t bytes; /* Of the last dump. */
} Heap;

static size_t heap_write(const void *data, size_t len, void *arg)
{
  (void)data;
  *(size_t *)arg += len;
  return len;
}

static void heap_dump(Heap *h)
{
  struct luam_Prof_options opt;
  memset(&opt, 0, sizeof(opt));
  h->bytes = 0;
  opt.writer = heap_write;
  opt.arg = &h->bytes;
  ck_assert_int_eq(luaM_memprof_dump(h->L, &opt), LUAM_PROFILE_SUCCESS);
  ck_assert_uint_gt(h->bytes, 1000);
  h->dumps++;
}

static void *heap_alloc(void *ud, void *p, size_t osize, size_t nsize)
{
  Heap *h = ud;
  (void)osize;
  /* While the VM frees strings, a chain of them begins with one of these. */
  if (nsize > 0 && h->L != NULL && ++h->calls % h->each == 0)
    heap_dump(h);
  if (nsize == 0) {
    free(p);
    return NULL;
  }
  return realloc(p, nsize);
}

/* Tables, strings, closures, coroutines, code: each grows or is collected. */
static const char code[] =
    "local keep = {}\n"
    "local function deep(n, ...)\n"
    "  if n > 0 then return deep(n - 1, n, ...) + 1 end\n"
    "  return select('#', ...)\n"
    "end\n"
    "for i = 1, 60 do\n"
    "  local t = { i, { i }, [i .. ''] = i, x = function() return i end }\n"
    "  keep[i % 7] = t\n"
    "  keep['k' .. i] = coroutine.wrap(function(a)\n"
    "    local b = { a }\n"
    "    coroutine.yield(function() b = deep(40) end)\n"
    "    return b\n"
    "  end)\n"
    "  keep['k' .. i](i)()\n"
    "  loadstring('local a = ... return function() return a, {' .. i .. '} end')"
    "(i)()\n"
    "  if i % 16 == 0 then keep = {} collectgarbage() end\n"
    "end\n";

/* In one call of EACH, with so many frames of stacks, or samples. */
static void dump_inside(unsigned each, int stack, uint64_t sample)
{
  Heap h = {.each = each};
  RecStream s = {0};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  lua_State *L = lua_newstate(heap_alloc, &h);
  RecBooks b;
  if (L == NULL) /* LuaJIT cannot have an allocator here. */
    return;
  luaL_openlibs(L);
  opt.stack = stack;
  opt.sample = sample;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  h.L = L;
  rec_run(L, code);
  h.L = NULL;
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  b = rec_books(&s);
  ck_assert_msg(b.whole, "the stream is not whole: %s", b.error);
  ck_assert_uint_gt(h.dumps, 50);
  ck_assert_uint_eq(b.dumps, h.dumps);
  if (sample == 0) {
    ck_assert_uint_eq(b.errors, 0);
    ck_assert_int_eq((int64_t)b.before + b.sum, (int64_t)b.after);
  }
  lua_close(L);
  rec_free(&s);
}

START_TEST(in_the_allocator)
{
  dump_inside(7, 0, 0);
  dump_inside(5, 32, 0);
  dump_inside(11, 8, 128);
}
END_TEST

/* -- Without a recording --------------------------------------------------- */

/* An allocator that takes a dump in one call of a number, of any kind. */
typedef struct AnyHeap {
  lua_State *L; /* The VM, once it is there. */
  unsigned calls, each;
  unsigned taken, refused; /* Dumps. */
} AnyHeap;

/* A dump is refused in a deallocation at the most, else it is whole. */
static void any_dump(AnyHeap *h, bool frees)
{
  RecStream s = {0};
  struct luam_Prof_options opt = {.writer = rec_write, .arg = &s};
  int status = luaM_memprof_dump(h->L, &opt);
  if (status == LUAM_PROFILE_SUCCESS) {
    h->taken++;
    ck_assert_uint_gt(rec_checkdump(&s), 100);
  } else {
    h->refused++;
    ck_assert(frees);
    ck_assert_int_eq(status, LUAM_PROFILE_ERR);
    ck_assert_uint_eq(s.n, 0);
  }
  rec_free(&s);
}

static void *any_alloc(void *ud, void *p, size_t osize, size_t nsize)
{
  AnyHeap *h = ud;
  (void)osize;
  if (h->L != NULL && ++h->calls % h->each == 0)
    any_dump(h, nsize == 0);
  if (nsize == 0) {
    free(p);
    return NULL;
  }
  return realloc(p, nsize);
}

/* Compiled loops that allocate, many strings that go away, traces, a table of
** strings that grows and shrinks.
*/
static const char any_code[] =
    "local keep, strings = {}, {}\n"
    "local function node(i) return { i, { i .. 'n' } } end\n"
    "for round = 1, 4 do\n"
    "  for i = 1, 300 do keep[i % 50] = node(i) end\n"
    "  for i = 1, 300 * round do strings[i] = 's' .. i end\n"
    "  strings = {}\n"
    "  collectgarbage()\n"
    "  if round == 2 then jit.flush() end\n"
    "end\n";

START_TEST(in_any_call)
{
  AnyHeap h = {.each = 17};
  lua_State *L = lua_newstate(any_alloc, &h);
  if (L == NULL)
    return;
  luaL_openlibs(L);
  ck_assert_int_eq(luaL_loadstring(L, any_code), 0);
  h.L = L;
  ck_assert_int_eq(lua_pcall(L, 0, 0, 0), 0);
  ck_assert_uint_gt(h.taken, 100);
  ck_assert_uint_gt(h.refused, 10);
  lua_close(L);
}
END_TEST

/* -- By themselves --------------------------------------------------------- */

/* The name of the first dump, in a directory of this process. */
static char dir[32], first[64];

static void files_open(void)
{
  strcpy(dir, "/tmp/ljprof-dumped-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(first, sizeof(first), "%s/heap.ljd", dir);
}

/* Bytes of a file with a word in its name, which is removed; or 0. */
static long file_take(const char *word)
{
  char name[96];
  struct stat st;
  snprintf(name, sizeof(name), "%s/heap%s.ljd", dir, word);
  if (stat(name, &st) != 0)
    return 0;
  ck_assert_int_eq(unlink(name), 0);
  return (long)st.st_size;
}

/* Options of a recording with a limit of so many bytes. */
static struct luam_Prof_options limit_options(RecStream *s, uint64_t bytes)
{
  struct luam_Prof_options opt = rec_options(s, LUAM_PROF_COMPACT);
  opt.stack = 8;
  opt.reserved[LUAM_PROF_LIMIT] = bytes;
  opt.reserved[LUAM_PROF_LIMIT_NAME] = (uint64_t)(uintptr_t)first;
  return opt;
}

START_TEST(bad_limits)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = limit_options(&s, 0);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
  opt = limit_options(&s, 1);
  opt.reserved[LUAM_PROF_LIMIT_NAME] = 0;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
  opt.reserved[LUAM_PROF_LIMIT_NAME] = (uint64_t)(uintptr_t) "";
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
  lua_close(L);
}
END_TEST

/* One at the limit, then at each doubling, and none where it is not passed. */
START_TEST(at_the_limit)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = limit_options(&s, 0);
  int64_t live = rec_live(L);
  RecBooks b;
  files_open();
  opt.reserved[LUAM_PROF_LIMIT] = (uint64_t)live + 1000000;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  rec_run(L, "keep = {} function fill(from, to) for i = from, to do "
             "keep[i] = ('x'):rep(1000) .. i end end fill(1, 300)");
  ck_assert_int_eq(file_take(""), 0);
  rec_run(L, "fill(301, 1200)");
  ck_assert_int_gt(file_take(""), 1000);
  rec_run(L, "fill(1201, 3000)");
  ck_assert_int_gt(file_take(".2"), 1000);
  rec_run(L, "keep = {} collectgarbage() fill(1, 3000)");
  ck_assert_int_eq(file_take(""), 0);
  ck_assert_int_eq(file_take(".3"), 0);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  rec_run(L, "fill(3001, 9000)");
  ck_assert_int_eq(file_take(".3"), 0);
  b = rec_books(&s);
  ck_assert_msg(b.whole, "the stream is not whole: %s", b.error);
  ck_assert_uint_eq(b.dumps, 2);
  lua_close(L);
  ck_assert_int_eq(rmdir(dir), 0);
  rec_free(&s);
}
END_TEST

START_TEST(bad_words)
{
  static const uint64_t words[] = {
      LUAM_EVERY_MS(0, 5),           LUAM_EVERY_KIB(0, 5),
      LUAM_EVERY_MS(1, 0),           LUAM_EVERY_MS(1, 5) | 1001,
      LUAM_EVERY_MS(1, 5) | 1 << 15, LUAM_EVERY_MS(1, LUAM_EVERY_KEEPMAX + 1)};
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = limit_options(&s, UINT64_MAX);
  size_t i;
  for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
    opt.reserved[LUAM_PROF_MARKS] = words[i];
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
  }
  opt.reserved[LUAM_PROF_MARKS] = LUAM_EVERY_MS(1, 5);
  opt.reserved[LUAM_PROF_LIMIT] = opt.reserved[LUAM_PROF_LIMIT_NAME] = 0;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
  lua_close(L);
}
END_TEST

/* True if a dump has got its name. */
static int file_isthere(const char *word)
{
  char name[96];
  snprintf(name, sizeof(name), "%s/heap%s.ljd", dir, word);
  return access(name, F_OK) == 0;
}

/* The newest ones are kept. lua_close() waits for the last one. */
START_TEST(again_and_again)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = limit_options(&s, UINT64_MAX);
  char word[24];
  unsigned number, left = 0;
  files_open();
  opt.reserved[LUAM_PROF_MARKS] = LUAM_EVERY_KIB(100, 2) | 7;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  rec_run(L, "keep = {} function fill() for i = 1, 20 do "
             "keep[#keep + 1] = ('x'):rep(1000) .. #keep end end");
  while (!file_isthere(".0005")) {
    rec_run(L, "fill()");
    usleep(1000);
  }
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  lua_close(L);
  for (number = 1; number < 100; number++) {
    snprintf(word, sizeof(word), ".%04u", number);
    left += file_take(word) > 1000;
  }
  ck_assert_uint_eq(left, 2);
  ck_assert_int_eq(rmdir(dir), 0);
  rec_free(&s);
}
END_TEST

/* An allocator that has no more memory from one call on. */
typedef struct Scarce {
  size_t calls, failat, failed;
} Scarce;

static void *scarce_alloc(void *ud, void *p, size_t osize, size_t nsize)
{
  Scarce *h = ud;
  h->calls++;
  if (nsize == 0) {
    free(p);
    return NULL;
  }
  if (nsize > osize && h->failat != 0 && h->calls >= h->failat) {
    h->failed++;
    return NULL;
  }
  return realloc(p, nsize);
}

/* Without upvalues: where no memory is left for one, this LuaJIT forgets 8
** bytes of its function, with or without a recording.
*/
static const char plain[] =
    "keep = {}\n"
    "function deep(n, ...)\n"
    "  if n > 0 then return deep(n - 1, n, ...) + 1 end\n"
    "  return select('#', ...)\n"
    "end\n"
    "for i = 1, 60 do\n"
    "  keep[i % 7] = { i, { i }, [i .. ''] = i }\n"
    "  keep['k' .. i] = coroutine.create(deep)\n"
    "  coroutine.resume(keep['k' .. i], 40)\n"
    "  loadstring('return {' .. i .. '}')()\n"
    "  if i % 16 == 0 then keep = {} collectgarbage() end\n"
    "end\n";

/* Whichever allocation it is that fails. Not on traces: there this LuaJIT does
** not survive it.
*/
static void fail_at(size_t n, uint64_t sample)
{
  Scarce h = {0};
  RecStream s = {0};
  lua_State *L = lua_newstate(scarce_alloc, &h);
  struct luam_Prof_options opt = limit_options(&s, UINT64_MAX);
  RecBooks b;
  int status;
  if (L == NULL)
    return;
  luaL_openlibs(L);
  luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
  opt.sample = sample;
  ck_assert_int_eq(luaL_loadstring(L, plain), 0);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  h.failat = h.calls + n;
  status = lua_pcall(L, 0, 0, 0);
  h.failat = 0;
  ck_assert_int_eq(file_take(".oom") > 1000, h.failed > 0);
  ck_assert(status == 0 || h.failed > 0);
  lua_settop(L, 0);
  rec_run(L, rec_small);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  b = rec_books(&s);
  ck_assert_msg(b.whole, "the stream is not whole: %s", b.error);
  ck_assert_uint_eq(b.dumps, h.failed > 0);
  lua_close(L);
  rec_free(&s);
}

START_TEST(without_memory)
{
  size_t n;
  files_open();
  for (n = 1; n < 700; n += n < 40 ? 1 : 17)
    fail_at(n, n % 3 == 0 ? 256 : 0);
  ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

int main(void)
{
  const TTest *const tests[] = {in_the_allocator, in_any_call,     bad_limits,
                                bad_words,        again_and_again, at_the_limit,
                                without_memory};
  return REC_MAIN("dumped", tests);
}

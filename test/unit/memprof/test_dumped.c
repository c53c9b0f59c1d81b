/*
** Heap dumps of a VM that is being recorded, taken where an allocator can take
** them: in the middle of an event.
*/

#include "rec.h"

#include <stdlib.h>
#include <string.h>

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
  /* While the VM frees strings, a chain of them begins with one of these. */
  if (nsize > osize && h->L != NULL && ++h->calls % h->each == 0)
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

int main(void)
{
  const TTest *const tests[] = {in_the_allocator};
  return REC_MAIN("dumped", tests);
}

/*
** Allocators of the host: below the recorder, above it, in its place.
*/

#include "rec.h"

#include "luajit.h"

#include <stdlib.h>
#include <string.h>

/* An allocator that counts, and fails when it is told to. */
typedef struct Heap {
  size_t calls;
  size_t failat;   /* The allocation that fails, or 0; then all later ones. */
  size_t failed;   /* How many did. */
  int64_t live;    /* Bytes. */
  lua_Alloc below; /* Where it gets its memory, or NULL for realloc(). */
  void *ud;
} Heap;

static void *heap_alloc(void *ud, void *p, size_t osize, size_t nsize)
{
  Heap *h = ud;
  void *q = NULL;
  h->calls++;
  if (nsize > osize && h->failat != 0 && h->calls >= h->failat) {
    h->failed++;
    return NULL;
  }
  if (h->below != NULL)
    q = h->below(h->ud, p, osize, nsize);
  else if (nsize == 0)
    free(p);
  else
    q = realloc(p, nsize);
  if (q != NULL || nsize == 0)
    h->live += (int64_t)nsize - (int64_t)osize;
  return q;
}

/* A VM with such an allocator; NULL where LuaJIT cannot have one. */
static lua_State *heap_open(Heap *h)
{
  lua_State *L = lua_newstate(heap_alloc, h);
  if (L != NULL)
    luaL_openlibs(L);
  return L;
}

/* -- Below ---------------------------------------------------------------- */

START_TEST(custom_allocator)
{
  int format;
  for (format = 0; format < REC_FORMATS; format++) {
    Heap h = {0};
    RecStream s = {0};
    struct luam_Prof_options opt = rec_options(&s, format);
    lua_State *L = heap_open(&h);
    void *ud;
    int64_t live;
    if (L == NULL)
      return;
    live = h.live;
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(h.live, live); /* Its memory is not the VM's. */
    ck_assert(lua_getallocf(L, &ud) != heap_alloc);
    rec_run(L, rec_large);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    ck_assert(lua_getallocf(L, &ud) == heap_alloc && ud == &h);
    rec_checkwhole(&s, h.live - live);
    lua_close(L);
    ck_assert_int_eq(h.live, 0);
    rec_free(&s);
  }
}
END_TEST

/* lua_close() frees all with the allocator below. */
START_TEST(custom_allocator_and_close)
{
  Heap h = {0};
  RecStream s = {0};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  lua_State *L = heap_open(&h);
  if (L == NULL)
    return;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  rec_run(L, rec_small);
  lua_close(L);
  ck_assert_int_eq(h.live, 0);
  ck_assert_int_eq(s.stops, 1);
  ck_assert(rec_books(&s).whole);
  rec_free(&s);
}
END_TEST

/* Allocations that fail are no events, whichever it is that fails. Not on
** traces: there this LuaJIT does not survive it.
*/
START_TEST(failing_allocator)
{
  int n, format, failures = 0;
  for (n = 1; n < 400; n += n < 60 ? 1 : 13) {
    Heap h = {0};
    RecStream s = {0};
    struct luam_Prof_options opt;
    lua_State *L = heap_open(&h);
    int64_t live;
    int status;
    if (L == NULL)
      return;
    luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    format = n % REC_FORMATS;
    opt = rec_options(&s, format);
    ck_assert_int_eq(luaL_loadstring(L, rec_small), 0);
    live = h.live;
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    h.failat = h.calls + (size_t)n;
    status = lua_pcall(L, 0, 0, 0);
    h.failat = 0;
    if (status != 0) {
      ck_assert_int_eq(status, LUA_ERRMEM);
      ck_assert_uint_gt(h.failed, 0);
      failures++;
    }
    rec_run(L, rec_small);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    rec_checkwhole(&s, h.live - live);
    lua_close(L);
    ck_assert_int_eq(h.live, 0);
    rec_free(&s);
  }
  ck_assert_int_gt(failures, 50);
}
END_TEST

/* -- Above, and in its place ---------------------------------------------- */

/* The host puts its own allocator above the recorder's. Stopping must leave
** that one where it is, and both go on working.
*/
START_TEST(wrapped_while_profiling)
{
  Heap h = {0};
  RecStream s = {0}, again = {0};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  lua_State *L = rec_open();
  void *ud;
  RecBooks b;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  rec_run(L, rec_small);
  h.below = lua_getallocf(L, &h.ud);
  lua_setallocf(L, heap_alloc, &h);
  rec_run(L, rec_small);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  ck_assert(lua_getallocf(L, &ud) == heap_alloc && ud == &h);
  b = rec_books(&s);
  ck_assert_msg(b.whole, "%s", b.error);
  ck_assert_uint_eq(b.errors, 0);
  ck_assert_uint_eq(b.flags, 1); /* It says that it was replaced. */
  rec_run(L, rec_large);         /* Through the one, and the other at rest. */
  opt = rec_options(&again, LUAM_PROF_COMPACT);
  {
    int64_t live = rec_live(L);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    rec_run(L, rec_small);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    rec_checkwhole(&again, rec_live(L) - live);
  }
  ck_assert(lua_getallocf(L, &ud) == heap_alloc && ud == &h);
  lua_close(L);
  rec_free(&s);
  rec_free(&again);
}
END_TEST

/* The host takes its own one off again: what is below may be the recorder. */
START_TEST(wrapped_and_put_back)
{
  int when; /* Put back while the recording runs, or after it. */
  for (when = 0; when < 2; when++) {
    Heap h = {0};
    RecStream s = {0};
    struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
    lua_State *L = rec_open();
    int round;
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    h.below = lua_getallocf(L, &h.ud);
    lua_setallocf(L, heap_alloc, &h);
    rec_run(L, rec_small);
    if (when == 0)
      lua_setallocf(L, h.below, h.ud);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    if (when == 1)
      lua_setallocf(L, h.below, h.ud);
    rec_run(L, rec_small);
    for (round = 0; round < 3; round++) { /* It may be started again. */
      RecStream again = {0};
      int64_t live = rec_live(L);
      opt = rec_options(&again, LUAM_PROF_COMPACT);
      ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
      rec_run(L, rec_small);
      ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
      rec_checkwhole(&again, rec_live(L) - live);
      rec_free(&again);
    }
    lua_close(L);
    rec_free(&s);
  }
}
END_TEST

/* The host puts the old allocator back: the recorder sees no more, and its
** stop must not touch the slot.
*/
START_TEST(replaced_while_profiling)
{
  RecStream s = {0};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  lua_State *L = rec_open();
  void *ud0, *ud;
  lua_Alloc f0 = lua_getallocf(L, &ud0);
  RecBooks b;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  rec_run(L, rec_small);
  lua_setallocf(L, f0, ud0);
  rec_run(L, rec_small);
  ck_assert(luaM_memprof_isrunning());
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  ck_assert(lua_getallocf(L, &ud) == f0 && ud == ud0);
  ck_assert_int_eq(s.stops, 1);
  b = rec_books(&s);
  ck_assert_msg(b.whole, "%s", b.error);
  ck_assert_uint_eq(b.flags, 1);
  rec_run(L, rec_small);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* The same with lua_close() in place of stop. */
START_TEST(replaced_and_closed)
{
  Heap h = {0};
  RecStream s = {0};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  lua_State *L = rec_open();
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  h.below = lua_getallocf(L, &h.ud);
  lua_setallocf(L, heap_alloc, &h);
  rec_run(L, rec_small);
  lua_close(L);
  ck_assert_int_eq(s.stops, 1);
  ck_assert(rec_books(&s).whole);
  rec_free(&s);
}
END_TEST

/* -- What the host has kept ----------------------------------------------- */

/* Hosts ask for the allocator and use it later for memory of their own. */
START_TEST(cached_pair)
{
  RecStream s = {0};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  lua_State *L = rec_open();
  void *ud, *p, *q;
  lua_Alloc f;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  f = lua_getallocf(L, &ud);
  p = f(ud, NULL, 0, 1000);
  ck_assert_ptr_nonnull(p);
  memset(p, 1, 1000);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  ck_assert(rec_books(&s).whole);
  p = f(ud, p, 1000, 5000);
  ck_assert_ptr_nonnull(p);
  ck_assert_int_eq(((char *)p)[999], 1);
  q = f(ud, NULL, 0, 10);
  ck_assert_ptr_nonnull(q);
  ck_assert_ptr_null(f(ud, p, 5000, 0));
  rec_free(&s);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  ck_assert_ptr_null(f(ud, q, 10, 0));
  ck_assert_ptr_null(f(ud, NULL, 0, 0));
  rec_run(L, rec_small);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  ck_assert(rec_books(&s).whole);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* The pair is made the VM's allocator after the end, and profiled again. */
START_TEST(cached_pair_is_put_back)
{
  RecStream s = {0};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  lua_State *L = rec_open();
  void *ud;
  lua_Alloc f;
  int round;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  f = lua_getallocf(L, &ud);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  rec_free(&s);
  lua_setallocf(L, f, ud);
  rec_run(L, rec_small);
  for (round = 0; round < 3; round++) {
    int64_t live = rec_live(L);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    rec_run(L, rec_small);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    rec_checkwhole(&s, rec_live(L) - live);
    rec_free(&s);
  }
  rec_run(L, rec_small);
  lua_close(L);
}
END_TEST

int main(void)
{
  const TTest *tests[] = {custom_allocator,       custom_allocator_and_close,
                          failing_allocator,      wrapped_while_profiling,
                          wrapped_and_put_back,   replaced_while_profiling,
                          replaced_and_closed,    cached_pair,
                          cached_pair_is_put_back};
  return REC_MAIN("alloc", tests);
}

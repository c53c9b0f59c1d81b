/*
** What heap dumps call garbage, taken in an allocator, while the VM makes an
** object in several steps: none of it survives a collection. Strings may, if
** the same text comes again.
*/

#include "rec.h"

#include <stdlib.h>
#include <string.h>

#include "lj_frame.h"
#include "lj_obj.h"

/* In front of each block of the VM. */
typedef struct Block {
  struct Block *next, *prev;
  uint64_t serial;
  uint64_t align;
} Block;

/* A VM whose allocator takes dumps in calls that are chosen at random. */
typedef struct Heap {
  lua_State *L;   /* NULL: not now. */
  Block live;     /* A ring. */
  uint64_t count; /* Of blocks so far, */
  uint64_t then;  /* and when the last dump was taken. */
  uint64_t seed;
  unsigned mean, wait; /* Calls from one dump to the next. */
  unsigned dumps, garbage;
  RecStream dump; /* Not judged yet, if there is one. */
} Heap;

/* -- Judging --------------------------------------------------------------- */

/* Given a dump, and the addresses of blocks that survived: of what is said to
** be garbage, how many objects there are, and which survived.
*/
static const char judge[] =
    "local dump = require('dump')\n"
    "local cut = (...):find('\\n', 1, true)\n"
    "local d = dump.decode((...):sub(cut + 1), true)\n"
    "local faults, alive = dump.faults(d), {}\n"
    "for addr in (...):sub(1, cut):gmatch('%x+') do alive[addr] = true end\n"
    "local garbage = dump.garbage(d)\n"
    "for _, o in ipairs(garbage) do\n"
    "  if o.type ~= 'string' and alive[('%x'):format(o.addr)] then\n"
    "    faults[#faults + 1] = o.type .. ' survives'\n"
    "  end\n"
    "end\n"
    "if #faults > 0 then error(table.concat(faults, ', '), 0) end\n"
    "return #garbage\n";

/* Clears what the current C function does not use of its stack, as a collection
** in there does: the function below would keep it.
*/
static void heap_clear(const Heap *h)
{
  const global_State *g = G(h->L);
  lua_State *L = gcref(g->cur_L) ? gco2th(gcref(g->cur_L)) : mainthread(g);
  TValue *o;
  if (tvref(g->jit_base) != NULL || isluafunc(curr_func(L)))
    return;
  for (o = L->top; o < tvref(L->maxstack); o++)
    setnilV(o);
}

/* Blocks that were there when the dump was taken, and still are. */
static void heap_survivors(const Heap *h, RecStream *s)
{
  const Block *b;
  char text[32];
  for (b = h->live.next; b != &h->live; b = b->next) {
    if (b->serial <= h->then) {
      int n = snprintf(text, sizeof(text), "%zx ", (size_t)(b + 1));
      rec_write(text, (size_t)n, s);
    }
  }
  rec_write("\n", 1, s);
}

/* At the VM's first instruction after a dump. */
static void heap_judge(lua_State *L, lua_Debug *ar)
{
  Heap *h;
  RecStream s = {0};
  lua_State *J;
  (void)ar;
  lua_getallocf(L, (void **)&h);
  lua_sethook(L, NULL, 0, 0);
  h->L = NULL;
  lua_gc(L, LUA_GCCOLLECT, 0);
  lua_gc(L, LUA_GCCOLLECT, 0);
  heap_survivors(h, &s);
  rec_write(h->dump.p, h->dump.n, &s);
  J = rec_decode(judge, &s);
  h->garbage += (unsigned)lua_tointeger(J, -1);
  lua_close(J);
  rec_free(&s);
  rec_free(&h->dump);
  memset(&h->dump, 0, sizeof(h->dump));
  h->L = L;
}

/* -- The allocator --------------------------------------------------------- */

static void heap_wait(Heap *h)
{
  h->seed = h->seed * 6364136223846793005u + 1442695040888963407u;
  h->wait = 1 + (unsigned)(h->seed >> 33) % (2 * h->mean);
}

static void heap_dump(Heap *h, bool frees)
{
  struct luam_Prof_options opt = {.writer = rec_write, .arg = &h->dump};
  int status = luaM_memprof_dump(h->L, &opt);
  if (status != LUAM_PROFILE_SUCCESS) {
    ck_assert(frees);
    return;
  }
  h->dumps++;
  h->then = h->count;
  heap_clear(h);
  lua_sethook(h->L, heap_judge, LUA_MASKCOUNT | LUA_MASKCALL, 1);
  heap_wait(h);
}

static void *heap_alloc(void *ud, void *p, size_t osize, size_t nsize)
{
  Heap *h = ud;
  Block *b = p != NULL ? (Block *)p - 1 : NULL;
  (void)osize;
  if (h->L != NULL && h->dump.n == 0 && --h->wait == 0) {
    h->wait = 1;
    heap_dump(h, nsize == 0);
  }
  if (b != NULL) {
    b->next->prev = b->prev;
    b->prev->next = b->next;
  }
  if (nsize == 0) {
    free(b);
    return NULL;
  }
  b = realloc(b, nsize + sizeof(*b));
  ck_assert_ptr_nonnull(b);
  *b = (Block){.next = h->live.next, .prev = &h->live, .serial = ++h->count};
  b->next->prev = b->prev->next = b;
  return b + 1;
}

/* -- Tests ----------------------------------------------------------------- */

static void survive(unsigned mean, unsigned seed)
{
  Heap h = {.mean = mean, .seed = seed};
  lua_State *L;
  h.live.next = h.live.prev = &h.live;
  L = lua_newstate(heap_alloc, &h);
  if (L == NULL) /* LuaJIT cannot have an allocator here. */
    return;
  luaL_openlibs(L);
  ck_assert_int_eq(luaL_loadfile(L, REC_LUA_DIR "/steps.lua"), 0);
  heap_wait(&h);
  h.L = L;
  if (lua_pcall(L, 0, 0, 0) != 0)
    ck_abort_msg("Lua code failed: %s", lua_tostring(L, -1));
  h.L = NULL;
  ck_assert_uint_gt(h.dumps, 20);
  ck_assert_uint_gt(h.garbage, 100);
  lua_close(L);
  rec_free(&h.dump);
}

START_TEST(often)
{
  survive(4, 1);
}
END_TEST

START_TEST(rarely)
{
  unsigned seed, n = (unsigned)rec_rounds(5);
  for (seed = 1; seed <= n; seed++)
    survive(11 * seed, seed);
}
END_TEST

int main(void)
{
  const TTest *const tests[] = {often, rarely};
  return REC_MAIN("making", tests);
}

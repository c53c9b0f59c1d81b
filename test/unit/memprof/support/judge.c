/*
** Dumps at random, and their judge. It looks into the VM: it is compiled with
** the headers of the LuaJIT that it is linked with. With JUDGE_STRANGER, where
** these are missing, it does not judge garbage.
*/

#include <stdio.h>
#include <stdlib.h>

#include "judge.h"

/* -- The VM ---------------------------------------------------------------- */

#ifdef JUDGE_STRANGER

#define JUDGE_KNOWS 0

static void judge_clear(lua_State *L)
{
  (void)L;
}

static int judge_records(lua_State *L)
{
  (void)L;
  return 0;
}

#else

#include "lj_bc.h"
#include "lj_dispatch.h"
#include "lj_frame.h"
#include "lj_jit.h"
#include "lj_obj.h"

#define JUDGE_KNOWS 1

/* Whether a function is in C, and not one of those in assembly, which leave
** L->top as it was.
*/
static int judge_isc(const GCfunc *fn)
{
  return !isluafunc(fn) && (bc_op(*mref(fn->c.pc, BCIns)) == BC_FUNCC ||
                            bc_op(*mref(fn->c.pc, BCIns)) == BC_FUNCCW);
}

/* Clears what the current C function does not use of its stack, as a collection
** in there does: the function below would keep it.
*/
static void judge_clear(lua_State *L)
{
  const global_State *g = G(L);
  TValue *o;
  if (gcref(g->cur_L))
    L = gco2th(gcref(g->cur_L));
  if (tvref(g->jit_base) != NULL || !judge_isc(curr_func(L)))
    return;
  for (o = L->top; o < tvref(L->maxstack); o++)
    setnilV(o);
}

/* Whether a trace is being recorded: then a hook that is set now would break an
** assertion of LuaJIT's.
*/
static int judge_records(lua_State *L)
{
  return LJ_HASJIT && G2J(G(L))->state != LJ_TRACE_IDLE;
}

#endif

/* The bytes that the VM counts. */
static uint64_t judge_total(lua_State *L)
{
  return ((uint64_t)lua_gc(L, LUA_GCCOUNT, 0) << 10) +
         (uint64_t)lua_gc(L, LUA_GCCOUNTB, 0);
}

/* -- Judging --------------------------------------------------------------- */

/* Given a dump, and in a line before it the VM's count of bytes and the
** addresses of blocks that survived: returns how many objects there are, how
** many are garbage, whether any may be in registers, and the bytes without an
** owner. Its error is the dump's faults.
*/
static const char judge_code[] =
    "local dump = require('dump')\n"
    "local text, judged = ...\n"
    "local cut = text:find('\\n', 1, true)\n"
    "local d = dump.decode(text:sub(cut + 1), true)\n"
    "local faults, alive, total = dump.faults(d), {}, text:match('%d+')\n"
    "for addr in text:sub((text:find(' ')), cut):gmatch('%x+') do\n"
    "  alive[addr] = true\n"
    "end\n"
    "if d.sums and d.sums.total ~= tonumber(total) then\n"
    "  faults[#faults + 1] = d.sums.total .. ' bytes, not ' .. total\n"
    "end\n"
    "local garbage = judged and d.sums and dump.garbage(d) or {}\n"
    "for _, o in ipairs(garbage) do\n"
    "  if o.type ~= 'string' and alive[('%x'):format(o.addr)] then\n"
    "    faults[#faults + 1] = o.type .. ' survives'\n"
    "  end\n"
    "end\n"
    "if #faults > 0 then error(table.concat(faults, ', '), 0) end\n"
    "return #d.list, #garbage, d.sums.flags, d.sums.making\n";

/* Writes what judge_code gets. */
static void judge_text(const Judge *j, FILE *f)
{
  const JudgeBlock *b;
  fprintf(f, "%llu ", (unsigned long long)j->total);
  for (b = j->live.next; b != &j->live; b = b->next)
    if (b->serial <= j->then) /* It was there, and still is. */
      fprintf(f, "%zx ", (size_t)(b + 1));
  fputc('\n', f);
  fwrite(j->dump, 1, j->len, f);
}

/* Judges the dump by what is alive now, and frees it. */
static void judge_dump(Judge *j)
{
  lua_State *L = luaL_newstate();
  char *text = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&text, &n);
  judge_text(j, f);
  fclose(f);
  luaL_openlibs(L);
  lua_getglobal(L, "package");
  lua_pushfstring(L, "%s/?.lua", j->scripts);
  lua_setfield(L, -2, "path");
  if (luaL_loadstring(L, judge_code) != 0)
    abort();
  lua_pushlstring(L, text, n);
  lua_pushboolean(L, JUDGE_KNOWS);
  if (lua_pcall(L, 2, 4, 0) == 0) {
    j->objects += (uint64_t)lua_tointeger(L, -4);
    j->garbage += (uint64_t)lua_tointeger(L, -3);
    j->traces += lua_tointeger(L, -2) != 0;
    j->making += lua_tointeger(L, -1) != 0;
  } else if (*j->fault == '\0') {
    snprintf(j->fault, sizeof(j->fault), "dump %u: %s", j->dumps,
             lua_tostring(L, -1));
  }
  lua_close(L);
  free(text);
  free(j->dump);
  j->dump = NULL;
}

/* At the VM's first instruction after a dump. */
static void judge_hook(lua_State *L, lua_Debug *ar)
{
  Judge *j;
  lua_State *was;
  (void)ar;
  lua_getallocf(L, (void **)&j);
  was = j->L;
  lua_sethook(L, NULL, 0, 0);
  j->L = NULL;
  lua_gc(L, LUA_GCCOLLECT, 0);
  lua_gc(L, LUA_GCCOLLECT, 0);
  judge_dump(j);
  j->L = was;
}

/* -- The allocator --------------------------------------------------------- */

static void judge_wait(Judge *j)
{
  j->seed = j->seed * 6364136223846793005u + 1442695040888963407u;
  j->wait = 1 + (j->seed >> 33) % (2 * j->mean);
}

static size_t judge_write(const void *data, size_t len, void *arg)
{
  return fwrite(data, 1, len, arg);
}

/* Takes a dump. Only where the VM frees something may it be refused. */
static void judge_take(Judge *j, int frees)
{
  FILE *f = open_memstream(&j->dump, &j->len);
  struct luam_Prof_options opt = {.writer = judge_write, .arg = f};
  int status = j->take(j->L, &opt);
  fclose(f);
  if (status != LUAM_PROFILE_SUCCESS) {
    j->refused++;
    free(j->dump);
    j->dump = NULL;
    j->wait = 1;
    if (!frees) {
      snprintf(j->fault, sizeof(j->fault), "a dump was refused: %d", status);
      j->L = NULL;
    }
    return;
  }
  j->dumps++;
  j->then = j->calls;
  j->total = judge_total(j->L);
  judge_wait(j);
  if (judge_records(j->L)) {
    j->then = 0; /* All that it calls garbage may go. */
    judge_dump(j);
    return;
  }
  judge_clear(j->L);
  lua_sethook(j->L, judge_hook, LUA_MASKCOUNT | LUA_MASKCALL, 1);
}

static void *judge_alloc(void *ud, void *p, size_t osize, size_t nsize)
{
  Judge *j = ud;
  JudgeBlock *b = p != NULL ? (JudgeBlock *)p - 1 : NULL;
  (void)osize;
  if (j->L != NULL && j->dump == NULL && --j->wait == 0)
    judge_take(j, nsize == 0);
  if (b != NULL) {
    b->next->prev = b->prev;
    b->prev->next = b->next;
  }
  if (nsize == 0) {
    free(b);
    return NULL;
  }
  b = realloc(b, nsize + sizeof(*b));
  if (b == NULL)
    abort();
  *b = (JudgeBlock){.next = j->live.next, .prev = &j->live};
  b->serial = ++j->calls;
  b->next->prev = b->prev->next = b;
  return b + 1;
}

/* -- Running --------------------------------------------------------------- */

lua_State *judge_open(Judge *j)
{
  lua_State *L;
  j->calls = 0;
  j->live.next = j->live.prev = &j->live;
  L = lua_newstate(judge_alloc, j);
  if (L != NULL)
    luaL_openlibs(L);
  return L;
}

int judge_call(Judge *j, lua_State *L, int nargs)
{
  uint64_t before = j->calls;
  int status;
  if (j->mean > 0) {
    judge_wait(j);
    j->L = L;
  }
  status = lua_pcall(L, nargs, 0, 0);
  j->L = NULL;
  j->during = j->calls - before;
  if (j->dump != NULL) { /* Not judged: the program has ended. */
    free(j->dump);
    j->dump = NULL;
    j->dumps--;
    lua_sethook(L, NULL, 0, 0);
  }
  return status;
}

/*
** Recordings that Lua code takes: block by block from memory, or by a function
** that is called with each.
**
** Lua code cannot run where a block is complete: that is in the middle of an
** allocation, with the VM's structures half changed. So blocks wait in a queue.
** The function is called where the VM runs Lua code by itself, in finalizers:
** an object that is garbage at once is finalized in every cycle of the garbage
** collector, which then makes the next one.
*/

#define lj_memprof_luaqueue_c
#define LUA_LIB

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <unistd.h>

#include "lua.h"
#include "lauxlib.h"

#include "lj_memprof_hook.h"
#include "lj_memprof_lua.h"
#include "lj_memprof_queue.h"
#include "lj_memprof_state.h"
#include "format/ljm_format.h"

#define LUAQUEUE_DEFAULT (4u << 20)

static const char luaqueue_key; /* Of the taker in the registry. */
static int luaqueue_made;       /* A VM has, or had, one; atomic. */

/*
** The taker of the blocks: a userdata, in the registry from a start to the next
** one. Its environment has the function at 1, and at 2 the message of an error
** in it.
*/
typedef struct LuaTaker {
  MPQueue *queue; /* Held; or NULL. */
  int calls;      /* There is a function. */
  int busy;       /* It is being called. */
} LuaTaker;

/* -- The taker ------------------------------------------------------------- */

/* Pushes the taker of this VM, or nil. Returns it, or NULL. */
static LuaTaker *luaqueue_push(lua_State *L)
{
  /* Skipped without any taker: the VM may allocate for the key. */
  if (!__atomic_load_n(&luaqueue_made, __ATOMIC_RELAXED)) {
    lua_pushnil(L);
    return NULL;
  }
  lua_pushlightuserdata(L, (void *)(uintptr_t)&luaqueue_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  return (LuaTaker *)lua_touserdata(L, -1);
}

/* Makes what is on top, a taker or nil, that of this VM. */
static void luaqueue_set(lua_State *L)
{
  __atomic_store_n(&luaqueue_made, 1, __ATOMIC_RELAXED);
  lua_pushlightuserdata(L, (void *)(uintptr_t)&luaqueue_key);
  lua_insert(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX);
}

/* True if a queue is that of the VM's recording. */
static int luaqueue_isrecording(lua_State *L, const MPQueue *q)
{
  const MPState *mp = lj_memprof_state(G(L));
  return mp != NULL && mp->buf.queue == q;
}

/* True if its blocks are this process's, and not those of a fork's parent. */
static int luaqueue_isours(const LuaTaker *t)
{
  return t != NULL && t->queue != NULL && t->queue->pid == (long)getpid();
}

/* -- Blocks ---------------------------------------------------------------- */

/* Pushes the oldest block and removes it from the queue. Returns 0 if none. */
static int luaqueue_next(lua_State *L, MPQueue *q)
{
  size_t len;
  int kind;
  const uint8_t *p = lj_memprof_peek(q, &len, &kind);
  if (p == NULL)
    return 0;
  /* This may raise an error, or record an event: the block stays until then. */
  lua_pushlstring(L, (const char *)p, len);
  lj_memprof_pop(q);
  return 1;
}

/*
** Calls the function with the blocks that are there: its own events, which fill
** further ones, are for the next time. The taker is the argument.
*/
static int luaqueue_callall(lua_State *L)
{
  LuaTaker *t = (LuaTaker *)lua_touserdata(L, 1);
  MPQueue *q = t->queue;
  size_t len = 0, most = lj_memprof_queuedbytes(q);
  lua_getfenv(L, 1);
  lua_rawgeti(L, 2, 1);
  while (len < most) {
    lua_settop(L, 3);
    lua_pushvalue(L, 3);
    if (!luaqueue_next(L, q))
      break;
    len += lua_objlen(L, 5);
    lua_call(L, 1, 0);
  }
  return 0;
}

/* Remembers the error on top for stop(). An object that is none is named. */
static int luaqueue_remember(lua_State *L)
{
  lua_getfenv(L, 1);
  if (!lua_isstring(L, 2)) {
    lua_pushliteral(L, "the function has raised an error without a message");
    lua_replace(L, 2);
  }
  lua_pushvalue(L, 2);
  lua_rawseti(L, 3, 2);
  return 0;
}

/*
** Delivers to the function, if there is one, in a protected call. The taker is
** at an index of the stack. If it fails, the recording has failed.
*/
static void luaqueue_deliver(lua_State *L, int idx)
{
  LuaTaker *t = (LuaTaker *)lua_touserdata(L, idx);
  if (!luaqueue_isours(t) || !t->calls || t->busy)
    return;
  t->busy = 1;
  lua_pushcfunction(L, luaqueue_callall);
  lua_pushvalue(L, idx);
  if (lua_pcall(L, 1, 0, 0) != 0) {
    lj_memprof_failqueue(t->queue);
    t->calls = 0;
    lua_pushcfunction(L, luaqueue_remember);
    lua_pushvalue(L, idx);
    lua_pushvalue(L, -3);
    if (lua_pcall(L, 2, 0, 0) != 0)
      lua_pop(L, 1); /* For want of memory: there is no message. */
    lua_pop(L, 1);
  }
  t->busy = 0;
}

/* -- Finalizers ------------------------------------------------------------ */

static void luaqueue_sentinel(lua_State *L);

/* A cycle of the garbage collector is over. */
static int luaqueue_cycle(lua_State *L)
{
  LuaTaker *t;
  lua_settop(L, 0);
  t = luaqueue_push(L);
  if (!luaqueue_isours(t) || !t->calls)
    return 0;
  luaqueue_deliver(L, 1);
  if (t->calls && luaqueue_isrecording(L, t->queue))
    luaqueue_sentinel(L);
  return 0;
}

/*
** The same in a protected call. After an error (no memory) there are no further
** calls.
*/
static int luaqueue_oncycle(lua_State *L)
{
  lua_settop(L, 0);
  lua_pushcfunction(L, luaqueue_cycle);
  lua_pcall(L, 0, 0, 0);
  return 0;
}

/* Makes an object that is garbage at once. Raises an error without memory. */
static void luaqueue_sentinel(lua_State *L)
{
  lua_newuserdata(L, 1);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, luaqueue_oncycle);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

/*
** The taker goes away: because another one has its place, or with the VM, in
** lua_close(). Then the recording ends here, where Lua code can still run.
*/
static int luaqueue_gc(lua_State *L)
{
  LuaTaker *t = (LuaTaker *)lua_touserdata(L, 1);
  MPQueue *q = t->queue;
  lua_settop(L, 1);
  if (q == NULL)
    return 0;
  if (luaqueue_isours(t) && luaqueue_isrecording(L, q))
    luaM_memprof_stop(L);
  luaqueue_deliver(L, 1);
  t->queue = NULL;
  lj_memprof_dropqueue(q);
  return 0;
}

/* -- start() and stop() ---------------------------------------------------- */

/*
** The writer of the recorder's buffer: not called, since blocks go to the
** queue.
*/
static size_t luaqueue_writer(const void *data, size_t len, void *arg)
{
  UNUSED(data);
  UNUSED(len);
  UNUSED(arg);
  return 0;
}

static int luaqueue_onstop(void *arg)
{
  const MPQueue *q = (const MPQueue *)arg;
  lj_memprof_luastopped(q->error ? ECANCELED : 0,
                        "the function that takes the blocks has failed");
  return q->error;
}

/* Pushes a taker. Its queue is still to be made. */
static LuaTaker *luaqueue_new(lua_State *L, int function)
{
  LuaTaker *t = (LuaTaker *)lua_newuserdata(L, sizeof(LuaTaker));
  t->queue = NULL;
  t->calls = function;
  t->busy = 0;
  lua_createtable(L, 2, 0);
  if (function) {
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, 1);
  }
  lua_setfenv(L, -2);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, luaqueue_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  return t;
}

void lj_memprof_luatakeend(lua_State *L)
{
  if (luaqueue_push(L) != NULL) {
    luaqueue_deliver(L, lua_gettop(L));
    lua_pushnil(L);
    luaqueue_set(L);
  }
  lua_pop(L, 1);
}

MPQueue *lj_memprof_luatake(lua_State *L, const MPLuaFile *to,
                            struct luam_Prof_options *opt)
{
  size_t buffer = opt->buffer ? (size_t)opt->buffer : LJM_BLOCK_DEFAULT;
  size_t size = (size_t)(to->memory ? to->memory : to->queue);
  LuaTaker *t;
  t = luaqueue_new(L, to->function);
  if (size == 0)
    size = buffer > LUAQUEUE_DEFAULT / 4 ? 4 * buffer : LUAQUEUE_DEFAULT;
  /* The last block must have room wherever the ring ends. */
  t->queue = lj_memprof_newqueue(size, 2 * buffer + 64);
  if (t->queue == NULL)
    return NULL;
  t->queue->taken = t->queue->drop = 1;
  opt->writer = luaqueue_writer;
  opt->on_stop = luaqueue_onstop;
  opt->arg = t->queue;
  luaqueue_set(L);
  if (to->function)
    luaqueue_sentinel(L);
  return t->queue;
}

const char *lj_memprof_luatakelast(lua_State *L)
{
  LuaTaker *t = luaqueue_push(L);
  const char *msg = NULL;
  if (!luaqueue_isours(t)) {
    lua_pop(L, 1);
    return NULL;
  }
  while (t->calls && !t->busy && lj_memprof_queuedbytes(t->queue) != 0)
    luaqueue_deliver(L, lua_gettop(L));
  if (t->queue->error) {
    lua_getfenv(L, -1);
    lua_rawgeti(L, -1, 2);
    msg = lua_tostring(L, -1);
    if (msg == NULL)
      msg = "not enough memory";
  }
  return msg;
}

/* block = misc.memprof.take() */
int lj_memprof_luatakeone(lua_State *L)
{
  LuaTaker *t = luaqueue_push(L);
  if (!luaqueue_isours(t) || t->busy || !luaqueue_next(L, t->queue))
    lua_pushnil(L);
  return 1;
}

/* delivered, message, errno = misc.memprof.deliver() */
int lj_memprof_luadeliver(lua_State *L)
{
  LuaTaker *t = luaqueue_push(L);
  if (luaqueue_isours(t)) {
    luaqueue_deliver(L, lua_gettop(L));
    if (t->queue->error)
      return lj_memprof_luafail(L, NULL, lj_memprof_luatakelast(L), ECANCELED);
  }
  lua_pushboolean(L, 1);
  return 1;
}

#endif

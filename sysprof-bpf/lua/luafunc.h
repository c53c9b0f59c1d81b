/*
** Lua functions that were met: what is known of each, kept when the process
** has long freed it and put something else at its address.
*/

#ifndef LS_LUAFUNC_H
#define LS_LUAFUNC_H

#include "luaproto.h"
#include "strpool.h"

/* A call, and the name of what it calls: a local variable's, a global's, ... Or
** what loads a field for a condition, and the field's name.
*/
typedef struct LsCall {
  uint32_t pos;
  const char *name; /* "" if it has none. */
} LsCall;

/* One function. Strings belong to the pool. */
typedef struct LsFunc {
  uint64_t addr;     /* Of its GCproto. */
  uint64_t check;    /* ljs_check_proto() of it. */
  const char *chunk; /* Chunk name, not more than LS_CHUNK_MAX bytes. */
  size_t chunklen;
  const char *name;  /* "" if it has none. */
  const char *found; /* Another name, as luanaming.c found it; or NULL. */
  bool known;        /* The function that defines it is known. */
  bool wrong;        /* Not there any more, when it was looked for. */
  int32_t first;     /* Line where it begins, -1 for builtins. */
  uint32_t numline;
  uint32_t hash; /* Of its bytecode. */
  uint64_t code; /* Address of its bytecode. */
  uint32_t sizebc;
  uint32_t *bc; /* A copy of it. */
  LsCall *call; /* Its calls, in order, as many as are kept. */
  uint32_t ncall;
  uint8_t linesize;  /* Bytes of a line number: 0 if it is stripped. */
  uint8_t *lineinfo; /* A copy, for instructions from 1 on. */
} LsFunc;

/* All of them, sorted by address; the newest last where there are several. */
typedef struct LsFuncs {
  LsPool *pool;
  LsFunc **at;
  size_t n, size;
  size_t bytes; /* Memory that they take. */
} LsFuncs;

/* Free all functions, but not the pool. */
void ls_funcs_free(LsFuncs *fs);

/* The function at an address with this LJS_CHECK(), or NULL if it was not read.
** It belongs to FS, as all functions below.
*/
LsFunc *ls_func_known(const LsFuncs *fs, uint64_t addr, uint16_t check);

/* Read the function that is at an address now, and all that it defines, which
** get their names. NULL if there is none that makes sense, or no room.
*/
LsFunc *ls_func_read(LsFuncs *fs, LsView *v, uint64_t addr);

/* Name the function of the copy CHILD if the one at ADDR defines it. Returns 1
** if it does, 0 if not, -1 if there is no function of the same chunk. ADDR may
** be in freed memory, so nothing else of it is believed.
*/
int ls_func_define(LsFuncs *fs, uint64_t addr, const LsBlob *child);

/* The function in whose bytecode a PC is, among those met and still there, or
** NULL.
*/
LsFunc *ls_func_ofpc(const LsFuncs *fs, LsView *v, uint64_t pc);

/* The name that the call at instruction POS has for what it calls; or the field
** that it loads for a condition, which is behind it, or as the first argument
** of a call; or "". It belongs to the pool.
*/
const char *ls_func_callee(const LsFunc *f, uint32_t pos);

/* The line of instruction POS, the same as the recorder has; 0 if not known. */
uint32_t ls_func_line(const LsFunc *f, uint32_t pos);

#endif

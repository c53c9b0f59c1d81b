/*
** Names of functions by the tables of loaded modules that hold them: of
** LuaJIT's builtins, of other C functions, and of Lua functions whose
** definition was not seen.
*/

#ifndef LS_LUABUILTIN_H
#define LS_LUABUILTIN_H

#include "ljm_name.h"
#include "luaview.h"
#include "strpool.h"

#define LS_FFID_C 1 /* Kinds of functions: C functions; builtins are above. */

/* The names of one function. Strings belong to the pool. */
typedef struct LsFuncNames {
  uint64_t key; /* A C function's address, or a Lua function's key; or 0. */
  LjmNaming naming;
  unsigned walk; /* Number of the walk that has found them. */
} LsFuncNames;

#define LS_NAMES_LUA 128 /* Lua functions that a walk lists. */

/* The names that were found, of one VM. */
typedef struct LsNames {
  LsPool *pool;
  LsFuncNames builtin[256];   /* By ffid. */
  LsHash map;                 /* Of LsFuncNames, by key. */
  uint32_t registry;          /* Where g has the registry; 0: not known. */
  unsigned walk;              /* Number of this walk. */
  unsigned slots;             /* That may still be looked at in it. */
  uint64_t loaded, globals;   /* package.loaded, and _G in it, or 0. */
  LsHash seen;                /* Hashes of tables and their names. */
  uint64_t lua[LS_NAMES_LUA]; /* Lua functions that this walk has met: the */
  unsigned nlua;              /* first ones of modules. */
} LsNames;

/* Look through the loaded modules of the VM whose global state is at G, and
** add names of functions that have none. The walk is bounded; what cannot be
** read is skipped.
*/
void ls_names_walk(LsNames *names, LsView *v, uint64_t g);

/* The key of a Lua function: its proto's address, and
** ljs_check_proto() of it.
*/
uint64_t ls_names_protokey(uint64_t pt, uint64_t check);

/* The name of the function with this key, or NULL. It belongs to the pool. */
const char *ls_names_find(const LsNames *names, uint64_t key);

/* The name of the builtin with this number, at most 255, or NULL. It belongs to
** the pool.
*/
const char *ls_names_builtin(const LsNames *names, uint32_t ffid);

/* Free the memory of *NAMES, but not the pool. */
void ls_names_free(LsNames *names);

#endif

/*
** Names of functions by the tables in which a program finds them: of LuaJIT's
** builtins, of other C functions, and of Lua functions whose place of
** definition is not known any more.
*/

#ifndef LS_LUABUILTIN_H
#define LS_LUABUILTIN_H

#include "luaview.h"
#include "strpool.h"

/* One name. */
typedef struct LsNamed {
  uint64_t key; /* A C function's address, or a Lua function's key; or 0. */
  const char *name;
} LsNamed;

#define LS_NAMES_LUA 128 /* Lua functions that are told. */

/* The names that were found, of one VM. */
typedef struct LsNames {
  LsPool *pool;
  const char *builtin[256];   /* By ffid. Strings belong to the pool. */
  bool isglobal[256];         /* No more than a global alias. */
  LsNamed *map;               /* By address. */
  size_t n, size;             /* Entries; slots, a power of two. */
  uint32_t registry;          /* Where g has the registry; 0: not known. */
  unsigned slots;             /* That may still be looked at in this walk. */
  uint64_t lua[LS_NAMES_LUA]; /* Lua functions that this walk has met: the */
  unsigned nlua;              /* first ones of modules. */
} LsNames;

/* Look through the loaded modules of the VM whose global state is at G, and
** add what has no name yet. A bounded walk; what cannot be read is passed over.
*/
void ls_names_walk(LsNames *names, LsView *v, uint64_t g);

/* Name the functions in a table, with PREFIX and SEP in front; the first names
** of functions stay.
*/
void ls_names_table(LsNames *names, LsView *v, uint64_t tab, const char *prefix,
                    const char *sep);

/* Name builtins that no module has: those of metatables, and what iterators
** call. LOADED is package.loaded.
*/
void ls_names_hidden(LsNames *names, LsView *v, uint64_t g, uint64_t loaded);

/* The key of a Lua function: its proto's address, and ljs_check_proto() of it.
 */
uint64_t ls_names_protokey(uint64_t pt, uint64_t check);

/* The name of the function with this key, or NULL. */
const char *ls_names_find(const LsNames *names, uint64_t key);

/* Give the memory back, but for the pool. */
void ls_names_free(LsNames *names);

#endif

/*
** Names of the functions of a stack, by all sources of names.
**
** The first source that has a name wins: the definition, the tables of loaded
** modules, a variable that was made for the function, a verified call, a field
** of a table that a closure holds. A name that was reported stays.
*/

#ifndef LS_LUANAMING_H
#define LS_LUANAMING_H

#include "luabuiltin.h"
#include "luaproven.h"
#include "luatraceline.h"
#include "luatraces.h"

#define LS_NAMING_VMS 64 /* VMs whose walks are remembered. */

/* What belongs to one build of LuaJIT in a process. */
typedef struct LsNaming {
  LsView *view;
  const struct ljs_stack *stack; /* The one that is named. */
  LsNames names;
  LsProven proven;
  uint64_t held; /* Key of the stack whose closures were looked at, or 0. */
  struct {
    uint64_t g;
    uint64_t when; /* Of its last walk, in milliseconds, */
    uint64_t wait; /* and how long to wait for the next one. */
  } walk[LS_NAMING_VMS];
  unsigned nwalk;
} LsNaming;

/* Initialize *NM. The view and the functions, with their pool, belong to the
** caller and must live as long.
*/
void ls_naming_init(LsNaming *nm, LsView *view, LsFuncs *funcs);

/* Free the memory of *NM, but not NM. */
void ls_naming_free(LsNaming *nm);

/* Decides whether a Lua function has a name, and which: the name, or "". It
** belongs to the pool.
*/
const char *ls_naming_lua(LsNaming *nm, LsFunc *f);

/* The name of a C function in Lua, by its address and its ffid; or "". It
** belongs to the pool or is static.
*/
const char *ls_naming_c(LsNaming *nm, uint64_t addr, uint32_t ffid);

/* Name the function of frame I by the call of it, if it has no name. */
void ls_naming_frame(LsNaming *nm, const LsFunc *f, uint32_t i);

/* Look at the closures among the constants of a trace, if functions in it have
** no name: calls of those cannot be distinguished from others.
*/
void ls_naming_hold(LsNaming *nm, const LsTrace *T);

/* Name the functions at a position in a trace by their calls of each other. The
** trace is frame I, which has called, or begun in, the outermost of them.
*/
void ls_naming_trace(LsNaming *nm, const LsTraceLine *here, uint32_t i);

#endif

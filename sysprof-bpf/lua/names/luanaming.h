/*
** Names of the functions of a stack, by all the ways in which they are known.
**
** The first that tells wins: the definition, the tables of loaded modules, a
** variable that was made for the function, a verified call, a field of a table
** that a closure holds. A name that has been told stays.
*/

#ifndef LS_LUANAMING_H
#define LS_LUANAMING_H

#include "luabuiltin.h"
#include "luagiven.h"
#include "luapath.h"

#define LS_NAMING_VMS 64 /* VMs whose walks are remembered. */

/* What belongs to one build of LuaJIT in a process. */
typedef struct LsNaming {
  LsView *view;
  const struct ljs_stack *stack; /* The one that is named. */
  LsNames names;
  LsGiven given;
  uint64_t held; /* Key of the stack whose closures were looked at, or 0. */
  struct {
    uint64_t g;
    uint64_t when; /* Of its last walk, in milliseconds, */
    uint64_t wait; /* and how long to wait for the next one. */
  } walk[LS_NAMING_VMS];
  unsigned nwalk;
} LsNaming;

/* The view, the functions and the pool must live as long. */
void ls_naming_init(LsNaming *nm, LsView *view, LsFuncs *funcs);

/* Give the memory back. */
void ls_naming_free(LsNaming *nm);

/* The name of a function of Lua's, or "". */
const char *ls_naming_lua(LsNaming *nm, LsFunc *f);

/* The name of a C function in Lua, by its address and its ffid; or "". */
const char *ls_naming_c(LsNaming *nm, uint64_t addr, uint32_t ffid);

/* Have the function of frame I, if it has no name, named by who has called it.
 */
void ls_naming_frame(LsNaming *nm, const LsFunc *f, uint32_t i);

/* Look at the closures that a trace has, if it may have functions in it that
** have no name: then their calls cannot be told from others.
*/
void ls_naming_hold(LsNaming *nm, const LsTrace *T);

/* Have the functions where a trace is named by each other. It is frame I, which
** has called, or begun in, the last of them.
*/
void ls_naming_trace(LsNaming *nm, const LsHere *here, uint32_t i);

#endif

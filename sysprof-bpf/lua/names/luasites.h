/*
** The sites of Lua frames: the interface to all that is known of the Lua
** functions and traces of a process.
*/

#ifndef LS_LUASITES_H
#define LS_LUASITES_H

#include <sys/types.h>

#include "ljs.h"
#include "sites.h"

typedef struct LsLua LsLua;

/* Open the Lua side of process PID. NULL without memory. The caller closes it
** by ls_lua_close.
*/
LsLua *ls_lua_open(pid_t pid);

/* Free L with all strings of its sites. L may be NULL. */
void ls_lua_close(LsLua *l);

/* Name frame I of a stack, which is of the kind LUA, BUILTIN, TRACE or JIT, in
** a VM of the build *VM. Puts up to MAX sites into OUT, innermost first, and
** returns how many: at least one, if MAX is not zero. Strings belong to L.
** Functions that are no longer there are named if they were met before; else
** they have LS_LOST and the chunk "=(lost)". A builtin or another C function
** without a name in Lua has an empty one: the symbol at `addr` names it best.
*/
unsigned ls_lua_sites(LsLua *l, const struct ljs_vm *vm,
                      const struct ljs_stack *stack, unsigned i, LsSite *out,
                      unsigned max);

#endif

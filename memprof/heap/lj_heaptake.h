/*
** Takes a heap dump.
*/

#ifndef _LJ_HEAPTAKE_H
#define _LJ_HEAPTAKE_H

#include "lj_memprof.h"

/*
** luaM_memprof_dump(). mp: the recording of the VM of L, or NULL. inside: the
** VM may be inside of its allocator, and have objects in registers alone; else
** it is in a C function that Lua has called.
*/
LJ_FUNC int lj_heap_take(lua_State *L, MPState *mp,
                         const struct luam_Prof_options *opt, int inside);

#endif

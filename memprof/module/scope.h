/*
** Whether memprof.so can call the host's Lua.
*/

#ifndef MP_SCOPE_H
#define MP_SCOPE_H

#include "lua.h"

/* Whether Lua's functions are there, and are LuaJIT's. */
int mp_scope_reaches(void);

/*
** Raises an error that says what is missing, if anything is. CALLER is an
** address in the host's LuaJIT. If not even an error can be raised, that is
** printed, and 0 is returned.
*/
int mp_scope_check(lua_State *L, void *caller);

#endif

/*
** Lua's functions, which memprof.so gets from the host: the compiler is given
** this with every file. Without them memprof.so is loaded nevertheless, and can
** say what is missing: see scope.h.
*/

#ifndef MP_WEAK_H
#define MP_WEAK_H

#define WEAK_PRAGMA(x)    _Pragma(#x)
#define WEAK_SYMBOL(name) WEAK_PRAGMA(weak name)

/* clang-format off */
#define _(name) WEAK_SYMBOL(name)
_(luaJIT_setmode) _(luaL_argerror) _(luaL_checklstring) _(luaL_checktype)
_(luaL_checkudata) _(luaL_error) _(luaL_gsub) _(luaL_loadbuffer)
_(luaL_newmetatable) _(luaL_newstate) _(luaL_openlibs) _(luaL_register)
_(lua_call) _(lua_close) _(lua_concat) _(lua_cpcall) _(lua_createtable)
_(lua_dump) _(lua_error) _(lua_gc) _(lua_getallocf) _(lua_getfenv)
_(lua_getfield) _(lua_gethookmask) _(lua_getinfo) _(lua_getstack)
_(lua_gettop) _(lua_insert) _(lua_isnumber) _(lua_isstring) _(lua_newthread)
_(lua_newuserdata) _(lua_next) _(lua_objlen) _(lua_pcall) _(lua_pushboolean)
_(lua_pushcclosure) _(lua_pushfstring) _(lua_pushinteger)
_(lua_pushlightuserdata) _(lua_pushlstring) _(lua_pushnil) _(lua_pushnumber)
_(lua_pushstring) _(lua_pushthread) _(lua_pushvalue) _(lua_rawequal)
_(lua_rawget) _(lua_rawgeti) _(lua_rawset) _(lua_rawseti) _(lua_remove)
_(lua_replace) _(lua_setallocf) _(lua_setfenv) _(lua_setfield) _(lua_sethook)
_(lua_setmetatable) _(lua_settop) _(lua_toboolean) _(lua_tocfunction)
_(lua_tointeger) _(lua_tolstring) _(lua_tonumber) _(lua_topointer)
_(lua_touserdata) _(lua_type) _(lua_upvalueid)
#undef _
/* clang-format on */

#endif

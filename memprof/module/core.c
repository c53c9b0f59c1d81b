/*
** The recorder for one layout of the VM, as one object: the same sources as in
** the patched VM, compiled with the headers of the VM that has this layout.
** The module has one of these for each layout that it knows.
*/

#define LJ_MEMPROF_MODULE
#define _GNU_SOURCE

/* The VM's own headers first: what they declare is elsewhere. */
#include "luajit.h"
#include "lj_bc.h"
#include "lj_buf.h"
#include "lj_cdata.h"
#include "lj_ctype.h"
#include "lj_debug.h"
#include "lj_dispatch.h"
#include "lj_frame.h"
#include "lj_gc.h"
#include "lj_jit.h"
#include "lj_obj.h"
#include "lj_state.h"
#include "lj_str.h"
#include "lj_tab.h"
#include "lj_vm.h"

/* What is ours stays inside of each of these objects. */
#undef LJ_FUNC
#define LJ_FUNC     static __attribute__((unused))
#define LUAMISC_API static __attribute__((unused))

/* NOLINTBEGIN(bugprone-suspicious-include): one object is what is wanted. */
#include "lj_memprof_all.c"
#include "module/layout.c"
#include "module/lines.c"
/* NOLINTEND(bugprone-suspicious-include) */

#include "module/core.h"

static void core_push(lua_State *L)
{
  lua_createtable(L, 0, 3);
  luaL_register(L, NULL, misc_memprof_lib);
}

static void core_close(lua_State *L)
{
  lj_memprof_close(G(L));
}

/* MP_CORE is the name of this one. */
extern const MPCore MP_CORE;
const MPCore MP_CORE = {
    &core_layout,          luaM_memprof_start,
    luaM_memprof_stop,     luaM_memprof_isrunning,
    lj_memprof_isactive,   core_push,
    misc_memprof_start,    core_close,
    luaM_memprof_dump,     luaM_memprof_dumpstatus,
    lj_heap_luadump,       luaM_memprof_tofile,
    luaM_memprof_tofd,     luaM_memprof_tosocket,
    luaM_memprof_tomemory, luaM_memprof_drop,
};

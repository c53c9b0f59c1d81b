/*
** Recording by the environment variable LJPROF.
*/

#ifndef _LJ_MEMPROF_AUTO_H
#define _LJ_MEMPROF_AUTO_H

#include "lua.h"

/* As in lj_def.h, which memprof.so's own part has not. */
#ifndef LJ_FUNC
#define LJ_FUNC extern __attribute__((visibility("hidden")))
#endif

/* Where the registry has misc.memprof of a VM that has it built in. */
#define LJ_MEMPROF_BUILTIN "ljprof.memprof"

/*
** Records the VM as LJPROF says: see doc/memprof.md. misc.memprof.start, or a
** function like it, is on top of the stack and is popped. Without the variable
** nothing is done. What fails is one line on stderr; no error is raised.
*/
LJ_FUNC void lj_memprof_auto(lua_State *L);

/* True if the variable is set, and may be trusted. */
LJ_FUNC int lj_memprof_wanted(void);

/* Prints why nothing is recorded: one line, without control characters. */
LJ_FUNC void lj_memprof_notauto(const char *msg);

#endif

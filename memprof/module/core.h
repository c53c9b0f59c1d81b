/*
** A recorder for one layout of the VM, as the module uses it.
*/

#ifndef LJM_CORE_H
#define LJM_CORE_H

#include "lmisclib.h"

#include "module/layout.h"

typedef struct MPCore {
  const MPLayout *layout;
  int (*start)(lua_State *L, const struct luam_Prof_options *opt);
  int (*stop)(const lua_State *L);
  bool (*isrunning)(void);
  int (*isactive)(const lua_State *L); /* Its VM is being recorded. */
  void (*push)(lua_State *L);    /* Pushes a table with the Lua functions. */
  int (*luastart)(lua_State *L); /* The one that starts. */
  void (*close)(lua_State *L);   /* The VM goes away: ends what goes on. */
  int (*dump)(lua_State *L, const struct luam_Prof_options *opt);
  int (*dumpstatus)(lua_State *L, struct luam_Dump *dump);
  int (*luadump)(lua_State *L); /* The Lua function. */
  int (*tofile)(struct luam_Prof_options *opt, const char *fname);
  int (*tofd)(struct luam_Prof_options *opt, int fd);
  int (*tosocket)(struct luam_Prof_options *opt, const char *address);
  int (*tomemory)(struct luam_Prof_options *opt, struct luam_Memory *memory);
  void (*drop)(struct luam_Prof_options *opt);
} MPCore;

#endif

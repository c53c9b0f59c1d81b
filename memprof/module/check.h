/*
** Whether a VM has a layout: objects of known content are made in it, and read
** back through the layout. Every number of the layout takes part.
*/

#ifndef LJM_CHECK_H
#define LJM_CHECK_H

#include "lua.h"

#include "layout.h"

#define MP_CHECK_FITS    (-1)
#define MP_CHECK_FAILED  (-2) /* The check's program raises an error. */
#define MP_CHECK_NOTRACE (-3) /* The VM compiles nothing. */
/* These say nothing about a layout: */
#define MP_CHECK_NOMEM   (-4)
#define MP_CHECK_NOPIPE  (-5) /* No file descriptors are free. */
#define MP_CHECK_BUSY    (-6) /* The VM's own profiler runs, in any VM. */

/*
** Checks a layout in a VM of its own, made by the library that is at hand for
** lua_newstate(). Returns MP_CHECK_*, or the number of the first entry of the
** layout that is not so. Reads no memory that is not there, writes none that it
** does not own.
*/
int mp_check_library(const MPLayout *lay);

/*
** Checks that the VM of L has it, too, as far as that takes no time. With
** MP_CHECK_FAILED, the error is on top of the stack: a hook may raise any.
*/
int mp_check_vm(lua_State *L, const MPLayout *lay);

/*
** The same in a VM that may do anything, as be in the middle of an allocation,
** by its state alone: runs nothing in it, and changes nothing.
*/
int mp_check_still(lua_State *L, const MPLayout *lay);

/* The name of an entry, or what else MP_CHECK_* says. */
const char *mp_check_name(int entry);

#endif

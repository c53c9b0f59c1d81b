/*
** A heap dump: what the writers of single types of objects share.
*/

#ifndef _LJ_HEAPOBJ_H
#define _LJ_HEAPOBJ_H

#include <string.h>

#include "lj_heapdump.h"

#define HEAP_NAME_MAX 128 /* Names of variables are cut to this. */
#define HEAP_PART_MAX (HEAP_NAME_MAX + MP_EVENT_MAX) /* No part is longer. */

/* -- Parts of the object that is being written ----------------------------- */

/* Begins a part, with room for all of it. */
static LJ_AINLINE void lj_heap_part(MPDump *d, int kind, int flags)
{
  lj_heap_room(d, HEAP_PART_MAX);
  lj_heap_byte(d, LJM_HEAP_BYTE(LJM_HEAP_PART, kind, flags));
}

/* Writes the name of a variable; there is room. */
static inline void lj_heap_name(MPDump *d, const char *name)
{
  size_t len = strlen(name);
  lj_wbuf_string(&d->buf, name, len > HEAP_NAME_MAX ? HEAP_NAME_MAX : len);
}

/* Writes the address of a further block of the object; there is room. */
static LJ_AINLINE void lj_heap_near(MPDump *d, const void *p)
{
  lj_heap_delta(d, ljm_turn((uint64_t)(uintptr_t)p), d->addr);
}

/* Writes a constant of a prototype or trace. */
LJ_FUNC void lj_heap_const(MPDump *d, const GCobj *o);

/* Writes a reference that has a name, unless it is NULL. */
LJ_FUNC void lj_heap_link(MPDump *d, const char *name, const GCobj *o);

/* The object that a value is, or NULL. */
static LJ_AINLINE GCobj *lj_heap_valueof(cTValue *tv)
{
  return tvisgcv(tv) ? gcV(tv) : NULL;
}

/* -- Types of objects, each with all of its references --------------------- */

/* A function (lj_heapcode.c has all of code). */
LJ_FUNC void lj_heap_function(MPDump *d, GCfunc *fn);

/* The prototype of Lua functions, with its constants. */
LJ_FUNC void lj_heap_proto(MPDump *d, GCproto *pt);
#if LJ_HASJIT
/* A compiled trace, with its constants. */
LJ_FUNC void lj_heap_trace(MPDump *d, GCtrace *T);
#endif

/* Threads and their stacks (lj_heapstack.c). */
LJ_FUNC void lj_heap_thread(MPDump *d, lua_State *th);

/* Tables (lj_heaptable.c). */
LJ_FUNC void lj_heap_table(MPDump *d, GCtab *t);

#endif

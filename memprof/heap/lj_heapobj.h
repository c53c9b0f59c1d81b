/*
** Objects of a heap dump, each with all of its references.
*/

#ifndef _LJ_HEAPOBJ_H
#define _LJ_HEAPOBJ_H

#include "lj_heapout.h"

/* Writes any object. */
LJ_FUNC void lj_heap_object(MPDump *d, GCobj *o);

/* -- Those with a file of their own ---------------------------------------- */

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

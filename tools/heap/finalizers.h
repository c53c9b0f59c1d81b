/*
** Finalizers of cdata: what ffi.gc() was told.
*/

#ifndef LP_FINALIZERS_H
#define LP_FINALIZERS_H

#include "dump.h"

/* Find the finalizers in a dump whose graph is sealed: OF has that of each
** cdata with one. The caller frees it with lp_idmap_free.
*/
void lp_finalizers_find(LpIdMap *of, const LpDump *d);

/* Append the name of a finalizer behind a space: "free" of C's, "function
** release app.lua:3" of others.
*/
void lp_finalizers_name(LpBuf *b, const LpDump *d, uint32_t finalizer);

#endif

/*
** A heap dump: all objects of a VM.
*/

#ifndef _LJ_HEAPDUMP_H
#define _LJ_HEAPDUMP_H

#include "lj_heapout.h"

/* Bytes of the buffer that the options ask for. */
LJ_FUNC size_t lj_heap_bufsize(const struct luam_Prof_options *opt);

/*
** True if all objects of a VM can be found: not everywhere where it frees a
** block.
*/
LJ_FUNC int lj_heap_arelists(const global_State *g);

/*
** Begins a dump of the VM of L. mp: its recording, which has no record of it
** yet, or NULL. The caller gives it a buffer and a writer. inside: as for
** lj_heap_take().
*/
LJ_FUNC void lj_heap_init(MPDump *d, lua_State *L, const MPState *mp,
                          const struct luam_Prof_options *opt, int inside);

/*
** Writes all of the dump. Calls nothing that allocates or locks. Once the
** writer has failed, which is in buf.error, nothing more is looked at.
*/
LJ_FUNC void lj_heap_write(MPDump *d);

#endif

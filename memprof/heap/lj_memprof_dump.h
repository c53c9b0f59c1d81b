/*
** Heap dumps of a VM that is being recorded.
*/

#ifndef _LJ_MEMPROF_DUMP_H
#define _LJ_MEMPROF_DUMP_H

#include "lj_memprof.h"
#include "lj_memprof_meta.h"

/* Both are only for the thread that runs the VM. */

/*
** Gives a dump that is about to be written an id, and that of the VM's
** recording mp, if it has records of dumps; else, or if that is NULL, 0.
*/
LJ_FUNC void lj_memprof_newdump(const MPState *mp, MPDumpId *id);

/*
** Marks the place of a new dump in its recording. Sets id->recording to 0 if it
** cannot have the record: for want of room, or because its writer fails.
*/
LJ_FUNC void lj_memprof_markdump(MPState *mp, MPDumpId *id);

#endif

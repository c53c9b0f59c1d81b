/*
** Heap dumps of a VM that is being recorded.
*/

#ifndef _LJ_MEMPROF_DUMP_H
#define _LJ_MEMPROF_DUMP_H

#include "lj_memprof.h"
#include "lj_memprof_stream.h"

/*
** Gives a dump that is about to be written an id, and marks its place in the
** recording of the VM, if there is one that can have a mark. Only for the
** thread that runs the VM.
*/
LJ_FUNC void lj_memprof_markdump(global_State *g, MPDumpId *id);

#endif

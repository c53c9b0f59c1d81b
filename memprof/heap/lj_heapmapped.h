/*
** The memory of the process around the objects of a dump: what the kernel
** counts, and which pages the VM has.
*/

#ifndef _LJ_HEAPMAPPED_H
#define _LJ_HEAPMAPPED_H

#include "lj_heapout.h"

/* Sets the figures of the process itself: not in a child. */
LJ_FUNC void lj_heap_process(MPDump *d);

/*
** Writes the pages of the VM's own allocator and those with machine code, and
** which of them are resident. Nothing is written if the kernel does not tell,
** and no segments of an allocator that is not LuaJIT's.
*/
LJ_FUNC void lj_heap_mapped(MPDump *d);

#endif

/*
** Names of the heap dumps that a recording takes by itself.
*/

#ifndef _LJ_MEMPROF_DUMPNAME_H
#define _LJ_MEMPROF_DUMPNAME_H

#include "lj_memprof.h"

/*
** The name of a dump: that of the first one, with a word before its suffix, or
** none if that is empty. The caller frees it. Returns NULL without memory.
*/
LJ_FUNC char *lj_memprof_dumpname(const char *first, const char *word);

#endif

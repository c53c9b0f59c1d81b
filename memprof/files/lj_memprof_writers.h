/*
** Writers of the C API.
*/

#ifndef _LJ_MEMPROF_WRITERS_H
#define _LJ_MEMPROF_WRITERS_H

#include "lj_memprof.h"

/*
** If the options are those of a file or socket that we have opened: fills in
** what it can do more than a host's writer, and returns 1.
*/
LJ_FUNC int lj_memprof_filewriter(const struct luam_Prof_options *opt,
                                  MPWriter *more);

/* True if a writer is one of those here, also as the Lua API uses them. */
LJ_FUNC int lj_memprof_isourwriter(size_t (*writer)(const void *data,
                                                    size_t len, void *arg));

#endif

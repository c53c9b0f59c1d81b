/*
** Compression of a stream with zstd, whose library is looked for only when it
** is wanted.
*/

#ifndef _LJ_MEMPROF_ZSTD_H
#define _LJ_MEMPROF_ZSTD_H

#include <stddef.h>
#include <stdint.h>

#include "lj_def.h"

typedef struct MPPacker MPPacker;

/*
** Makes what compresses a stream, in pieces of most bytes each. Returns NULL
** and errno: ENOENT without the library, ENOMEM.
*/
LJ_FUNC MPPacker *lj_memprof_newpacker(int level, size_t most);

/* Frees it; it may be NULL. */
LJ_FUNC void lj_memprof_freepacker(MPPacker *z);

/*
** Compresses a piece of *len bytes, so that all of it can be read by then.
** Returns what it has become, *len bytes, until the next call; or NULL if the
** library fails. end: the frame ends behind it, and the next piece begins one.
*/
LJ_FUNC const uint8_t *lj_memprof_pack(MPPacker *z, const void *data,
                                       size_t *len, int end);

#endif

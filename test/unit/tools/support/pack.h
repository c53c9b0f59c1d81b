/*
** Packs bytes, for tests of what unpacks them.
*/

#ifndef PACK_H
#define PACK_H

#include "mem.h"

typedef enum Pack { PACK_GZIP, PACK_ZSTD, PACK_LONG, NPACK } Pack;

/* Add N bytes, packed as one member or frame; PACK_LONG is one of zstd whose
** packer looked back as far as may be.
*/
void pack_add(LpBuf *b, Pack how, const void *p, size_t n);

/* A frame of zstd whose packer looked back 2^LOG bytes, or so it says. */
void pack_window(LpBuf *b, unsigned log);

#endif

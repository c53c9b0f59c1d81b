/*
** Decompresses gzip and zstd; other input is passed through.
*/

#ifndef LP_UNPACK_H
#define LP_UNPACK_H

#include "input.h"

typedef struct LpUnpack LpUnpack;

/* Detect the compression of what READ returns; blocks until the first bytes are
** read. The caller owns SRC and calls lp_unpack_close.
*/
LpUnpack *lp_unpack_open(LpReadFn read, void *src);

/* Read at most MAX bytes, unpacked ones if it is packed; what is longer cannot
** be read on from there. This replaces the bound of packed input, which depends
** on its size.
*/
void lp_unpack_bound(LpUnpack *u, uint64_t max);

/* An LpReadFn; U is an LpUnpack. Uncompressed input is passed through. */
ssize_t lp_unpack_read(void *u, void *buf, size_t n);

/* The name of the compression, or NULL if there is none. */
const char *lp_unpack_packer(const LpUnpack *u);

/* Why decompression failed, or NULL. The text belongs to U. */
const char *lp_unpack_why(const LpUnpack *u);

/* Free the memory. */
void lp_unpack_close(LpUnpack *u);

#endif

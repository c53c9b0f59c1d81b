/*
** Bytes as they were before gzip or zstd packed them, or as they are.
*/

#ifndef LP_UNPACK_H
#define LP_UNPACK_H

#include "input.h"

typedef struct LpUnpack LpUnpack;

LpUnpack *lp_unpack_open(LpReadFn read, void *src);
ssize_t lp_unpack_read(void *u, void *buf, size_t n); /* An LpReadFn. */
const char *lp_unpack_packer(const LpUnpack *u);
const char *lp_unpack_why(const LpUnpack *u);
void lp_unpack_close(LpUnpack *u);

#endif

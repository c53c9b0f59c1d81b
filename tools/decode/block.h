/*
** Decodes the items in a block of version 0x10: events, records, changes of
** the stack.
*/

#ifndef LP_BLOCK_H
#define LP_BLOCK_H

#include "items.h"

/* Decode the N bytes at P, the payload of a block that starts at OFFSET of the
** stream. Returns 0 if it could not be decoded to its end; that was reported to
** the sink. LP_SLACK bytes after P + N must be readable.
*/
int lp_block_read(LpItems *it, const uint8_t *p, size_t n, uint64_t offset);

#endif

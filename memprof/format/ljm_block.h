/*
** Blocks of the stream: the header in front of a payload. Header only.
*/

#ifndef _LJM_BLOCK_H
#define _LJM_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ljm_crc32c.h"
#include "ljm_format.h"
#include "ljm_leb.h"

/* The checksum of the block at P with a payload of N bytes. */
static inline uint32_t ljm_block_sum(const uint8_t *p, size_t n)
{
  return ljm_crc32c(0, p + LJM_BLOCK_LENGTH,
                    LJM_BLOCK_HEADER - LJM_BLOCK_LENGTH + n);
}

/*
** Fills in the header at P, in front of a payload of N bytes. FIRST is the
** number of events in all blocks before.
*/
static inline void ljm_block_seal(uint8_t *p, size_t n, uint64_t first)
{
  memcpy(p, LJM_BLOCK_MAGIC, LJM_BLOCK_CRC);
  ljm_putfixed(p + LJM_BLOCK_LENGTH, n, 4);
  ljm_putfixed(p + LJM_BLOCK_FIRST, first, 8);
  ljm_putfixed(p + LJM_BLOCK_CRC, ljm_block_sum(p, n), 4);
}

/* The length of the payload that the header at P names. */
static inline uint32_t ljm_block_length(const uint8_t *p)
{
  return (uint32_t)ljm_getfixed(p + LJM_BLOCK_LENGTH, 4);
}

/* The number of the first event of the block at P. */
static inline uint64_t ljm_block_first(const uint8_t *p)
{
  return ljm_getfixed(p + LJM_BLOCK_FIRST, 8);
}

/* True if the block at P, with a payload of N bytes, has its checksum. */
static inline int ljm_block_iswhole(const uint8_t *p, size_t n)
{
  return ljm_getfixed(p + LJM_BLOCK_CRC, 4) == ljm_block_sum(p, n);
}

#endif

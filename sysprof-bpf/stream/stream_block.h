/*
** A growing buffer, and the blocks of a stream that are written from it.
*/

#ifndef LS_STREAM_BLOCK_H
#define LS_STREAM_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/* A growing buffer, which starts zeroed; its owner frees `p`. Once there was no
** memory nothing is added any more.
*/
typedef struct LsBuffer {
  uint8_t *p;
  size_t n;
  size_t cap;
  int bad; /* There was no memory. */
} LsBuffer;

/* Append N bytes, which are copied. Sets `bad` without memory. */
void ls_buffer_add(LsBuffer *b, const void *p, size_t n);

/* Append one byte. */
void ls_buffer_byte(LsBuffer *b, unsigned byte);

/* Append a ULEB128. */
void ls_buffer_uleb(LsBuffer *b, uint64_t v);

/* Append a string of N bytes with its length in front. It is cut to
** LJM_NAME_MAX bytes.
*/
void ls_buffer_string(LsBuffer *b, const char *s, size_t n);

/* The block that is being filled. */
typedef struct LsBlock {
  int fd;     /* The caller's. */
  int error;  /* errno of the first failure: nothing is written after it. */
  LsBuffer b; /* Header and payload; empty: no block has begun. */
  uint64_t before;  /* Sample records in all blocks before, */
  uint64_t fresh;   /* and in this one. */
  uint64_t written; /* Sample records in blocks that were written whole. */
} LsBlock;

/* Begin a block: room for its header, which ls_block_flush fills in. */
void ls_block_begin(LsBlock *k);
/* End the block and write it, if one has begun. Sets `error` on failure. */
void ls_block_flush(LsBlock *k);
/* Write N bytes to the file descriptor, unless a write has failed before. Sets
** `error` on failure.
*/
void ls_block_write(LsBlock *k, const void *p, size_t n);

#endif

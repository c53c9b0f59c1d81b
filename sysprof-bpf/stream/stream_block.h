/*
** Bytes, and blocks of them on their way to a file descriptor.
*/

#ifndef LS_STREAM_BLOCK_H
#define LS_STREAM_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. Without memory nothing is added any more. */
typedef struct LsBytes {
  uint8_t *p;
  size_t n;
  size_t cap;
  int bad; /* There was no memory. */
} LsBytes;

void ls_bytes_add(LsBytes *b, const void *p, size_t n);
void ls_bytes_byte(LsBytes *b, unsigned byte);
void ls_bytes_uleb(LsBytes *b, uint64_t v);
void ls_bytes_string(LsBytes *b, const char *s, size_t n);

/* The block that is being made. */
typedef struct LsBlock {
  int fd;           /* The caller's. */
  int error;        /* errno of the first failure: nothing is written then. */
  LsBytes b;        /* Header and payload; empty: no block has begun. */
  uint64_t before;  /* Sample records in all blocks before, */
  uint64_t fresh;   /* and in this one. */
  uint64_t written; /* Sample records in blocks that were written whole. */
} LsBlock;

void ls_block_begin(LsBlock *k);
void ls_block_flush(LsBlock *k);
void ls_block_write(LsBlock *k, const void *p, size_t n);

#endif

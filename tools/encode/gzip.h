/*
** Compresses output with gzip.
*/

#ifndef LP_GZIP_H
#define LP_GZIP_H

#include <zlib.h>

#include "out.h"

typedef struct LpGzip {
  LpOut *out;
  z_stream z;
} LpGzip;

/* Start to write compressed data to OUT, which the caller owns. */
void lp_gzip_open(LpGzip *g, LpOut *out);

/* Compress the bytes of B, fewer than 4 GiB. */
void lp_gzip_add(LpGzip *g, const LpBuf *b);

/* Write the end of the data and free the memory. OUT stays open. */
void lp_gzip_close(LpGzip *g);

#endif

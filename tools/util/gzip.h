/*
** What is written, packed on its way to the output.
*/

#ifndef LP_GZIP_H
#define LP_GZIP_H

#include <zlib.h>

#include "out.h"

typedef struct LpGzip {
  LpOut *out;
  z_stream z;
} LpGzip;

void lp_gzip_open(LpGzip *g, LpOut *out);
void lp_gzip_add(LpGzip *g, const LpBuf *b);
void lp_gzip_close(LpGzip *g);

#endif

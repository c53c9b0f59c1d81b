/*
** Compresses output with gzip.
*/

#include <stdlib.h>
#include <string.h>

#include "gzip.h"

#define GZIP_WINDOW (15 + 16) /* The largest, and as gzip has it. */
#define GZIP_MEMORY 8         /* As zlib has it by itself. */

/* Memory for zlib: so it never lacks any. */
static void *gzip_alloc(void *ctx, unsigned n, unsigned size)
{
  (void)ctx;
  return lp_zalloc(n, size);
}

static void gzip_free(void *ctx, void *p)
{
  (void)ctx;
  free(p);
}

void lp_gzip_open(LpGzip *g, LpOut *out)
{
  memset(g, 0, sizeof(*g));
  g->out = out;
  g->z.zalloc = gzip_alloc;
  g->z.zfree = gzip_free;
  deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
               GZIP_MEMORY, Z_DEFAULT_STRATEGY);
}

/* Pack what waits; FLUSH is as zlib has it. */
static void gzip_step(LpGzip *g, int flush)
{
  char buf[4096];
  do {
    g->z.next_out = (Bytef *)buf;
    g->z.avail_out = sizeof(buf);
    deflate(&g->z, flush);
    lp_buf_add(&g->out->buf, buf, sizeof(buf) - g->z.avail_out);
    lp_out_step(g->out);
  } while (!g->z.avail_out);
}

void lp_gzip_add(LpGzip *g, const LpBuf *b)
{
  g->z.next_in = (Bytef *)b->s;
  g->z.avail_in = (uInt)b->n;
  gzip_step(g, Z_NO_FLUSH);
}

void lp_gzip_close(LpGzip *g)
{
  gzip_step(g, Z_FINISH);
  deflateEnd(&g->z);
}

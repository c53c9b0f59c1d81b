/*
** Packs bytes, for tests of what unpacks them.
*/

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "pack.h"

/* End the program where something does not hold. */
static void must(int holds)
{
  if (!holds)
    abort();
}

/* One member of gzip. */
static void pack_gzip(LpBuf *b, const void *p, size_t n)
{
  z_stream z = {0};
  size_t room;
  char *to;
  must(deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8,
                    Z_DEFAULT_STRATEGY) == Z_OK);
  room = deflateBound(&z, n);
  to = lp_alloc(room);
  z.next_in = (Bytef *)(uintptr_t)p;
  z.avail_in = (unsigned)n;
  z.next_out = (Bytef *)to;
  z.avail_out = (unsigned)room;
  must(deflate(&z, Z_FINISH) == Z_STREAM_END);
  lp_buf_add(b, to, room - z.avail_out);
  deflateEnd(&z);
  free(to);
}

/* One frame of zstd. It has a checksum, and blocks of few bytes where the
** packer is told to flush.
*/
static void pack_zstd(LpBuf *b, const void *p, size_t n, int window)
{
  ZSTD_CCtx *z = ZSTD_createCCtx();
  char to[4096];
  size_t at, left;
  ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
  if (window)
    ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, window);
  for (at = 0; at <= n; at += 1000) {
    ZSTD_inBuffer in = {(const char *)p + at, n - at < 1000 ? n - at : 1000, 0};
    ZSTD_EndDirective end = n - at < 1000 ? ZSTD_e_end : ZSTD_e_flush;
    do {
      ZSTD_outBuffer out = {to, sizeof(to), 0};
      left = ZSTD_compressStream2(z, &out, &in, end);
      must(!ZSTD_isError(left));
      lp_buf_add(b, to, out.pos);
    } while (left || in.pos < in.size);
  }
  ZSTD_freeCCtx(z);
}

void pack_add(LpBuf *b, Pack how, const void *p, size_t n)
{
  if (how == PACK_GZIP)
    pack_gzip(b, p, n);
  else
    pack_zstd(b, p, n, how == PACK_LONG ? 27 : 0);
}

/* Magic; no size, no checksum; a window of 2^(10 + n >> 3); then a block of
** one byte that is stored.
*/
void pack_window(LpBuf *b, unsigned log)
{
  char frame[] = "\x28\xb5\x2f\xfd\0\0\x09\0\0l";
  frame[5] = (char)((log - 10) << 3);
  lp_buf_add(b, frame, sizeof(frame) - 1);
}

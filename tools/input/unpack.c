/*
** Decompresses gzip and zstd; other input is passed through.
**
** Who packed is known by the first bytes. Members of gzip, and frames of zstd,
** may follow one another. What comes out before the first broken byte is
** returned; only then the reader gets the error.
*/

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "mem.h"
#include "unpack.h"

#define UNPACK_SIZE  (64u << 10)
#define UNPACK_MAGIC 4

/* A frame of zstd needs as much memory as its packer looked back, and says how
** much that is. This is what zstd itself takes if nothing else is said.
*/
#define UNPACK_WINDOW_LOG 27

/* Bytes that are unpacked at least, and for each packed one: few packed bytes
** must not cost much time. The recording of one loop, packed by zstd -19, is
** 1,463 times as large unpacked.
*/
#define UNPACK_FREE  (64u << 20)
#define UNPACK_RATIO 2048u

#define UNPACK_GZIP                                                            \
  (16 + MAX_WBITS) /* zlib: a header of gzip's, not its own. */

typedef enum Packer { PACKER_NONE, PACKER_GZIP, PACKER_ZSTD } Packer;

static const char *const packers[] = {NULL, "gzip", "zstd"};

struct LpUnpack {
  LpReadFn read;
  void *src;
  Packer packer;
  uint64_t base;  /* Packed bytes that were in the buffer before. */
  size_t at, end; /* What is left in the buffer. */
  int inside;     /* Of a member or frame that has not ended. */
  size_t piece;   /* zstd: bytes up to the end of a block. */
  uint64_t out;   /* Bytes that were read of it, unpacked, */
  uint64_t max;   /* and how many may be; 0: it depends on the packed ones. */
  int ended;      /* All was read, */
  int error;      /* or no more can be: errno. */
  z_stream gzip;
  ZSTD_DCtx *zstd;
  char why[160];
  uint8_t buf[UNPACK_SIZE];
};

/* -- Packed bytes --------------------------------------------------------- */

/* Append packed bytes to those that are not unpacked yet. Returns 0 at the
** end.
*/
static int unpack_more(LpUnpack *u)
{
  ssize_t n;
  if (u->at == u->end) {
    u->base += u->end;
    u->at = u->end = 0;
  }
  if (u->ended)
    return 0;
  n = u->read(u->src, u->buf + u->end, UNPACK_SIZE - u->end);
  u->ended = n <= 0;
  if (n < 0)
    u->error = errno;
  u->end += n > 0 ? (size_t)n : 0;
  return n > 0;
}

/* The packed bytes cannot be unpacked from here on. */
__attribute__((format(printf, 2, 3))) static void
unpack_broken(LpUnpack *u, const char *fmt, ...)
{
  int n = snprintf(u->why, sizeof(u->why),
                   "byte %" PRIu64 " of the %s file: ", u->base + u->at,
                   packers[u->packer]);
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(u->why + n, sizeof(u->why) - (size_t)n, fmt, ap);
  va_end(ap);
  u->error = EBADMSG;
}

/* The program that packed a file, by its first bytes. A frame of zstd may be
** skippable: it has data for other readers.
*/
static Packer unpack_magic(const uint8_t *p, size_t n)
{
  if (n >= 2 && p[0] == 0x1f && p[1] == 0x8b)
    return PACKER_GZIP;
  if (n >= UNPACK_MAGIC && memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0)
    return PACKER_ZSTD;
  if (n >= UNPACK_MAGIC && p[0] >> 4 == 5 &&
      memcmp(p + 1, "\x2a\x4d\x18", 3) == 0)
    return PACKER_ZSTD;
  return PACKER_NONE;
}

/* Does one more member or frame begin here? gzip takes zeros behind the last
** one for padding, and so does this.
*/
static int unpack_next(LpUnpack *u)
{
  do {
    while (u->packer == PACKER_GZIP && u->at < u->end && !u->buf[u->at])
      u->at++;
    if (u->at && u->end - u->at < UNPACK_MAGIC) {
      memmove(u->buf, u->buf + u->at, u->end - u->at);
      u->base += u->at;
      u->end -= u->at;
      u->at = 0;
    }
  } while (u->end - u->at < UNPACK_MAGIC && unpack_more(u));
  if (u->at == u->end || u->error)
    return 0;
  if (unpack_magic(u->buf + u->at, u->end - u->at) == u->packer)
    return 1;
  unpack_broken(u, "expected its end, found 0x%02x", u->buf[u->at]);
  return 0;
}

/* -- One packer each ------------------------------------------------------ */

/* Unpack up to N bytes into BUF. Returns how many came. */
static size_t unpack_gzip(LpUnpack *u, void *buf, size_t n)
{
  z_stream *z = &u->gzip;
  int res;
  z->next_in = u->buf + u->at;
  z->avail_in = (unsigned)(u->end - u->at);
  z->next_out = buf;
  z->avail_out = n < UINT_MAX ? (unsigned)n : UINT_MAX;
  n = z->avail_out;
  res = inflate(z, Z_NO_FLUSH);
  u->at = (size_t)(z->next_in - u->buf);
  u->inside = res != Z_STREAM_END;
  if (res == Z_STREAM_END)
    inflateReset(z);
  else if (res != Z_OK && res != Z_BUF_ERROR)
    unpack_broken(u, "expected packed bytes, found %s",
                  z->msg ? z->msg : zError(res));
  return n - z->avail_out;
}

/* The same. zstd drops what it has unpacked in a call that fails, so it gets a
** block at a time.
*/
static size_t unpack_zstd(LpUnpack *u, void *buf, size_t n)
{
  size_t have = u->end - u->at;
  ZSTD_inBuffer in = {u->buf + u->at, have < u->piece ? have : u->piece, 0};
  ZSTD_outBuffer out = {buf, n, 0};
  size_t res = ZSTD_decompressStream(u->zstd, &out, &in);
  u->at += in.pos;
  u->inside = res != 0;
  if (ZSTD_getErrorCode(res) == ZSTD_error_frameParameter_windowTooLarge)
    unpack_broken(u, "expected a window of at most %u MiB, it is larger",
                  1u << (UNPACK_WINDOW_LOG - 20));
  else if (ZSTD_isError(res))
    unpack_broken(u, "expected packed bytes, found: %s",
                  ZSTD_getErrorName(res));
  else
    u->piece = res ? res : ZSTD_initDStream(u->zstd);
  return out.pos;
}

/* -- All of it ------------------------------------------------------------ */

/* Make ready for what PACKER packed. */
static void unpack_prepare(LpUnpack *u)
{
  int fails = 0;
  if (u->packer == PACKER_GZIP) {
    fails = inflateInit2(&u->gzip, UNPACK_GZIP) != Z_OK;
  } else if (u->packer == PACKER_ZSTD) {
    u->zstd = ZSTD_createDCtx();
    fails = !u->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(
                            u->zstd, ZSTD_d_windowLogMax, UNPACK_WINDOW_LOG));
    u->piece = fails ? 0 : ZSTD_initDStream(u->zstd);
  }
  if (fails)
    unpack_broken(u, "there is no memory to unpack it");
}

LpUnpack *lp_unpack_open(LpReadFn read, void *src)
{
  LpUnpack *u = lp_alloc(sizeof(LpUnpack));
  memset(u, 0, offsetof(LpUnpack, buf));
  u->read = read;
  u->src = src;
  while (u->end < UNPACK_MAGIC && unpack_more(u))
    continue;
  u->packer = unpack_magic(u->buf, u->end);
  unpack_prepare(u);
  return u;
}

void lp_unpack_bound(LpUnpack *u, uint64_t max)
{
  u->max = max;
}

/* Has more come out than of any recording? */
static int unpack_bomb(const LpUnpack *u)
{
  return u->packer && !u->max && u->out > UNPACK_FREE &&
         (u->out - UNPACK_FREE) / UNPACK_RATIO > u->base + u->at;
}

/* Read input that is not packed: without a detour, but for its first bytes. */
static ssize_t unpack_pass(LpUnpack *u, void *buf, size_t n)
{
  if (u->at == u->end && !u->ended)
    return u->read(u->src, buf, n);
  n = u->end - u->at < n ? u->end - u->at : n;
  memcpy(buf, u->buf + u->at, n);
  u->at += n;
  errno = u->error;
  return n || !u->error ? (ssize_t)n : -1;
}

/* Read input of either kind. */
static ssize_t unpack_any(LpUnpack *u, void *buf, size_t n)
{
  size_t got = 0;
  if (u->packer == PACKER_NONE)
    return unpack_pass(u, buf, n);
  while (!got && n && !u->error) {
    if (!u->inside && !unpack_next(u))
      break;
    got = u->packer == PACKER_GZIP ? unpack_gzip(u, buf, n)
                                   : unpack_zstd(u, buf, n);
    if (!got && u->inside && !u->error && u->at == u->end && !unpack_more(u) &&
        !u->error)
      unpack_broken(u, "expected more of it, the file ends");
  }
  errno = u->error;
  return got || !u->error ? (ssize_t)got : -1;
}

/* All that may be read was. Is there more? */
static ssize_t unpack_full(LpUnpack *u)
{
  char c;
  ssize_t n = unpack_any(u, &c, 1);
  if (n <= 0)
    return n;
  snprintf(u->why, sizeof(u->why),
           "it has more than the %" PRIu64 " bytes of --max-size", u->max);
  errno = u->error = EFBIG;
  return -1;
}

ssize_t lp_unpack_read(void *ctx, void *buf, size_t n)
{
  LpUnpack *u = ctx;
  ssize_t got;
  if (u->max && u->out >= u->max)
    return u->error == EFBIG ? -1 : unpack_full(u);
  if (u->max && n > u->max - u->out)
    n = (size_t)(u->max - u->out);
  got = unpack_any(u, buf, n);
  u->out += got > 0 ? (uint64_t)got : 0;
  if (!u->error && unpack_bomb(u))
    unpack_broken(u,
                  "it is more than %u times as large unpacked, as no "
                  "recording is; --max-size reads more",
                  UNPACK_RATIO);
  return got;
}

const char *lp_unpack_packer(const LpUnpack *u)
{
  return packers[u->packer];
}

const char *lp_unpack_why(const LpUnpack *u)
{
  return u->why[0] ? u->why : NULL;
}

void lp_unpack_close(LpUnpack *u)
{
  if (u->packer == PACKER_GZIP)
    inflateEnd(&u->gzip);
  ZSTD_freeDCtx(u->zstd);
  free(u);
}

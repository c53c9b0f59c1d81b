/*
** Compression of a stream with zstd.
**
** The recorder is not linked with libzstd: most programs never compress, and
** none is to need one more library. The functions used are of its stable
** interface, the same since version 1.4.0.
*/

#define lj_memprof_zstd_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lj_memprof_zstd.h"

#define ZSTD_LIBRARY "libzstd.so.1"

/* Numbers of the library's interface. */
#define ZSTD_LEVEL    100 /* ZSTD_c_compressionLevel */
#define ZSTD_CHECKSUM 201 /* ZSTD_c_checksumFlag */
#define ZSTD_FLUSH    1   /* ZSTD_e_flush */
#define ZSTD_END      2   /* ZSTD_e_end */

/* ZSTD_inBuffer and ZSTD_outBuffer. */
typedef struct ZstdIn {
  const void *src;
  size_t size, pos;
} ZstdIn;

typedef struct ZstdOut {
  void *dst;
  size_t size, pos;
} ZstdOut;

/* Functions of the library. */
typedef struct ZstdCalls {
  void *(*create)(void);
  size_t (*free)(void *ctx);
  size_t (*set)(void *ctx, int parameter, int value);
  size_t (*stream)(void *ctx, ZstdOut *out, ZstdIn *in, int end);
  size_t (*bound)(size_t len);
  unsigned (*iserror)(size_t code);
} ZstdCalls;

struct MPPacker {
  ZstdCalls call;
  void *library;
  void *ctx;
  uint8_t *out; /* Of size bytes. */
  size_t size;
};

/* A frame's header and end, and a block's. */
#define ZSTD_MORE 64

/* Looks up one function. Returns 0 if it is not there. */
static int zstd_find(void *library, const char *name, void *to)
{
  void *f = dlsym(library, name);
  memcpy(to, &f, sizeof(f)); /* Of a function's pointer, by POSIX. */
  return f != NULL;
}

static int zstd_load(MPPacker *z)
{
  ZstdCalls *c = &z->call;
  z->library = dlopen(ZSTD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  return z->library != NULL &&
         zstd_find(z->library, "ZSTD_createCCtx", (void *)&c->create) &&
         zstd_find(z->library, "ZSTD_freeCCtx", (void *)&c->free) &&
         zstd_find(z->library, "ZSTD_CCtx_setParameter", (void *)&c->set) &&
         zstd_find(z->library, "ZSTD_compressStream2", (void *)&c->stream) &&
         zstd_find(z->library, "ZSTD_compressBound", (void *)&c->bound) &&
         zstd_find(z->library, "ZSTD_isError", (void *)&c->iserror);
}

/* Makes the context and the buffer, with the library. Returns 0 or errno. */
static int zstd_open(MPPacker *z, int level, size_t most)
{
  if (!zstd_load(z))
    return ENOENT;
  z->ctx = z->call.create();
  z->size = z->call.bound(most) + ZSTD_MORE;
  z->out = (uint8_t *)malloc(z->size);
  if (z->ctx == NULL || z->out == NULL)
    return ENOMEM;
  if (z->call.iserror(z->call.set(z->ctx, ZSTD_LEVEL, level)) ||
      z->call.iserror(z->call.set(z->ctx, ZSTD_CHECKSUM, 1)))
    return ENOENT;
  return 0;
}

MPPacker *lj_memprof_newpacker(int level, size_t most)
{
  MPPacker *z = (MPPacker *)calloc(1, sizeof(MPPacker));
  int en = z != NULL ? zstd_open(z, level, most) : ENOMEM;
  if (en == 0)
    return z;
  lj_memprof_freepacker(z);
  errno = en;
  return NULL;
}

void lj_memprof_freepacker(MPPacker *z)
{
  if (z == NULL)
    return;
  if (z->ctx != NULL)
    z->call.free(z->ctx);
  if (z->library != NULL)
    dlclose(z->library);
  free(z->out);
  free(z);
}

const uint8_t *lj_memprof_pack(MPPacker *z, const void *data, size_t *len,
                               int end)
{
  ZstdIn in = {data, *len, 0};
  ZstdOut out = {z->out, z->size, 0};
  size_t left = z->call.stream(z->ctx, &out, &in, end ? ZSTD_END : ZSTD_FLUSH);
  if (z->call.iserror(left) || left != 0 || in.pos != in.size)
    return NULL;
  *len = out.pos;
  return z->out;
}

#endif

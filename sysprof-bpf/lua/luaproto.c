/*
** A copy of a Lua function's prototype.
*/

#include <stdlib.h>
#include <string.h>

#include "ljm_crc32c.h"
#include "ljm_format.h"
#include "luaproto.h"

#define PROTO_MAX (1u << 24) /* Larger ones are not read. Bytes. */

/* A number of the header that was copied. */
static uint32_t proto_u32(const uint8_t *h, unsigned ofs)
{
  uint32_t v;
  memcpy(&v, h + ofs, 4);
  return v;
}

/* A reference likewise. */
static uint64_t proto_ref(const LsView *v, const uint8_t *h, unsigned ofs)
{
  uint64_t r = 0;
  memcpy(&r, h + ofs, v->lay->ref);
  return r;
}

/* Read and check the header. */
static bool proto_header(LsView *v, uint64_t addr, LsBlob *b, uint8_t h[128])
{
  const struct ljs_vm *vm = &v->vm;
  uint64_t need;
  *b = (LsBlob){.v = v, .addr = addr};
  if (addr == 0 || addr % 4 != 0 ||
      !ls_remote_get(v->mem, addr, h, vm->pt_size) ||
      h[v->lay->marked + 1] != LS_GCT_PROTO)
    return false;
  b->n = proto_u32(h, v->lay->pt_sizept);
  b->sizebc = proto_u32(h, vm->pt_sizebc);
  b->sizekgc = proto_u32(h, vm->pt_sizekgc);
  b->sizekn = proto_u32(h, v->lay->pt_sizekn);
  b->sizeuv = h[v->lay->pt_sizeuv];
  b->chunkname = proto_ref(v, h, vm->pt_chunkname);
  b->first = (int32_t)proto_u32(h, vm->pt_firstline);
  b->numline = proto_u32(h, vm->pt_numline);
  b->check = ljs_check_proto(b->chunkname, (uint32_t)b->first, b->sizebc);
  need = vm->pt_size + b->sizebc * 4ull + b->sizekgc * (uint64_t)v->lay->ref +
         b->sizekn * 8ull;
  return b->sizebc > 0 && b->n <= PROTO_MAX && need <= b->n &&
         b->chunkname != 0;
}

/* Where in the copy a pointer of the proto leads, with N bytes behind it; 0 if
** to somewhere else.
*/
static uint32_t proto_inside(const LsBlob *b, uint64_t ptr, uint64_t n)
{
  uint64_t ofs = ptr - b->addr;
  if (ptr < b->addr || ofs < b->v->vm.pt_size || ofs > b->n || n > b->n - ofs)
    return 0;
  return (uint32_t)ofs;
}

/* The size of a line's number. */
static unsigned proto_linesize(uint32_t numline)
{
  return numline < 256 ? 1 : numline < 65536 ? 2 : 4;
}

bool ls_proto_check(LsView *v, uint64_t addr, uint64_t *check)
{
  LsBlob b;
  uint8_t h[128];
  if (!proto_header(v, addr, &b, h))
    return false;
  *check = b.check;
  return true;
}

bool ls_proto_read(LsView *v, uint64_t addr, LsBlob *b)
{
  const struct ljs_vm *vm = &v->vm;
  uint8_t h[128];
  uint64_t k, kgc;
  if (!proto_header(v, addr, b, h))
    return false;
  b->p = malloc(b->n);
  if (!b->p)
    return false;
  if (!ls_remote_get(v->mem, addr, b->p, b->n) ||
      memcmp(b->p + vm->pt_k, h + vm->pt_k, vm->pt_size - vm->pt_k) != 0) {
    free(b->p);
    b->p = NULL;
    return false;
  }
  b->bc = vm->pt_size;
  k = proto_ref(v, b->p, vm->pt_k);
  kgc = k - b->sizekgc * (uint64_t)v->lay->ref;
  if (b->sizekgc > 0)
    b->kgc = proto_inside(b, kgc, b->sizekgc * (uint64_t)v->lay->ref);
  b->uv = proto_inside(b, proto_ref(v, b->p, v->lay->pt_uv), b->sizeuv * 2ull);
  b->lineinfo = proto_inside(b, proto_ref(v, b->p, vm->pt_lineinfo),
                             (b->sizebc - 1ull) * proto_linesize(b->numline));
  b->uvinfo = proto_inside(b, proto_ref(v, b->p, vm->pt_uvinfo), 1);
  b->varinfo = proto_inside(b, proto_ref(v, b->p, vm->pt_varinfo), 1);
  return true;
}

uint32_t ls_proto_ins(const LsBlob *b, uint32_t i)
{
  return i < b->sizebc ? proto_u32(b->p + b->bc, i * 4) : 0;
}

uint64_t ls_proto_kgc(const LsBlob *b, uint32_t i)
{
  unsigned ref = b->v->lay->ref;
  if (!b->kgc || i >= b->sizekgc)
    return 0;
  return proto_ref(b->v, b->p, b->kgc + (b->sizekgc - 1 - i) * ref);
}

uint16_t ls_proto_uv(const LsBlob *b, uint32_t i)
{
  uint16_t uv = 0;
  if (b->uv && i < b->sizeuv)
    memcpy(&uv, b->p + b->uv + i * 2ul, 2);
  return uv;
}

/* True for instructions that the JIT compiler patches: where traces start, and
** sizes of tables that it saw grow.
*/
static bool proto_ispatched(uint32_t op, uint32_t funcf)
{
  return (op >= LS_BC_RETM && op <= LS_BC_JMP) || op >= funcf ||
         op == LS_BC_ITERC || op == LS_BC_ITERN || op == LS_BC_ISNEXT ||
         op == LS_BC_TNEW;
}

/* Add a number to a checksum, as it is in memory. */
static uint32_t proto_crc(uint32_t crc, uint32_t v)
{
  const uint8_t byte[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16),
                           (uint8_t)(v >> 24)};
  return ljm_crc32c(crc, byte, sizeof(byte));
}

/* Checksum of the bytecode, the same as the recorder's; it stays as it is when
** the JIT compiler patches instructions.
*/
static uint32_t proto_hash(const LsBlob *b)
{
  const uint8_t *h = b->p;
  const uint32_t shape[5] = {b->sizebc, b->sizekgc, b->sizekn,
                             (uint32_t)h[b->v->lay->pt_numparams] << 16 |
                                 h[b->v->lay->pt_framesize],
                             b->sizeuv};
  uint32_t crc = 0, i, funcf = LS_BC_FUNCF;
  if (LS_BC_OP(ls_proto_ins(b, 0)) >= LS_BC_FUNCF_NEW)
    funcf = LS_BC_FUNCF_NEW;
  for (i = 0; i < 5; i++)
    crc = proto_crc(crc, shape[i]);
  for (i = 0; i < b->sizebc; i++) {
    uint32_t ins = ls_proto_ins(b, i);
    if (!proto_ispatched(LS_BC_OP(ins), funcf))
      crc = proto_crc(crc, ins);
  }
  return crc;
}

/* Add a constant object to a checksum: what is the same for the same code. */
static uint32_t proto_hashkgc(const LsBlob *b, uint32_t crc, uint64_t obj)
{
  char text[LJM_HASH_STRING + 1];
  uint8_t gct = ls_view_type(b->v, obj);
  LsBlob child;
  crc = ljm_crc32c(crc, &gct, 1);
  if (gct == LS_GCT_STR) {
    size_t n = ls_view_string(b->v, obj, text, sizeof(text));
    crc = ljm_crc32c(proto_crc(crc, (uint32_t)n), text, n);
  } else if (gct == LS_GCT_PROTO && ls_proto_read(b->v, obj, &child)) {
    crc = proto_crc(crc, proto_hash(&child));
    free(child.p);
  }
  return crc;
}

uint32_t ls_proto_fullhash(const LsBlob *b)
{
  uint32_t crc = proto_hash(b), i;
  uint64_t k = proto_ref(b->v, b->p, b->v->vm.pt_k);
  uint32_t kn = b->sizekn > 0 ? proto_inside(b, k, b->sizekn * 8ull) : 0;
  if (b->first != 0 || b->lineinfo)
    return crc;
  if (kn)
    crc = ljm_crc32c(crc, b->p + kn, b->sizekn * (size_t)8);
  for (i = 0; i < b->sizekgc && i < LJM_HASH_KGC; i++)
    crc = proto_hashkgc(b, crc, ls_proto_kgc(b, i));
  return crc;
}

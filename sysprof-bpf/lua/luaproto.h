/*
** A copy of a Lua function's prototype, as it was when it was read, and the
** names of the functions that it defines.
*/

#ifndef LS_LUAPROTO_H
#define LS_LUAPROTO_H

#include "luaview.h"

/* Instructions that names and frames are recognised by. The numbers are the
** same in all of 2.1; later versions have put new ones behind them.
*/
enum {
  LS_BC_ISGT = 3,
  LS_BC_ISNEP = 11,
  LS_BC_ISTC = 12,
  LS_BC_ISFC = 13,
  LS_BC_IST = 14,
  LS_BC_ISF = 15,
  LS_BC_MOV = 18,
  LS_BC_POW = 37,
  LS_BC_CAT = 38,
  LS_BC_KSTR = 39,
  LS_BC_KNIL = 44,
  LS_BC_UGET = 45,
  LS_BC_USETS = 47,
  LS_BC_UCLO = 50,
  LS_BC_FNEW = 51,
  LS_BC_TNEW = 52,
  LS_BC_TDUP = 53,
  LS_BC_GGET = 54,
  LS_BC_GSET = 55,
  LS_BC_TGETS = 57,
  LS_BC_TGETR = 59,
  LS_BC_TSETV = 60,
  LS_BC_TSETS = 61,
  LS_BC_CALLM = 65,
  LS_BC_CALLMT = 67,
  LS_BC_CALLT = 68,
  LS_BC_ITERC = 69,
  LS_BC_ITERN = 70,
  LS_BC_VARG = 71,
  LS_BC_ISNEXT = 72,
  LS_BC_RETM = 73,
  LS_BC_RET1 = 76,
  LS_BC_FORI = 77,
  LS_BC_JFORI = 78,
  LS_BC_FORL = 79,
  LS_BC_JFORL = 81,
  LS_BC_ITERL = 82,
  LS_BC_JITERL = 84,
  LS_BC_LOOP = 85,
  LS_BC_JLOOP = 87,
  LS_BC_JMP = 88,
  LS_BC_FUNCF = 89,    /* The first of six, up to JFUNCV. */
  LS_BC_FUNCF_NEW = 96 /* The same where bit operators have opcodes. */
};

#define LS_BC_OP(ins) ((ins)&0xff)
#define LS_BC_A(ins)  ((ins) >> 8 & 0xff)
#define LS_BC_B(ins)  ((ins) >> 24)
#define LS_BC_C(ins)  ((ins) >> 16 & 0xff)
#define LS_BC_D(ins)  ((ins) >> 16)

/* The copy. Offsets are in it, 0 where there is nothing. */
typedef struct LsBlob {
  LsView *v;
  uint64_t addr;
  uint8_t *p; /* All of it. */
  uint32_t n;
  uint64_t check; /* ljs_check_proto() */
  uint64_t chunkname;
  int32_t first;
  uint32_t numline;
  uint32_t sizebc, sizekgc, sizekn;
  uint8_t sizeuv;
  uint32_t bc, kgc, uv, lineinfo, uvinfo, varinfo;
} LsBlob;

/* The ljs_check_proto() of the proto that is at an address now, by which protos
** are distinguished. Returns false if there is none that makes sense.
*/
bool ls_proto_check(LsView *v, uint64_t addr, uint64_t *check);

/* Copy a proto. Returns false if there is none that makes sense, or without
** memory. The caller frees b->p.
*/
bool ls_proto_read(LsView *v, uint64_t addr, LsBlob *b);

/* Instruction number I, which is less than b->sizebc. */
uint32_t ls_proto_ins(const LsBlob *b, uint32_t i);

/* The address of the object that is constant number I, or 0. */
uint64_t ls_proto_kgc(const LsBlob *b, uint32_t i);

#define LS_UV_LOCAL 0x8000 /* A slot, not an upvalue. */

/* Where upvalue number I comes from, as LuaJIT encodes it: LS_UV_LOCAL with a
** slot of the function that makes the closure, or an upvalue of that. 0 if
** there is none.
*/
uint16_t ls_proto_uv(const LsBlob *b, uint32_t i);

/* The name of upvalue number I, or NULL. It belongs to the copy. */
const char *ls_proto_uvname(const LsBlob *b, uint32_t i);

/* The checksum that distinguishes functions, the same as the recorder's: that
** of the bytecode, and in stripped code of its constants, too, which may have
** to be read.
*/
uint32_t ls_proto_fullhash(const LsBlob *b);

/* The name under which the closure that is made by instruction POS is kept: it
** goes to BUF, with a NUL. Returns its length, 0 if it has none.
*/
size_t ls_proto_namechild(const LsBlob *b, uint32_t pos,
                          char buf[LS_NAME_MAX + 1]);

/* The name of what is called by instruction POS, or of the field that it loads,
** as the code there has it: in BUF, with a NUL. Returns its length, 0 if it has
** none.
*/
size_t ls_proto_nameuse(const LsBlob *b, uint32_t pos,
                        char buf[LS_NAME_MAX + 1]);

#endif

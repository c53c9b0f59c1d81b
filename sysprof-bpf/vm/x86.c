/*
** Machine code of x86-64, instruction by instruction.
**
** What neither LuaJIT's interpreter nor its compiler has (EVEX, far jumps) is
** not decoded: the caller goes on behind it.
*/

#include <string.h>

#include "x86.h"

/* What follows an opcode. */
enum {
  NONE,
  MODRM = 1,
  IMM8 = 2,  /* One byte. */
  IMM32 = 4, /* Four bytes, two with the prefix 66. */
  IMM16 = 8, /* Two bytes. */
  IMMV = 16, /* Eight bytes with REX.W, else as IMM32. */
  REL = 32,  /* The immediate is a jump's displacement. */
  BAD = 64
};

/* Bytes that are still to be read. */
typedef struct Input {
  const uint8_t *p, *end;
  bool bad;
} Input;

/* The next byte; 0 if there is none, and the input is bad. */
static uint8_t x86_byte(Input *in)
{
  if (in->p < in->end)
    return *in->p++;
  in->bad = true;
  return 0;
}

/* A signed number of 1, 2, 4 or 8 bytes. */
static int64_t x86_number(Input *in, unsigned size)
{
  int16_t i16;
  int32_t i32;
  int64_t i64 = 0;
  if ((size_t)(in->end - in->p) < size) {
    in->bad = true;
    return 0;
  }
  switch (size) {
  case 1:
    i64 = (in->p[0] ^ 0x80) - 0x80;
    break;
  case 2:
    memcpy(&i16, in->p, 2);
    i64 = i16;
    break;
  case 4:
    memcpy(&i32, in->p, 4);
    i64 = i32;
    break;
  default:
    memcpy(&i64, in->p, 8);
    break;
  }
  in->p += size;
  return i64;
}

/* Opcodes of one byte that are in no range and not decoded: 64 bit code does
** not have them, or compilers do not use them.
*/
static int x86_form0_isbad(uint8_t op)
{
  switch (op) {
  case 0x60:
  case 0x61:
  case 0x62:
  case 0x82:
  case 0x9a:
  case 0xa0: /* Addresses of 8 bytes: not used. */
  case 0xa1:
  case 0xa2:
  case 0xa3:
  case 0xc8:
  case 0xce:
  case 0xd4:
  case 0xd5:
  case 0xd6:
  case 0xea:
    return 1;
  default:
    return 0;
  }
}

/* What follows an opcode of one byte, of those that are in no range. */
static unsigned x86_form0_single(uint8_t op)
{
  switch (op) {
  case 0x63:
  case 0xf6: /* Immediate: see ls_x86_decode. */
  case 0xf7:
  case 0xfe:
  case 0xff:
    return MODRM;
  case 0x69:
  case 0x81:
  case 0xc7:
    return MODRM | IMM32;
  case 0x6b:
  case 0x80:
  case 0x83:
  case 0xc0:
  case 0xc1:
  case 0xc6:
    return MODRM | IMM8;
  case 0x68:
  case 0xa9:
    return IMM32;
  case 0xc2:
  case 0xca:
    return IMM16;
  case 0xe0:
  case 0xe1:
  case 0xe2:
  case 0xe3:
  case 0xeb:
    return IMM8 | REL;
  case 0xe8:
  case 0xe9:
    return IMM32 | REL;
  default:
    return x86_form0_isbad(op) ? BAD : NONE;
  }
}

/* What follows an opcode of one byte. */
static unsigned x86_form0(uint8_t op)
{
  if (op < 0x40) {
    static const uint8_t arith[8] = {MODRM, MODRM, MODRM, MODRM,
                                     IMM8,  IMM32, BAD,   BAD};
    return arith[op & 7];
  }
  if (op >= 0x70 && op <= 0x7f)
    return IMM8 | REL;
  if (op >= 0xb0 && op <= 0xbf)
    return op < 0xb8 ? IMM8 : IMMV;
  if ((op >= 0x84 && op <= 0x8f) || (op >= 0xd0 && op <= 0xd3) ||
      (op >= 0xd8 && op <= 0xdf))
    return MODRM;
  if ((op >= 0xe4 && op <= 0xe7) || op == 0x6a || op == 0xa8 || op == 0xcd)
    return IMM8;
  return x86_form0_single(op);
}

/* What follows an opcode of two bytes. */
static unsigned x86_form1(uint8_t op)
{
  if (op >= 0x80 && op <= 0x8f)
    return IMM32 | REL;
  if ((op >= 0x30 && op <= 0x37) || (op >= 0xc8 && op <= 0xcf))
    return NONE;
  switch (op) {
  case 0x05:
  case 0x06:
  case 0x08:
  case 0x09:
  case 0x0b:
  case 0x0e:
  case 0x77:
  case 0xa0:
  case 0xa1:
  case 0xa2:
  case 0xa8:
  case 0xa9:
  case 0xaa:
    return NONE;
  case 0x70:
  case 0x71:
  case 0x72:
  case 0x73:
  case 0xa4:
  case 0xac:
  case 0xba:
  case 0xc2:
  case 0xc4:
  case 0xc5:
  case 0xc6:
    return MODRM | IMM8;
  default:
    return MODRM;
  }
}

/* Read the operands of a ModRM byte. */
static void x86_modrm(Input *in, uint8_t rex, LsX86 *o)
{
  uint8_t b = x86_byte(in), mod = b >> 6, rm = b & 7;
  o->reg = (b >> 3 & 7) | (rex & 4) << 1;
  if (mod == 3) {
    o->rm = rm | (rex & 1) << 3;
    return;
  }
  o->mem = true;
  o->base = rm | (rex & 1) << 3;
  if (rm == 4) { /* An index and its scale. */
    uint8_t sib = x86_byte(in), index = (sib >> 3 & 7) | (rex & 2) << 2;
    o->base = (sib & 7) | (rex & 1) << 3;
    if (index != LS_RSP) {
      o->index = index;
      o->scale = 1 << (sib >> 6);
    }
    rm = sib & 7;
    if (mod == 0 && rm == 5)
      o->base = LS_NREG;
  } else if (mod == 0 && rm == 5) {
    o->base = LS_NREG; /* Relative to the next instruction. */
  }
  if (mod == 1)
    o->disp = (int32_t)x86_number(in, 1);
  else if (mod == 2 || (mod == 0 && rm == 5))
    o->disp = (int32_t)x86_number(in, 4);
}

/* Read prefixes. Returns the REX prefix or 0. */
static uint8_t x86_prefixes(Input *in, LsX86 *o, bool *half)
{
  for (;;) {
    uint8_t b = in->p < in->end ? *in->p : 0;
    switch (b) {
    case 0x66:
      *half = true;
      o->prefix = true;
      o->simd = b;
      break;
    case 0xf2:
    case 0xf3:
      o->prefix = true;
      o->simd = b;
      break;
    case 0xf0:
    case 0x64:
    case 0x65:
    case 0x67:
      o->prefix = true;
      break;
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
      break;
    default:
      if ((b & 0xf0) != 0x40)
        return 0;
      in->p++;
      return b;
    }
    in->p++;
  }
}

/* Read the rest of a VEX prefix, and the opcode. *REX gets what REX would have;
** one more operand is not read. Returns what follows.
*/
static unsigned x86_vex(Input *in, LsX86 *o, uint8_t *rex)
{
  bool two = o->op == 0xc5;
  uint8_t b = x86_byte(in);
  *rex = ~b >> 5 & (two ? 4 : 7);
  o->map = two ? 1 : b & 31;
  if (!two && x86_byte(in) & 0x80)
    *rex |= 8;
  o->prefix = true;
  o->op = x86_byte(in);
  if (o->map == 1)
    return x86_form1(o->op);
  return o->map == 2 ? MODRM : o->map == 3 ? MODRM | IMM8 : BAD;
}

/* Read the opcode. Returns what follows it. */
static unsigned x86_opcode(Input *in, LsX86 *o, uint8_t *rex)
{
  o->op = x86_byte(in);
  if (*rex == 0 && (o->op == 0xc4 || o->op == 0xc5))
    return x86_vex(in, o, rex);
  if (o->op != 0x0f)
    return x86_form0(o->op);
  o->map = 1;
  o->op = x86_byte(in);
  if (o->op != 0x38 && o->op != 0x3a)
    return x86_form1(o->op);
  o->map = o->op == 0x38 ? 2 : 3;
  o->op = x86_byte(in);
  return o->map == 2 ? MODRM : MODRM | IMM8;
}

bool ls_x86_decode(const uint8_t *code, size_t n, LsX86 *out)
{
  Input in = {.p = code, .end = code + (n < 15 ? n : 15)};
  LsX86 o = {.rm = LS_NREG, .base = LS_NREG, .index = LS_NREG};
  bool half = false;
  uint8_t rex = x86_prefixes(&in, &o, &half);
  unsigned form = x86_opcode(&in, &o, &rex);
  o.wide = rex & 8;
  if (form & MODRM) {
    x86_modrm(&in, rex, &o);
    if (o.map == 0 && (o.op == 0xf6 || o.op == 0xf7) && (o.reg & 7) < 2)
      form |= o.op == 0xf6 ? IMM8 : IMM32;
  } else if (o.map == 0) { /* A register in the opcode. */
    o.reg = (o.op & 7) | (rex & 1) << 3;
  }
  if (form & IMM8)
    o.imm = x86_number(&in, 1);
  else if (form & IMM16)
    o.imm = x86_number(&in, 2);
  else if (form & (IMM32 | IMMV))
    o.imm = x86_number(&in, form & IMMV && o.wide   ? 8
                            : half && !(form & REL) ? 2
                                                    : 4);
  if (form & REL)
    o.disp = (int32_t)o.imm;
  if (in.bad || form & BAD)
    return false;
  o.len = (uint8_t)(in.p - code);
  *out = o;
  return true;
}

bool ls_x86_isjcc(const LsX86 *x)
{
  return (x->map == 0 && (x->op & 0xf0) == 0x70) ||
         (x->map == 1 && (x->op & 0xf0) == 0x80);
}

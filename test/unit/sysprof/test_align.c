/*
** Alignment of machine code with IR, and of a loop's IR with what it is a copy
** of: small pieces, of which is known what they are of.
*/

#include <string.h>

#include "irblocks.h"
#include "ircopy.h"
#include "suites.h"
#include "vmir.h"

#define REGS   8 /* Machine instructions of a piece, at most. */
#define NUMBER LS_IRT_NUM
#define XMM(n) (16 + (n))
#define NOREG  0xff

/* IR instructions, each of a line of its own. */
typedef struct Piece {
  LsIns ins[16];
  LsFunc f;
  LsClaim claim[16];
  LsCodeIns code[REGS];
  LsCode c;
  LsIr t;
  LsClaim out[REGS];
} Piece;

static void piece_start(Piece *p)
{
  unsigned i;
  memset(p, 0, sizeof(*p));
  p->ins[0].op = LS_IR_BASE;
  p->t.ins = p->ins;
  p->t.nk = LS_REF_BIAS;
  p->t.nins = LS_REF_BIAS + 1;
  p->c.ins = p->code;
  for (i = 0; i < 16; i++)
    p->claim[i] = (LsClaim){.f = &p->f, .pos = i, .line = 100 + i};
}

static void piece_ir(Piece *p, LsIns ins)
{
  p->ins[p->t.nins++ - LS_REF_BIAS] = ins;
}

/* Decode machine code. */
static void piece_code(Piece *p, const uint8_t *code, size_t n)
{
  size_t at;
  for (at = 0; at < n; at += p->code[p->c.n++].x.len) {
    ck_assert_uint_lt(p->c.n, REGS);
    p->code[p->c.n].ofs = (uint32_t)at;
    ck_assert(ls_x86_decode(code + at, n - at, &p->code[p->c.n].x));
  }
  p->t.szmcode = (uint32_t)n;
}

/* Align all of it. */
static void piece_align(Piece *p)
{
  uint32_t steps = 10000;
  LsStretch s = {.t = &p->t,
                 .c = &p->c,
                 .ref = LS_REF_BIAS + 1,
                 .end = p->t.nins,
                 .last = p->c.n};
  ls_blocks_read(&s, p->claim, &steps, p->out);
}

/* Machine instruction I is of the IR instruction REF, or, 0, may be of more. */
static void piece_is(const Piece *p, unsigned i, uint32_t ref)
{
  ck_assert_int_eq(p->out[i].lines, ref == 0);
  if (ref)
    ck_assert_uint_eq(p->out[i].line, 100 + ref);
}

/* mulsd xmm0, xmm1; movaps xmm2, xmm0; addsd xmm1, xmm2 */
static const uint8_t arithmetic[] = {0xf2, 0x0f, 0x59, 0xc1, 0x0f, 0x28,
                                     0xd0, 0xf2, 0x0f, 0x58, 0xca};

START_TEST(blocks)
{
  Piece p;
  piece_start(&p);
  piece_ir(&p, (LsIns){.op = LS_IR_MUL, .type = NUMBER, .reg = XMM(0)});
  piece_ir(&p, (LsIns){.op = LS_IR_ADD, .type = NUMBER, .reg = XMM(1)});
  piece_code(&p, arithmetic, sizeof(arithmetic));
  piece_align(&p);
  piece_is(&p, 0, 1);
  piece_is(&p, 1, 0); /* The end of the one, or the beginning of the other. */
  piece_is(&p, 2, 2);
  ck_assert(!p.out[1].functions);
}
END_TEST

/* What nothing uses has no code, and what has an effect has some. */
START_TEST(unused)
{
  Piece p;
  piece_start(&p);
  piece_ir(&p, (LsIns){.op = LS_IR_MUL, .type = NUMBER, .reg = NOREG});
  piece_ir(&p, (LsIns){.op = LS_IR_MUL, .type = NUMBER, .reg = XMM(0)});
  piece_ir(&p, (LsIns){.op = LS_IR_ADD, .type = NUMBER, .reg = XMM(1)});
  piece_code(&p, arithmetic, sizeof(arithmetic));
  piece_align(&p);
  piece_is(&p, 0, 2);
  piece_is(&p, 2, 3);
  piece_ir(&p, (LsIns){.op = LS_IR_HSTORE, .type = NUMBER, .reg = NOREG});
  piece_align(&p); /* There is no store. */
  piece_is(&p, 0, 0);
  ck_assert(p.out[0].functions);
}
END_TEST

/* Code that the IR cannot have is of nothing that is known. */
START_TEST(foreign)
{
  Piece p;
  unsigned i;
  piece_start(&p);
  piece_ir(&p, (LsIns){.op = LS_IR_MUL, .type = NUMBER, .reg = XMM(0)});
  piece_ir(&p, (LsIns){.op = LS_IR_MUL, .type = NUMBER, .reg = XMM(1)});
  piece_code(&p, arithmetic, sizeof(arithmetic));
  piece_align(&p);
  for (i = 0; i < p.c.n; i++)
    ck_assert(p.out[i].lines && p.out[i].functions);
}
END_TEST

/* A loop's addition and comparison are of the same lines as the ones in front
** of it; a multiplication that has no source is of what is known of it.
*/
START_TEST(copies)
{
  Piece p;
  uint32_t map[] = {2u << 24 | (LS_REF_BIAS + 2)};
  LsRawSnap raw = {.ref = LS_REF_BIAS + 4, .nent = 1};
  const uint16_t k = LS_REF_BIAS - 3, sum = LS_REF_BIAS + 2;
  unsigned i;
  piece_start(&p);
  p.t.raw = &raw;
  p.t.map = map;
  p.t.nsnap = 1;
  piece_ir(&p, (LsIns){.op = LS_IR_SLOAD, .op1 = 2, .type = NUMBER});
  piece_ir(&p, (LsIns){LS_REF_BIAS + 1, k, NUMBER, LS_IR_ADD, NOREG, 0});
  piece_ir(&p, (LsIns){sum, k, NUMBER, LS_IR_LT, NOREG, 0});
  piece_ir(&p, (LsIns){.op = LS_IR_LOOP});
  piece_ir(&p, (LsIns){k, k, NUMBER, LS_IR_MUL, NOREG, 0});
  piece_ir(&p, (LsIns){sum, k, NUMBER, LS_IR_ADD, NOREG, 0});
  piece_ir(&p, (LsIns){LS_REF_BIAS + 6, k, NUMBER, LS_IR_LT, NOREG, 0});
  for (i = 5; i <= 7; i++)
    p.claim[i] = (LsClaim){.functions = true, .lines = true};
  ls_copy_read(&p.t, p.claim);
  ck_assert(p.claim[5].lines);
  ck_assert(!p.claim[6].lines && !p.claim[7].lines);
  ck_assert_uint_eq(p.claim[6].line, 102);
  ck_assert_uint_eq(p.claim[7].line, 103);
}
END_TEST

/* A loop's sum, which has become a difference, is of the line of the sum that
** lies between what has exact copies; a store keeps its operation.
*/
START_TEST(changed)
{
  Piece p;
  uint32_t map[] = {2u << 24 | (LS_REF_BIAS + 2)};
  LsRawSnap raw = {.ref = LS_REF_BIAS + 5, .nent = 1};
  const uint16_t k = LS_REF_BIAS - 3, slot = LS_REF_BIAS + 1;
  piece_start(&p);
  p.t.raw = &raw;
  p.t.map = map;
  p.t.nsnap = 1;
  piece_ir(&p, (LsIns){.op = LS_IR_SLOAD, .op1 = 2, .type = NUMBER});
  piece_ir(&p, (LsIns){slot, k, NUMBER, LS_IR_MUL, NOREG, 0});
  piece_ir(&p, (LsIns){slot, slot, NUMBER, LS_IR_ADD, NOREG, 0});
  piece_ir(&p, (LsIns){k, slot + 2, NUMBER, LS_IR_HSTORE, NOREG, 0});
  piece_ir(&p, (LsIns){.op = LS_IR_LOOP});
  piece_ir(&p, (LsIns){slot + 1, k, NUMBER, LS_IR_MUL, NOREG, 0});
  piece_ir(&p, (LsIns){slot, k, NUMBER, LS_IR_SUB, NOREG, 0});
  piece_ir(&p, (LsIns){k, slot + 6, NUMBER, LS_IR_HSTORE, NOREG, 0});
  ls_copy_read(&p.t, p.claim);
  ck_assert(!p.claim[6].lines && !p.claim[7].lines && !p.claim[8].lines);
  ck_assert_uint_eq(p.claim[6].line, 102);
  ck_assert_uint_eq(p.claim[7].line, 103);
  ck_assert_uint_eq(p.claim[8].line, 104);
}
END_TEST

/* An operation that some versions do not have moves those behind it. */
START_TEST(numbering)
{
  uint8_t op[256];
  ls_vm_irops(LS_IRFORM_KNOWN, op);
  ck_assert_uint_eq(op[LS_IR_ABS], LS_IR_ABS);
  ck_assert_uint_eq(op[LS_IR_ABS + 1], LS_IR_LDEXP);
  ck_assert_uint_eq(op[LS_IR_CARG - 3], LS_IR_CARG);
  ck_assert_uint_eq(op[LS_IR_CARG - 2], LS_IR_OPS);
  ls_vm_irops(LS_IRFORM_KNOWN | LS_IRFORM_ATAN2 | LS_IRFORM_TMPREF, op);
  ck_assert_uint_eq(op[LS_IR_TMPREF], LS_IR_TMPREF);
  ck_assert_uint_eq(op[LS_IR_ASTORE - 1], LS_IR_ASTORE);
}
END_TEST

Suite *suite_align(void)
{
  const TTest *tests[] = {blocks,  unused,    foreign, copies,
                          changed, numbering, NULL};
  return suite_of("align", tests);
}

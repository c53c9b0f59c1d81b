/*
** Programs of call frame information: what tools seldom write, and what nobody
** should.
*/

#include "cfi.h"
#include "open.h"
#include "suites.h"

/* Where a symbol of the sample is. */
static uint64_t sample_base(const LsRows *t)
{
  ck_assert_uint_ge(t->nrange, 3);
  return t->range[0].lo;
}

/* What there is at an address of the sample. */
static const struct ljs_row *at(const LsRows *t, uint64_t addr)
{
  const struct ljs_row *r = ls_rows_find(t, sample_base(t) + addr);
  ck_assert_ptr_nonnull(r);
  return r;
}

/* The CFA is told so at an address. */
static void cfa(const LsRows *t, uint64_t addr, int how, int offset)
{
  const struct ljs_row *r = at(t, addr);
  ck_assert_msg(r->how == how && r->cfa == offset, "at %d: %d%+d, not %d%+d",
                (int)addr, r->how, r->cfa, how, offset);
}

/* The same rows, whichever section they come from. */
static void check_sample(const char *path)
{
  LsRows t;
  LsElf *e = open_rows(path, &t);
  cfa(&t, 0, LJS_CFA_SP, 8);
  cfa(&t, 1, LJS_CFA_SP, 16);
  ck_assert_int_eq(at(&t, 1)->bxhow, LJS_REG_CFA);
  ck_assert_int_eq(at(&t, 1)->bx, -16);
  cfa(&t, 4, LJS_CFA_BX, 16);
  cfa(&t, 5, LJS_CFA_BX, 16);
  ck_assert_int_eq(at(&t, 5)->bphow, LJS_REG_SAME);
  ck_assert_int_eq(at(&t, 5)->bxhow, LJS_REG_LOST);
  cfa(&t, 6, LJS_CFA_BX, 16);
  ck_assert_int_eq(at(&t, 6)->bphow, LJS_REG_SAME);
  ck_assert_int_eq(at(&t, 6)->bx, -16);
  cfa(&t, 7, LJS_CFA_UNKNOWN, 0);
  ck_assert_int_eq(at(&t, 7)->bxhow, LJS_REG_SAME);
  cfa(&t, 8, LJS_CFA_BP, 0x1230);
  ck_assert_int_eq(at(&t, 8)->bxhow, LJS_REG_SAME);
  ck_assert_int_eq(at(&t, 8)->bphow, LJS_REG_LOST);
  cfa(&t, 9, LJS_CFA_UNKNOWN, 0);
  cfa(&t, 63, LJS_CFA_UNKNOWN, 0);
  cfa(&t, 64, LJS_CFA_BP_MEM, -8);
  cfa(&t, 65, LJS_CFA_BP_MEM, -8);
  cfa(&t, 66, LJS_CFA_SP, 24);
  cfa(&t, 67, LJS_CFA_UNKNOWN, 0);
  cfa(&t, 68, LJS_CFA_END, 0);
  cfa(&t, 69, LJS_CFA_UNKNOWN, 0);
  cfa(&t, 128, LJS_CFA_SIGNAL, 0);
  cfa(&t, 129, LJS_CFA_SIGNAL, 0);
  cfa(&t, 130, LJS_CFA_UNKNOWN, 0);
  ls_rows_free(&t);
  ls_elf_close(e);
}

START_TEST(test_eh_frame)
{
  check_sample(SAMPLE_EH);
}
END_TEST

START_TEST(test_debug_frame)
{
  check_sample(SAMPLE_DEBUG);
}
END_TEST

/* A program, and how many bytes of code it tells of before it ends, and what is
** known at the end.
*/
typedef struct Case {
  const char *code;
  size_t n;
  uint64_t steps;
  struct ljs_row end;
} Case;

#define CODE(s)   s, sizeof(s) - 1
#define REMEMBER4 "\x0a\x0a\x0a\x0a"
#define RESTORE4  "\x0b\x0b\x0b\x0b"
#define SP(n)                                                                  \
  {                                                                            \
    .how = LJS_CFA_SP, .cfa = (n)                                              \
  }
#define UNKNOWN                                                                \
  {                                                                            \
    .how = LJS_CFA_UNKNOWN                                                     \
  }
#define PLT "\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"

static const Case cases[] = {
    {CODE(""), 0, SP(8)},
    {CODE("\x00\x00"), 0, SP(8)},
    {CODE("\x41\x0e\x10"), 1, SP(16)},
    {CODE("\x02\xff\x0e\x10"), 255, SP(16)},
    {CODE("\x03\x01\x02\x0e\x10"), 0x201, SP(16)},
    {CODE("\x04\x01\x00\x00\x01\x0e\x10"), 0x1000001, SP(16)},
    {CODE("\x40\x0e\x10"), 0, SP(16)}, /* No step at all. */
    {CODE("\x2e\x90\x01\x0e\x18"), 0, SP(24)},
    {CODE("\x12\x07\x7e"), 0, SP(16)}, /* def_cfa_sf: -2 * -8. */
    {CODE("\x13\x7d"), 0, SP(24)},
    {CODE("\x86\x02"),
     0,
     {.how = LJS_CFA_SP, .cfa = 8, .bphow = LJS_REG_CFA, .bp = -16}},
    {CODE("\x05\x03\x03"),
     0,
     {.how = LJS_CFA_SP, .cfa = 8, .bxhow = LJS_REG_CFA, .bx = -24}},
    {CODE("\x11\x03\x7f"),
     0,
     {.how = LJS_CFA_SP, .cfa = 8, .bxhow = LJS_REG_CFA, .bx = 8}},
    {CODE("\x2f\x03\x02"),
     0,
     {.how = LJS_CFA_SP, .cfa = 8, .bxhow = LJS_REG_CFA, .bx = 16}},
    {CODE("\x86\x02\xc6"), 0, SP(8)},
    {CODE("\x86\x02\x06\x06"), 0, SP(8)},
    {CODE("\x86\x02\x08\x06"), 0, SP(8)},
    {CODE("\x0a\x86\x02\x0e\x20\x0b"), 0, SP(8)}, /* The CFA comes back, too. */
    {CODE("\x0f\x0b" PLT), 0, {.how = LJS_CFA_PLT, .cfa = 11}},
    {CODE("\x0f\x0c" PLT "\x96"), 0, UNKNOWN},
    {CODE("\x0f\x0a" PLT), 0, UNKNOWN}, /* Cut; and its end is no program. */
    {CODE("\x0f\x04\x76\x70\x06\x06"), 0, UNKNOWN},
    {CODE("\x0f\x03\x76\x78\x06\x0e\x10"),
     0,
     {.how = LJS_CFA_BP_MEM, .cfa = -8}},
    {CODE("\x0f\x03\x76\x78\x06\x0e\x10\x0d\x07"), 0, SP(16)},
    {CODE("\x0f\x00"), 0, UNKNOWN},
    {CODE("\x0f\x00\x0d\x07"), 0, SP(8)}, /* As compilers count on. */
    {CODE("\x0f\x00\x0c\x07\x10"), 0, SP(16)},
    {CODE("\x09\x10\x03"), 0, UNKNOWN}, /* The return address in rbx. */
    {CODE("\x90\x02"), 0, UNKNOWN},     /* It is at CFA - 16. */
    {CODE("\x90\x02\xd0"), 0, SP(8)},
    {CODE("\x14\x07\x01"), 0, UNKNOWN}, /* rsp is not the CFA. */
    {CODE("\x07\x06"), 0, {.how = LJS_CFA_SP, .cfa = 8, .bphow = LJS_REG_LOST}},
    {CODE("\x07\x10"), 0, {.how = LJS_CFA_END}},
    /* Nonsense: what was known until there is told, and nothing from there. */
    {CODE("\x41\x3f\x41\x0e\x10"), 1, UNKNOWN},
    {CODE("\x41\x0b"), 1, UNKNOWN},
    {CODE("\x41\x0e"), 1, UNKNOWN},
    {CODE("\x41\x02"), 1, UNKNOWN},
    {CODE("\x41\x0e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), 1, UNKNOWN},
    {CODE("\x0e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0, UNKNOWN},
    {CODE("\x0e\xff\xff\xff\xff\x0f"), 0, UNKNOWN}, /* 4 GiB. */
    {CODE("\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0, UNKNOWN},
    {CODE(REMEMBER4 REMEMBER4 REMEMBER4 REMEMBER4 RESTORE4 RESTORE4), 0, SP(8)},
    {CODE(REMEMBER4 REMEMBER4 REMEMBER4 REMEMBER4 "\x0a"), 0, UNKNOWN},
};

START_TEST(test_program)
{
  const Case *c = &cases[_i];
  LsCie cie = {.codealign = 1, .dataalign = -8};
  LsCfiRun r;
  struct ljs_row row;
  uint64_t steps = 0, step;
  ls_cfi_cie(&cie, ls_cursor("\x0c\x07\x08\x90\x01", 5));
  ck_assert(!cie.unsupported);
  ls_cfi_begin(&r, &cie, ls_cursor(c->code, c->n));
  while (ls_cfi_run(&r, &step))
    steps += step;
  ls_cfi_row(&r, &row);
  ck_assert_uint_eq(steps, c->steps);
  ck_assert_int_eq(row.how, c->end.how);
  ck_assert_int_eq(row.cfa, c->end.cfa);
  ck_assert_int_eq(row.bphow, c->end.bphow);
  ck_assert_int_eq(row.bp, c->end.bp);
  ck_assert_int_eq(row.bxhow, c->end.bxhow);
  ck_assert_int_eq(row.bx, c->end.bx);
}
END_TEST

/* Factors that overflow. */
START_TEST(test_factors)
{
  LsCie cie = {.codealign = UINT64_MAX, .dataalign = INT64_MIN};
  LsCfiRun r;
  struct ljs_row row;
  uint64_t step;
  ls_cfi_cie(&cie, ls_cursor("\x0c\x07\x08\x90\x01", 5));
  ls_cfi_begin(&r, &cie, ls_cursor("\x86\x02", 2));
  ck_assert_int_eq(ls_cfi_run(&r, &step), 0);
  ls_cfi_begin(&r, &cie, ls_cursor("\x42", 1));
  ck_assert_int_eq(ls_cfi_run(&r, &step), 0);
  ls_cfi_row(&r, &row);
  ck_assert_int_eq(row.how, LJS_CFA_UNKNOWN);
}
END_TEST

/* A CIE's program must not go on in code. */
START_TEST(test_cie)
{
  LsCie cie = {.codealign = 1, .dataalign = -8};
  ls_cfi_cie(&cie, ls_cursor("\x0c\x07\x08\x90\x01\x41", 6));
  ck_assert(cie.unsupported);
}
END_TEST

Suite *suite_cfi(void)
{
  const TTest *tests[] = {test_eh_frame, test_debug_frame, test_factors,
                          test_cie, NULL};
  Suite *s = suite_of("cfi", tests);
  TCase *tc = tcase_create("programs");
  tcase_add_loop_test(tc, test_program, 0,
                      (int)(sizeof(cases) / sizeof(*cases)));
  suite_add_tcase(s, tc);
  return s;
}

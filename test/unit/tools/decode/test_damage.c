/*
** Version 0x10: streams that lie.
*/

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ljm_format.h"
#include "run.h"
#include "suites.h"

/* -- Whole blocks with wrong contents ------------------------------------- */

/* A stream whose second block has these bytes must be damaged like this. */
static void contents(const void *p, size_t n, const char *what)
{
  Craft c;
  Run r;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 100);
  craft_alloc(&c, 1, 0x1000, 10);
  craft_flush(&c);
  lp_buf_add(&c.block, p, n);
  craft_flush(&c);
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_int_eq(r.status, LP_PART);
  ck_assert_str_eq(r.st.damage.what, what);
  run_books(&r);
  run_close(&r);
  craft_close(&c);
}

#define CONTENTS(s, what) contents(s, sizeof(s) - 1, what)

START_TEST(test_contents)
{
  CONTENTS("\0", "expected an event or a record, found 0x00");
  CONTENTS("\x05", "a broken event, found 0x05");
  CONTENTS("\xf0", "a broken change of the stack, found 0xf0");
  CONTENTS("\xf0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
           "a broken change of the stack, found 0xf0");
  CONTENTS("\x84", "a broken change of the stack, found 0x84");
  CONTENTS("\x88\x01", "a broken change of the stack, found 0x88");
  CONTENTS("\x8c", "a broken change of the stack, found 0x8c");
  CONTENTS("\x8c\xff\xff\xff\x7f\x01\x01",
           "a broken change of the stack, found 0x8c");
  CONTENTS("\x84\x80", "a broken change of the stack, found 0x84");
  CONTENTS("\x90", "1 sites return, 0 have called");
  CONTENTS("\x84\x09", "a caller's site 9 is not defined");
  CONTENTS("\x3c\x00", "a record of kind 15 is too short for its fields");
  CONTENTS("\x3c\x02\x00\x80",
           "a record of kind 15 is too short for its fields");
  CONTENTS("\x01\x02\x80", "a broken event, found 0x01");
  CONTENTS("\x0d\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
           "a broken event, found 0x0d");
  CONTENTS("\x0d\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
           "a broken event, found 0x0d");
  CONTENTS("\x18", "a broken record, found 0x18");
  CONTENTS("\x18\x05\x01", "a broken record, found 0x18");
  CONTENTS("\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01",
           "a broken record, found 0x18");
  CONTENTS("\x18\x00", "a record of kind 6 is too short for its fields");
  CONTENTS("\x14\x02\x01\x01",
           "a record of kind 5 is too short for its fields");
  CONTENTS("\x04\x04\x09xyz", "a record of kind 1 is too short for its fields");
  CONTENTS("\x08\x08\1\1\1\1\1\1\1\1",
           "a record of kind 2 is too short for its fields");
  CONTENTS("\x14\x04\x02\x00\x07\x01", "function 7 is not defined");
  CONTENTS("\x44\x00", "no event to be outside of the VM's count");
  CONTENTS("\x09\x09\x02", "an event at a site that is not defined");
  CONTENTS("\x14\x04\x02\x00\x00\x01\x14\x04\x01\x00\x00\x01",
           "id 1 is defined for a second time");
}
END_TEST

/* -- Books that do not match ---------------------------------------------- */

/* A stream with one allocation, one deallocation, and these totals. */
static void books(const char *what, unsigned field, uint64_t delta)
{
  Craft c;
  Run r;
  uint64_t *f[] = {&c.allocs, &c.reallocs,  &c.frees,
                   &c.in,     &c.out_bytes, &c.live};
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 100);
  craft_alloc(&c, 1, 0x1000, 10);
  craft_free(&c, 1, 0x1000, 10);
  *f[field] += delta;
  if (field == 0)
    c.frees -= delta;
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_int_eq(r.status, LP_PART);
  ck_assert_str_eq(r.st.damage.what, what);
  run_close(&r);
  craft_close(&c);
}

START_TEST(test_books)
{
  books("the recorder counted 2 allocations, but 1 were read", 0, 1);
  books("the recorder counted 3 events, but 2 were read", 1, 1);
  books("the recorder counted 1 events, but 2 were read", 2, UINT64_MAX);
  books("the recorder counted 11 bytes in, but 10 were read", 3, 1);
  books("the recorder counted 9 bytes out, but 10 were read", 4, UINT64_MAX);
  books("the VM counts 105 live bytes at the end, the events sum up to 5 "
        "fewer: a C module may have used lua_getallocf()",
        5, 5);
}
END_TEST

/* Events that contradict each other. */
START_TEST(test_contradictions)
{
  Craft c;
  Run r;
  int i;
  for (i = 0; i < 2; i++) {
    craft_open(&c, 1);
    craft_time(&c, 0);
    craft_meta(&c, 5);
    craft_alloc(&c, 1, 0x1000, 10);
    if (i)
      craft_alloc(&c, 1, 0x1000, 10);
    else
      craft_free(&c, 1, 0x2000, 10);
    craft_totals(&c, 0, 0);
    craft_flush(&c);
    r = run_craft(&c);
    ck_assert_int_eq(r.status, LP_PART);
    ck_assert_str_eq(r.st.damage.what,
                     i ? "1 allocations came where an object still lives"
                       : "5 bytes live at the start, but 10 of them were "
                         "freed");
    ck_assert_ptr_nonnull(strstr(run_text(&r, &run_plain), "(approximate: "));
    run_books(&r);
    run_close(&r);
    craft_close(&c);
  }
}
END_TEST

/* -- Hostile ones --------------------------------------------------------- */

/* Beginnings of blocks, each of which claims 16 MiB: neither slow nor big. */
START_TEST(test_beginnings)
{
  Craft c;
  Run r;
  clock_t t = clock();
  size_t i;
  craft_open(&c, 1);
  for (i = 0; i < 1500000; i++)
    lp_buf_add(&c.out, "ljb\x10\1\2\3\4\0\0\0\1\0\0\0\0\0\0\0\0", 20);
  r = run_craft(&c);
  ck_assert_int_eq(r.status, LP_PART);
  ck_assert_uint_eq(r.st.damage.bytes, 30000000);
  ck_assert_int_lt((clock() - t) / CLOCKS_PER_SEC, 20);
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* Ids, sizes and addresses as they come: memory does not follow their value. */
START_TEST(test_values)
{
  Craft c;
  Run r;
  uint64_t i, id = UINT64_MAX;
  craft_open(&c, 1);
  craft_time(&c, UINT64_MAX);
  craft_meta(&c, UINT64_MAX);
  craft_proto(&c, id, ~0u, id, id, "@x", "y");
  craft_site(&c, id, ~0u, id, id);
  for (i = 0; i < 100000; i++) {
    craft_alloc(&c, id, i * 0x9e3779b97f4a7c15u, UINT64_MAX - i);
    craft_free(&c, id, i * 0xc2b2ae3d27d4eb4fu, UINT64_MAX / 2 + i);
    craft_realloc(&c, id, i, UINT64_MAX, 0 - i, 1);
  }
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_uint_eq(r.events, 300000);
  run_books(&r);
  run_text(&r, &run_plain);
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* The other kinds of streams are refused by name. */
START_TEST(test_kinds)
{
  static const struct {
    const char *s;
    size_t n;
    const char *what;
  } t[] = {
      {"", 0, "expected a recording, the file is empty"},
      {"lj", 2, "expected a recording, the file ends inside its first bytes"},
      {"\x1f\x8b\x08", 3,
       "expected a recording (ljs), this seems to be packed with gzip twice"},
      {"ljs\x04\0\0\0", 7, "expected version 1, 2, 3 or 16, found 4"},
      {"ljs\x10\0\0\0\1\x80ljp\x11\0\0\0", 16,
       "expected the prologue of the samples, ljp 0x10"},
      {"ljs\x10\0\0\0\1\x80ljd\x10\0\0\0", 16,
       "expected a recording, found another heap dump (ljd): two are compared "
       "by --diff=OLD NEW"},
      {"ljs\x03\0\0\0\x80ljp\x02\0\0\0", 15,
       "expected a memory profile (ljm), found a CPU profile (ljp)"},
      {"ljs\x02\0\0\0\x80ljm\x04\0\0\0", 15,
       "expected the prologue of the events (ljm 1, 2 or 3)"},
      {"ljs\x10\0\0\0\1\x80ljm\x03\0\0\0", 16,
       "expected the prologue of the events, ljm 0x10"},
  };
  size_t i;
  for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
    Run r = run_memory(t[i].s, t[i].n);
    ck_assert_str_eq(r.st.damage.what, t[i].what);
    ck_assert_int_eq(r.status, LP_UNREADABLE);
    run_close(&r);
  }
}
END_TEST

Suite *suite_damage(void)
{
  const TTest *tests[] = {test_contents,
                          test_books,
                          test_contradictions,
                          test_beginnings,
                          test_values,
                          test_kinds,
                          NULL};
  return suite_of("damage", tests);
}

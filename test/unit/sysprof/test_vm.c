/*
** The layout of a VM by its machine code: against LuaJIT's own headers for the
** build here, and of files that have no VM.
*/

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "open.h"
#include "live.h"
#include "suites.h"
#include "vmcode.h"
#include "vmlayout.h"
#include "x86.h"

/* -- Against the headers -------------------------------------------------- */

/* One field of a layout as found. */
typedef struct Field {
  const char *name;
  int value;
} Field;

#define F(field)                                                               \
  {                                                                            \
#field, vm->field                                                          \
  }
#define L(field)                                                               \
  {                                                                            \
#field, ls_vm_layout(vm)->field                                            \
  }

#define NFIELDS 70

/* All fields. */
static void fields(const struct ljs_vm *vm, Field out[NFIELDS])
{
  const Field field[NFIELDS] = {
      F(gc64),         F(jit),        F(frame),        F(jit_frame),
      F(save_l),       F(save_pc),    F(save_nres),    F(save_cframe),
      F(bp),           F(bx),         F(g2disp),       F(vmstate),
      F(jit_base),     F(cur_l),      F(trace),        F(l_glref),
      F(l_base),       F(l_top),      F(l_maxstack),   F(l_stack),
      F(l_cframe),     F(l_env),      F(fn_ffid),      F(fn_pc),
      F(fn_f),         F(pt_size),    F(pt_sizebc),    F(pt_chunkname),
      F(pt_firstline), F(pt_numline), F(pt_lineinfo),  F(pt_k),
      F(pt_sizekgc),   F(pt_uvinfo),  F(pt_varinfo),   F(pt_flags),
      F(t_nins),       F(t_nsnap),    F(t_ir),         F(t_nk),
      F(t_nsnapmap),   F(t_snap),     F(t_snapmap),    F(t_startpt),
      F(t_startpc),    F(t_startins), F(t_szmcode),    F(t_mcode),
      F(t_spadjust),   F(t_traceno),  F(t_link),       F(t_root),
      L(ref),          L(marked),     L(pt_numparams), L(pt_framesize),
      L(pt_sizekn),    L(pt_sizept),  L(pt_sizeuv),    L(tab_node),
      L(tab_hmask),    L(node),       L(t_mcloop),     F(irform),
      F(library[0]),   F(library[1]), F(library[2]),   F(library[3]),
      F(library[4]),   F(library[5]),
  };
  memcpy(out, field, sizeof(field));
}

/* The value of a field by its name. */
static int field_value(const struct ljs_vm *vm, const char *name)
{
  Field field[NFIELDS];
  size_t i;
  fields(vm, field);
  for (i = 0; i < NFIELDS; i++)
    if (strcmp(field[i].name, name) == 0)
      return field[i].value;
  ck_abort_msg("no field %s", name);
}

/* A module that is built here. */
static void check_built(const char *path)
{
  struct ljs_vm vm;
  char name[64], *number;
  int n = 0;
  FILE *f = popen(LAYOUT, "r");
  ck_assert_ptr_nonnull(f);
  live_layout(path, &vm);
  ck_assert_uint_gt(vm.lo, 0);
  ck_assert_uint_gt(vm.hi, vm.lo);
  while (fgets(name, sizeof(name), f)) {
    int found, value;
    number = strchr(name, ' ');
    ck_assert_ptr_nonnull(number);
    *number++ = '\0';
    value = (int)strtol(number, NULL, 10);
    found = field_value(&vm, name);
    ck_assert_msg(found == value, "%s: %s is %d, not %d", path, name, found,
                  value);
    n++;
  }
  ck_assert_int_eq(pclose(f), 0);
  ck_assert_int_eq(n, NFIELDS);
}

START_TEST(built_static)
{
  check_built(LUAJIT);
}
END_TEST

START_TEST(built_shared)
{
  check_built(LUAJIT_SO);
}
END_TEST

/* -- Other files ---------------------------------------------------------- */

/* Files without LuaJIT; the first two are on every machine. */
START_TEST(none)
{
  static const char *const files[] = {
      "/bin/ls",
      "/lib*/x86_64-linux-gnu/libc.so.6",
      "/usr/bin/bash",
      "/usr/bin/cmake",
      "/usr/bin/python3",
      "/usr/bin/perl",
      "/usr/sbin/nginx",
      "/usr/lib*/x86_64-linux-gnu/libcrypto.so.3",
      "/usr/lib*/x86_64-linux-gnu/libstdc++.so.6",
  };
  size_t i, seen = 0;
  for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
    glob_t g;
    if (glob(files[i], 0, NULL, &g) == 0) {
      struct ljs_vm vm;
      char why[LS_WHY];
      int found = open_vm(g.gl_pathv[0], &vm, why);
      ck_assert_msg(found == 0 && !*why, "%s: %d %s", g.gl_pathv[0], found,
                    why);
      seen++;
    }
    globfree(&g);
  }
  ck_assert_uint_ge(seen, 2);
}
END_TEST

/* -- Instructions ---------------------------------------------------------- */

/* Instructions with a VEX prefix, and what they are by objdump: their length, 0
** for what is not known, and their registers.
*/
START_TEST(vex)
{
  static const struct {
    const char *bytes;
    uint8_t n, len, reg, rm, base;
  } ins[] = {
      {"\xc4\xe3\xfb\xf0\x6a\x08\x2f", 7, 7, LS_RBP, LS_NREG, 2},  /* rorx */
      {"\xc4\x62\xf1\xf7\xdb", 5, 5, 11, LS_RBX, LS_NREG},         /* shlx */
      {"\xc4\xc2\x72\xf7\x44\x24\x10", 7, 7, LS_RAX, LS_NREG, 12}, /* sarx */
      {"\xc5\xf8\x77", 3, 3, LS_RDI, LS_NREG, LS_NREG}, /* vzeroupper */
      {"\xc5\x7e\x6f\x06", 4, 4, 8, LS_NREG, LS_RSI},   /* vmovdqu */
      {"\xc5\xf9\x70\xc1\x01", 5, 5, 0, 1, LS_NREG},    /* vpshufd */
      {"\xc4\xe0\xfb\xf0\x6a\x08\x2f", 7, 0, 0, 0, 0},  /* No such opcodes. */
      {"\x62\xf1\x7c\x48\x10\x06", 6, 0, 0, 0, 0},      /* EVEX */
  };
  size_t i, n;
  for (i = 0; i < sizeof(ins) / sizeof(ins[0]); i++) {
    LsX86 x;
    bool known = ls_x86_decode((const uint8_t *)ins[i].bytes, ins[i].n, &x);
    ck_assert_int_eq(known, ins[i].len > 0);
    if (!known)
      continue;
    ck_assert_uint_eq(x.len, ins[i].len);
    if (ins[i].len > 3) {
      ck_assert_uint_eq(x.reg, ins[i].reg);
      ck_assert_uint_eq(x.rm, ins[i].rm);
      ck_assert_uint_eq(x.base, ins[i].base);
    }
    for (n = 0; n < ins[i].len; n++) /* Cut. */
      ck_assert(!ls_x86_decode((const uint8_t *)ins[i].bytes, n, &x));
  }
}
END_TEST

/* -- Code that was changed ------------------------------------------------ */

/* Whether two layouts say the same. */
static int same_layout(const struct ljs_vm *a, const struct ljs_vm *b)
{
  Field field[2][NFIELDS];
  size_t i;
  int same = a->lo == b->lo && a->hi == b->hi;
  fields(a, field[0]);
  fields(b, field[1]);
  for (i = 0; i < NFIELDS; i++)
    same = same && field[0][i].value == field[1][i].value;
  return same;
}

/* The interpreter's code and frame. The file stays open. */
static LsVmCode built_code(LsElf **e, struct ljs_vm *vm)
{
  int fd = open(LUAJIT, O_RDONLY | O_CLOEXEC);
  LsVmCode c;
  live_layout(LUAJIT, vm);
  vm->irform = 0; /* That is in the file, but not in the code. */
  memset(vm->library, 0, sizeof(vm->library));
  *e = ls_elf_open(fd);
  ck_assert_ptr_nonnull(*e);
  close(fd);
  c = (LsVmCode){.n = vm->hi - vm->lo,
                 .lo = vm->lo,
                 .frame = vm->frame,
                 .bp = vm->bp,
                 .bx = vm->bx};
  c.code = ls_elf_bytes(*e, vm->lo, c.n);
  ck_assert_ptr_nonnull(c.code);
  return c;
}

/* A frame that the unwind table does not have is not believed. */
START_TEST(otherframe)
{
  struct ljs_vm vm;
  LsElf *e;
  LsVmCode c = built_code(&e, &vm);
  char why[LS_WHY];
  c.frame += 16;
  ck_assert_int_eq(ls_vm_scan(&c, &vm, why), -1);
  ck_assert_ptr_nonnull(strstr(why, "C frame"));
  ls_elf_close(e);
}
END_TEST

/* Code in which one byte is different gives the same layout, or none: never
** another one. Every place at which a change was noticed counts.
*/
START_TEST(changed)
{
  struct ljs_vm vm, found;
  LsElf *e;
  LsVmCode c = built_code(&e, &vm);
  uint8_t *code = malloc(c.n);
  unsigned noticed = 0, tried = 0;
  char why[LS_WHY];
  size_t i;
  ck_assert_ptr_nonnull(code);
  memcpy(code, c.code, c.n);
  c.code = code;
  for (i = 0; i < c.n; i += 7, tried++) {
    int r;
    code[i] ^= 0x24;
    r = ls_vm_scan(&c, &found, why);
    if (r == 1)
      ck_assert_msg(same_layout(&found, &vm), "byte %zu makes another layout",
                    i);
    else
      noticed++;
    code[i] ^= 0x24;
  }
  ck_assert_uint_gt(noticed, tried / 200);
  ck_assert_int_eq(ls_vm_scan(&c, &found, why), 1);
  free(code);
  ls_elf_close(e);
}
END_TEST

/* Looks for a VM in an image of the program, with its real table. */
static int find_in(const uint8_t *image, size_t n, char why[LS_WHY])
{
  struct ljs_vm found;
  LsRows rows;
  LsElf *e = ls_elf_memory(image, n), *real = open_rows(LUAJIT, &rows);
  int r;
  ck_assert_ptr_nonnull(e);
  r = ls_vm_find(e, &rows, &found, why);
  ls_rows_free(&rows);
  ls_elf_close(real);
  ls_elf_close(e);
  return r;
}

/* What is not known is called LuaJIT 2.0 if it says that it is. */
START_TEST(old)
{
  static const char version[] = "LuaJIT 2.1.";
  struct ljs_vm vm, found;
  LsElf *e;
  LsVmCode c = built_code(&e, &vm);
  char why[LS_WHY];
  size_t n, i = 0;
  uint8_t *image = open_bytes(LUAJIT, &n), *code, *p;
  unsigned versions = 0;
  code = memmem(image, n, c.code, c.n);
  ck_assert_ptr_nonnull(code);
  c.code = code;
  for (code[i] ^= 0x24; ls_vm_scan(&c, &found, why) == 1; code[i] ^= 0x24) {
    code[i] ^= 0x24;
    ck_assert_uint_lt(++i, c.n);
  }
  ck_assert_int_eq(find_in(image, n, why), -1);
  ck_assert_str_ne(why, LS_WHY_OLD);
  while ((p = memmem(image, n, version, sizeof(version) - 1)) != NULL) {
    p[9] = '0';
    versions++;
  }
  ck_assert_uint_gt(versions, 0);
  ck_assert_int_eq(find_in(image, n, why), -1);
  ck_assert_str_eq(why, LS_WHY_OLD);
  free(image);
  ls_elf_close(e);
}
END_TEST

/* Code that is cut short gives no other layout, and does no harm. */
START_TEST(cut)
{
  struct ljs_vm vm, found;
  LsElf *e;
  LsVmCode c = built_code(&e, &vm);
  char why[LS_WHY];
  size_t whole = c.n;
  for (c.n = 0; c.n < whole; c.n += 333) {
    uint8_t *code = malloc(c.n ? c.n : 1); /* For what watches memory. */
    LsVmCode d = c;
    ck_assert_ptr_nonnull(code);
    memcpy(code, c.code, c.n);
    d.code = code;
    if (ls_vm_scan(&d, &found, why) == 1) {
      ck_assert_uint_gt(d.n, whole / 2);
      found.hi = vm.hi;
      ck_assert(same_layout(&found, &vm));
    }
    free(code);
  }
  ls_elf_close(e);
}
END_TEST

Suite *suite_vm(void)
{
  const TTest *tests[] = {built_static, built_shared, none, vex, otherframe,
                          changed,      old,          cut,  NULL};
  return suite_of("vm", tests);
}

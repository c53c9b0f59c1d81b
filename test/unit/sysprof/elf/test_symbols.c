/*
** Names of functions: which one of many, and the same as readelf has.
*/

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "open.h"
#include "suites.h"
#include "symbols.h"

/* The name at an address behind the sample's code's begin; "" if none. */
static const char *name_at(LsElf *e, const LsRows *t, uint64_t addr)
{
  const char *name;
  uint64_t start, size, at = t->range[0].lo + addr;
  if (ls_symbols_find(e, at, &name, &start, &size) != 0)
    return "";
  ck_assert_uint_le(start, at);
  ck_assert_uint_lt(at - start, size);
  return name;
}

/* What all tables of the sample have: global before weak before local names,
** fewer underscores, no data, nothing before or behind.
*/
static void check_common(LsElf *e, const LsRows *t)
{
  const char *name;
  uint64_t start, size;
  ck_assert_str_eq(name_at(e, t, 0), "plain");
  ck_assert_str_eq(name_at(e, t, 4), "plain");
  ck_assert_str_eq(name_at(e, t, 8), "plain");
  ck_assert_str_eq(name_at(e, t, 9), "");
  ck_assert_str_eq(name_at(e, t, 63), "");
  ck_assert_str_eq(name_at(e, t, 64), "many_weak");
  ck_assert_str_eq(name_at(e, t, 65), "many_weak");
  ck_assert_str_eq(name_at(e, t, 67), "many_weak");
  ck_assert_str_eq(name_at(e, t, 68), "many_weak");
  ck_assert_str_eq(name_at(e, t, 69), "");
  ck_assert_str_eq(name_at(e, t, 128), "labels");
  ck_assert_str_eq(name_at(e, t, 129), "labels");
  ck_assert_str_eq(name_at(e, t, 131), "");
  ck_assert_str_eq(name_at(e, t, (uint64_t)-1), "");
  ck_assert_int_eq(ls_symbols_find(e, t->range[0].lo + 3, &name, &start, &size),
                   0);
  ck_assert_uint_eq(start, t->range[0].lo);
  ck_assert_uint_eq(size, 9);
  ck_assert_int_eq(ls_symbols_find(e, 0, &name, &start, &size), -1);
  ck_assert_int_eq(ls_symbols_find(e, UINT64_MAX, &name, &start, &size), -1);
}

/* What .symtab has on top: local names. */
static void check_full(LsElf *e, const LsRows *t)
{
  check_common(e, t);
  ck_assert_str_eq(name_at(e, t, 66), "inner");
  ck_assert_str_eq(name_at(e, t, 130), "next_label");
}

START_TEST(test_symtab)
{
  LsRows t;
  LsElf *e = open_rows(SAMPLE_EH, &t);
  check_full(e, &t);
  ls_rows_free(&t);
  ls_elf_close(e);
}
END_TEST

/* Without .symtab, and with a debug file that has it. */
START_TEST(test_stripped)
{
  LsRows t;
  char *to = open_changed(SAMPLE_EH, "stripped", "strip -o \"$to\" \"$from\"");
  LsElf *e = open_rows(to, &t);
  char *debug = open_changed(
      SAMPLE_EH, "debug",
      "id=$(readelf -n \"$from\" | sed -n 's/^ *Build ID: \\(..\\)/\\1\\//p') &&"
      "mkdir -p \"$to/${id%/*}\" &&"
      "objcopy --only-keep-debug \"$from\" \"$to/$id.debug\"");
  ls_symbols_debug = SCRATCH;
  check_common(e, &t);
  ck_assert_str_eq(name_at(e, &t, 66), "many_weak");
  ck_assert_str_eq(name_at(e, &t, 130), "labels");
  ls_elf_close(e);
  e = open_elf(to);
  ls_symbols_debug = debug;
  check_full(e, &t);
  ls_rows_free(&t);
  ls_elf_close(e);
  free(debug);
  free(to);
}
END_TEST

/* A debug file of another build is none. */
START_TEST(test_other_debug)
{
  LsRows t;
  char *to = open_changed(SAMPLE_EH, "stripped2", "strip -o \"$to\" \"$from\"");
  LsElf *e = open_rows(to, &t);
  ls_symbols_debug = open_changed(
      SAMPLE_EH, "debug2",
      "id=$(readelf -n \"$from\" | sed -n 's/^ *Build ID: \\(..\\)/\\1\\//p') &&"
      "mkdir -p \"$to/${id%/*}\" && cp " SAMPLE_DEBUG " \"$to/$id.debug\"");
  ck_assert_str_eq(name_at(e, &t, 66), "many_weak");
  free((char *)ls_symbols_debug);
  ls_rows_free(&t);
  ls_elf_close(e);
  free(to);
}
END_TEST

/* The name at an address, in a file that is stripped and has a link to another
** one without a build-id, in DIR, which CHANGE changes.
*/
static void check_link(const char *dir, const char *change, const char *want)
{
  char *command, *to, *bare;
  LsRows t;
  LsElf *e;
  bare = open_changed(SAMPLE_EH, "linked.so", "cp \"$from\" \"$to\"");
  ck_assert_int_gt(
      asprintf(
          &command,
          "d=\"${to%%/*}%s\"; mkdir -p \"$d\" && rm -f \"$d/linked.debug\" && "
          "objcopy --only-keep-debug -R .note.gnu.build-id \"$from\" "
          "\"$d/linked.debug\" && "
          "strip \"$from\" && (cd \"$d\" && objcopy "
          "--add-gnu-debuglink=linked.debug \"$from\") && "
          "(cd \"$d\" && %s)",
          dir, change),
      0);
  to = open_changed(bare, "linked.done", command);
  e = open_rows(bare, &t);
  ls_elf_place(e, "", bare);
  ck_assert_str_eq(name_at(e, &t, 66), want);
  ls_rows_free(&t);
  ls_elf_close(e);
  free(command);
  free(bare);
  free(to);
}

/* A link leads to a file beside it, or in .debug, if the checksum is right; and
** if it is a file.
*/
START_TEST(test_link)
{
  check_link("", "true", "inner");
  check_link("", "echo >> linked.debug", "many_weak");
  check_link("", "rm linked.debug && mkfifo linked.debug", "many_weak");
  check_link("", "rm -f linked.debug", "many_weak");
  check_link("/.debug", "true", "inner");
  check_link("/.debug", "rm linked.debug", "many_weak");
}
END_TEST

#ifdef LS_LZMA
/* Symbols that are packed in the file are besides those of .dynsym. */
START_TEST(test_packed)
{
  char *to = open_changed(
      SAMPLE_EH, "packed",
      "objcopy --only-keep-debug \"$from\" \"$to.d\" && xz -kf \"$to.d\" && "
      "strip -o \"$to\" \"$from\" && objcopy --add-section "
      ".gnu_debugdata=\"$to.d.xz\" \"$to\"");
  LsRows t;
  LsElf *e = open_rows(to, &t);
  ls_symbols_debug = SCRATCH;
  check_full(e, &t);
  ls_rows_free(&t);
  ls_elf_close(e);
  free(to);
  to = open_changed(SAMPLE_EH, "packed",
                    "head -c 300 \"$to.d.xz\" > \"$to.d\" && "
                    "strip -o \"$to\" \"$from\" && objcopy --add-section "
                    ".gnu_debugdata=\"$to.d\" \"$to\"");
  e = open_rows(to, &t);
  check_common(e, &t);
  ck_assert_str_eq(name_at(e, &t, 66), "many_weak");
  ls_rows_free(&t);
  ls_elf_close(e);
  free(to);
}
END_TEST
#endif

/* Names without an end are no names: other tables are looked at. */
START_TEST(test_endless)
{
  size_t n, i;
  uint8_t *p = open_bytes(SAMPLE_EH, &n);
  const Elf64_Ehdr *eh = (const Elf64_Ehdr *)p;
  const Elf64_Shdr *sh = (const Elf64_Shdr *)(p + eh->e_shoff);
  LsRows t;
  LsElf *e;
  for (i = 0; i < eh->e_shnum; i++)
    if (sh[i].sh_type == SHT_SYMTAB) {
      const Elf64_Shdr *names = &sh[sh[i].sh_link];
      memset(p + names->sh_offset + 1, 'x', names->sh_size - 1);
    }
  e = ls_elf_memory(p, n);
  ck_assert_int_eq(ls_rows_build(e, &t), 0);
  check_common(e, &t);
  ck_assert_str_eq(name_at(e, &t, 66), "many_weak");
  ls_rows_free(&t);
  ls_elf_close(e);
  free(p);
}
END_TEST

/* A function as readelf has it. */
typedef struct Function {
  uint64_t addr, size;
  char name[256];
} Function;

/* By address. */
static int by_address(const void *pa, const void *pb)
{
  const Function *a = pa, *b = pb;
  return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* All sized functions that readelf tells of, with WHAT. */
static Function *functions(const char *path, const char *what, size_t *n)
{
  char cmd[4096], line[4096], type[16], ndx[16];
  Function *f = NULL, now;
  size_t cap = 0;
  FILE *p;
  snprintf(cmd, sizeof(cmd), "LC_ALL=C readelf -W %s '%s'", what, path);
  p = popen(cmd, "r");
  for (*n = 0; fgets(line, sizeof(line), p);) {
    if (sscanf(line,
               "%*u: %" SCNx64 " %" SCNu64 " %15s %*s %*s %15s %255[^@ \n]",
               &now.addr, &now.size, type, ndx, now.name) != 5 ||
        (strcmp(type, "FUNC") != 0 && strcmp(type, "IFUNC") != 0) ||
        strcmp(ndx, "UND") == 0 || !now.size)
      continue;
    if (*n == cap)
      f = reallocarray(f, cap = cap * 2 + 64, sizeof(*f));
    f[(*n)++] = now;
  }
  ck_assert_int_eq(pclose(p), 0);
  ck_assert_ptr_nonnull(f);
  qsort(f, *n, sizeof(*f), by_address);
  return f;
}

/* At the begin and in the middle of each function there is one of the names
** that readelf has for it; or in the middle, one that begins later.
*/
static void check_functions(const char *path, const char *what)
{
  LsElf *e = open_elf(path);
  size_t n, i, k;
  Function *f = functions(path, what, &n);
  ck_assert_uint_gt(n, 100);
  for (i = 0; i < n; i++) {
    const char *name;
    uint64_t start, size, mid = f[i].addr + f[i].size / 2;
    int found = 0;
    ck_assert_int_eq(ls_symbols_find(e, f[i].addr, &name, &start, &size), 0);
    ck_assert_uint_eq(start, f[i].addr);
    for (k = i; k < n && f[k].addr == start; k++)
      found |= strncmp(f[k].name, name, strlen(f[k].name)) == 0;
    for (k = i; k-- > 0 && f[k].addr == start;)
      found |= strncmp(f[k].name, name, strlen(f[k].name)) == 0;
    ck_assert_msg(found, "%s: %s at %" PRIx64, path, name, start);
    ck_assert_int_eq(ls_symbols_find(e, mid, &name, &start, &size), 0);
    ck_assert_uint_ge(start, f[i].addr);
  }
  free(f);
  ls_elf_close(e);
}

START_TEST(test_readelf_symtab)
{
  check_functions(LUAJIT, "-s");
}
END_TEST

START_TEST(test_readelf_dynsym)
{
  ls_symbols_debug = "/nonexistent";
  check_functions("/lib/x86_64-linux-gnu/libc.so.6", "--dyn-syms");
}
END_TEST

Suite *suite_symbols(void)
{
  const TTest *tests[] = {
      test_symtab,  test_stripped,       test_other_debug,
      test_endless, test_readelf_symtab, test_readelf_dynsym,
      test_link,
#ifdef LS_LZMA
      test_packed,
#endif
      NULL};
  return suite_of("symbols", tests);
}

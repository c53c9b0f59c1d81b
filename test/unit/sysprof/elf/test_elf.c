/*
** ELF files: whole ones, stripped ones, broken ones.
*/

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "open.h"
#include "suites.h"
#include "symbols.h"

/* The same rows. */
static void same_rows(const LsRows *a, const LsRows *b)
{
  ck_assert_uint_eq(a->n, b->n);
  ck_assert_uint_eq(a->nrange, b->nrange);
  ck_assert_int_eq(memcmp(a->row, b->row, a->n * sizeof(*a->row)), 0);
  ck_assert_int_eq(memcmp(a->range, b->range, a->nrange * sizeof(*a->range)),
                   0);
}

/* Bytes of segments, and where they are mapped. */
START_TEST(test_segments)
{
  size_t n, i;
  uint8_t *p = open_bytes(LUAJIT, &n);
  const Elf64_Ehdr *eh = (const Elf64_Ehdr *)p;
  const Elf64_Phdr *ph = (const Elf64_Phdr *)(p + eh->e_phoff);
  LsElf *e = open_elf(LUAJIT);
  uint64_t addr;
  size_t rest;
  for (i = 0; i < eh->e_phnum; i++) {
    const Elf64_Phdr *h = &ph[i];
    uint64_t end = h->p_vaddr + h->p_filesz;
    if (h->p_type != PT_LOAD)
      continue;
    ck_assert_int_eq(memcmp(ls_elf_bytes(e, h->p_vaddr, h->p_filesz),
                            p + h->p_offset, h->p_filesz),
                     0);
    ck_assert_ptr_null(ls_elf_bytes(e, h->p_vaddr, h->p_filesz + 1));
    ck_assert_ptr_null(ls_elf_bytes(e, end - 1, SIZE_MAX));
    ck_assert_ptr_nonnull(ls_elf_rest(e, end - 1, &rest));
    ck_assert_uint_eq(rest, 1);
    if (!(h->p_flags & PF_X))
      continue;
    ck_assert_int_eq(ls_elf_vaddr(e, h->p_offset, &addr), 0);
    ck_assert_uint_eq(addr, h->p_vaddr);
    ck_assert_int_eq(ls_elf_vaddr(e, (h->p_offset & ~4095ull) + 8192, &addr),
                     0);
    ck_assert_uint_eq(addr, (h->p_vaddr & ~4095ull) + 8192);
    ck_assert(ls_elf_exec(e, h->p_vaddr, h->p_vaddr + h->p_memsz));
    ck_assert(!ls_elf_exec(e, h->p_vaddr, h->p_vaddr + h->p_memsz + 1));
    ck_assert(!ls_elf_exec(e, h->p_vaddr - 1, h->p_vaddr + 1));
  }
  ck_assert_int_eq(ls_elf_vaddr(e, n + 4096, &addr), -1);
  ls_elf_close(e);
  free(p);
}
END_TEST

/* Segments that share a page: the mapping of code has that page, too. */
START_TEST(test_shared_page)
{
  struct {
    Elf64_Ehdr eh;
    Elf64_Phdr ph[2];
  } file = {.ph = {{.p_type = PT_LOAD,
                    .p_flags = PF_R,
                    .p_filesz = 0x1234,
                    .p_memsz = 0x1234},
                   {.p_type = PT_LOAD,
                    .p_flags = PF_R | PF_X,
                    .p_offset = 0x1234,
                    .p_vaddr = 0x2234,
                    .p_filesz = 0x1000,
                    .p_memsz = 0x1000}}};
  size_t n;
  uint8_t *p = open_bytes(SAMPLE_EH, &n);
  uint64_t addr;
  LsElf *e;
  memcpy(&file.eh, p, sizeof(file.eh));
  file.eh.e_phoff = offsetof(typeof(file), ph);
  file.eh.e_phnum = 2;
  file.eh.e_shoff = file.eh.e_shnum = file.eh.e_shstrndx = 0;
  e = ls_elf_memory(&file, sizeof(file));
  ck_assert_int_eq(ls_elf_vaddr(e, 0x1000, &addr), 0);
  ck_assert_uint_eq(addr, 0x2000);
  ck_assert_int_eq(ls_elf_vaddr(e, 0xfff, &addr), 0);
  ck_assert_uint_eq(addr, 0xfff);
  ck_assert_int_eq(ls_elf_vaddr(e, 0x2233, &addr), 0);
  ck_assert_uint_eq(addr, 0x3233);
  ck_assert_int_eq(ls_elf_vaddr(e, 0x2234, &addr), -1);
  ls_elf_close(e);
  file.ph[1].p_flags = PF_R;
  e = ls_elf_memory(&file, sizeof(file));
  ck_assert_int_eq(ls_elf_vaddr(e, 0x1000, &addr), 0);
  ck_assert_uint_eq(addr, 0x1000);
  ck_assert_ptr_null(ls_elf_bytes(e, 0x2234, 1)); /* Not in the file. */
  ls_elf_close(e);
  free(p);
}
END_TEST

/* The build-id, as readelf tells it. */
START_TEST(test_buildid)
{
  LsElf *e = open_elf(SAMPLE_EH);
  uint8_t id[64];
  char want[129] = "", have[129];
  size_t n = ls_elf_buildid(e, id), i;
  FILE *f = popen(
      "LC_ALL=C readelf -n " SAMPLE_EH " | sed -n 's/^ *Build ID: //p'", "r");
  ck_assert_int_eq(fscanf(f, "%128s", want), 1);
  pclose(f);
  for (i = 0; i < n; i++)
    sprintf(have + 2 * i, "%02x", id[i]);
  ck_assert_str_eq(have, want);
  ls_elf_close(e);
}
END_TEST

/* Without sections there is the same call frame information. */
START_TEST(test_no_sections)
{
  static const char *const files[] = {"/bin/ls", LUAJIT};
  size_t i, n;
  for (i = 0; i < 2; i++) {
    uint8_t *p = open_bytes(files[i], &n);
    Elf64_Ehdr *eh = (Elf64_Ehdr *)p;
    LsRows a, b;
    LsElf *e = open_rows(files[i], &a), *e2;
    memset(p + eh->e_shoff, 0xff, n - eh->e_shoff);
    eh->e_shoff = eh->e_shnum = eh->e_shstrndx = 0;
    e2 = ls_elf_memory(p, n);
    memset(p, 0, n); /* It has its own. */
    free(p);
    ck_assert_int_eq(ls_rows_build(e2, &b), 0);
    ck_assert_uint_gt(a.n, 1000);
    same_rows(&a, &b);
    ls_rows_free(&a);
    ls_rows_free(&b);
    ls_elf_close(e);
    ls_elf_close(e2);
  }
}
END_TEST

/* What is no ELF file for x86-64 is told apart. */
START_TEST(test_not)
{
  size_t n, i;
  uint8_t *p = open_bytes(SAMPLE_EH, &n);
  static const size_t at[] = {0, 3, EI_CLASS, EI_DATA, 18};
  int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
  ck_assert_ptr_null(ls_elf_open(fd));
  ck_assert_int_eq(errno, ENOEXEC);
  close(fd);
  ck_assert_ptr_null(ls_elf_open(-1));
  ck_assert_int_eq(errno, EBADF);
  ck_assert_ptr_null(ls_elf_memory("", 0));
  ck_assert_int_eq(errno, ENOEXEC);
  for (i = 0; i < sizeof(at) / sizeof(*at); i++) {
    p[at[i]] ^= 3;
    ck_assert_ptr_null(ls_elf_memory(p, n));
    ck_assert_int_eq(errno, ENOEXEC);
    p[at[i]] ^= 3;
  }
  free(p);
}
END_TEST

/* Look at all that a file seems to have. */
static void use(const uint8_t *p, size_t n)
{
  LsElf *e = ls_elf_memory(p, n);
  LsRows t;
  uint8_t id[64];
  const char *name;
  uint64_t start, size;
  if (!e)
    return;
  if (ls_rows_build(e, &t) == 0)
    ls_rows_free(&t);
  ck_assert_uint_le(ls_elf_buildid(e, id), 64);
  if (ls_symbols_find(e, 0x1000, &name, &start, &size) == 0)
    ck_assert(size > 0 && strlen(name) > 0);
  ls_elf_close(e);
}

/* A file that is cut short anywhere. */
START_TEST(test_cut)
{
  size_t n, i;
  uint8_t *p = open_bytes(SAMPLE_EH, &n);
  for (i = 0; i < n; i += i < 2048 ? 1 : 37)
    use(p, i);
  free(p);
}
END_TEST

/* Any byte may be anything. */
START_TEST(test_spoilt)
{
  static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
  size_t n, i, k;
  uint8_t *p = open_bytes(SAMPLE_EH, &n);
  for (i = 0; i < n; i++)
    for (k = 0; k < sizeof(values); k++) {
      uint8_t was = p[i];
      p[i] = values[k];
      if (was != values[k])
        use(p, n);
      p[i] = was;
    }
  free(p);
}
END_TEST

/* A file that is cut while it is open. */
START_TEST(test_truncated)
{
  char *to = open_changed(LUAJIT, "truncated", "cp \"$from\" \"$to\"");
  LsElf *e = open_elf(to);
  LsRows t;
  ck_assert_int_eq(truncate(to, 4096), 0);
  ck_assert_int_eq(ls_rows_build(e, &t), 0);
  ck_assert_uint_eq(t.n, 0);
  ck_assert_ptr_null(ls_elf_bytes(e, 0x8000, 16));
  ls_rows_free(&t);
  ls_elf_close(e);
  unlink(to);
  free(to);
}
END_TEST

#define LARGE (40u << 20) /* Bytes of a segment that is read by blocks. */

/* Parts of a large segment, within a block and across two. */
START_TEST(test_large)
{
  static const uint64_t at[] = {0x2000, (8u << 20) - 2000, 9u << 20,
                                (16u << 20) - 1, LARGE - 4000};
  Elf64_Ehdr eh = {.e_ident = "\x7f"
                              "ELF\2\1\1",
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_phoff = sizeof(eh),
                   .e_ehsize = sizeof(eh),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 1};
  Elf64_Phdr ph = {.p_type = PT_LOAD,
                   .p_flags = PF_R | PF_X,
                   .p_filesz = LARGE,
                   .p_memsz = LARGE};
  uint8_t bytes[4000];
  FILE *f = tmpfile();
  LsElf *e;
  size_t i, k;
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fwrite(&eh, sizeof(eh), 1, f), 1);
  ck_assert_uint_eq(fwrite(&ph, sizeof(ph), 1, f), 1);
  ck_assert_int_eq(ftruncate(fileno(f), LARGE), 0);
  for (i = 0; i < 5; i++) {
    memset(bytes, (int)i + 1, sizeof(bytes));
    ck_assert_int_eq(fseek(f, (long)at[i], SEEK_SET), 0);
    ck_assert_uint_eq(fwrite(bytes, sizeof(bytes), 1, f), 1);
  }
  ck_assert_int_eq(fflush(f), 0);
  e = ls_elf_open(fileno(f));
  ck_assert_ptr_nonnull(e);
  for (k = 0; k <= 3000; k++)
    for (i = 0; i < 5; i++) {
      const uint8_t *p = ls_elf_bytes(e, at[i] + k, 1000);
      ck_assert_ptr_nonnull(p);
      ck_assert_uint_eq(p[0], i + 1);
      ck_assert_uint_eq(p[999], i + 1);
    }
  ck_assert_ptr_null(ls_elf_bytes(e, LARGE - 999, 1000));
  ck_assert_int_eq(ls_elf_over(e), 0);
  ls_elf_close(e);
  fclose(f);
}
END_TEST

Suite *suite_elf(void)
{
  const TTest *tests[] = {test_segments, test_shared_page,
                          test_buildid,  test_no_sections,
                          test_not,      test_cut,
                          test_spoilt,   test_truncated,
                          test_large,    NULL};
  return suite_of("elf", tests);
}

/*
** What belongs to others: their files, and what these may cost.
*/

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "budget.h"
#include "elf.h"
#include "file.h"
#include "suites.h"

static char root[] = "/tmp/ljs-foreign-XXXXXX";

/* The path of NAME in the folder of this test. */
static const char *at(const char *name)
{
  static char path[4][256];
  static unsigned turn;
  char *p = path[turn++ % 4];
  snprintf(p, sizeof(path[0]), "%s/%s", root, name);
  return p;
}

static void make(const char *name, const char *text)
{
  FILE *f = fopen(at(name), "w");
  ck_assert_ptr_nonnull(f);
  fputs(text, f);
  fclose(f);
}

/* Whether PATH in ROOT is opened, and has the text. */
static int opens(const char *path, const char *text)
{
  char got[16] = "";
  int fd = ls_file_open(root, path);
  ssize_t n;
  if (fd < 0)
    return 0;
  n = read(fd, got, sizeof(got) - 1);
  close(fd);
  return n >= 0 && strcmp(got, text) == 0;
}

/* Only regular files are opened, and none outside of the root. */
START_TEST(test_files)
{
  static const char *const names[] = {"in",  "back",  "fifo", "null",
                                      "out", "magic", NULL};
  int i;
  ck_assert_ptr_nonnull(mkdtemp(root));
  make("in", "inside");
  ck_assert_int_eq(mkfifo(at("fifo"), 0600), 0);
  ck_assert_int_eq(symlink("/dev/null", at("null")), 0);
  ck_assert_int_eq(symlink("/etc/passwd", at("out")), 0);
  ck_assert_int_eq(symlink("../../../../in", at("back")), 0);
  ck_assert_int_eq(symlink("/proc/self/exe", at("magic")), 0);
  ck_assert(opens("in", "inside"));
  ck_assert(opens("/in", "inside"));
  ck_assert(opens("../../in", "inside"));
  ck_assert(opens("back", "inside"));
  for (i = 2; names[i]; i++)
    ck_assert_int_lt(ls_file_open(root, names[i]), 0);
  ck_assert_int_lt(ls_file_open(root, "fifo"), 0);
  ck_assert_int_eq(errno, ENOEXEC);
  ck_assert_int_lt(ls_file_open("/", "/dev/null"), 0);
  ck_assert_int_lt(ls_file_reopen(at("fifo")), 0);
  for (i = 0; names[i]; i++)
    unlink(at(names[i]));
  ck_assert_int_eq(rmdir(root), 0);
}
END_TEST

/* A process has its share, and so has a user, however many processes there are;
** what is given back can be had again.
*/
START_TEST(test_budgets)
{
  static const LsCost small = {1, 1, 1, 1}, large = {16385, 0, 0, 0};
  LsBudget *b = ls_budget_open();
  LsOwner one = {100, 1000, 1}, other = {101, 1001, 1};
  unsigned n, all;
  ck_assert_ptr_nonnull(b);
  ck_assert_ptr_nonnull(ls_budget_exceeds(b, &one, &large));
  ck_assert_ptr_null(ls_budget_exceeds(b, NULL, &large));
  for (n = 0; n < 10000 && !ls_budget_refuse(b, &one, 1); n++)
    ls_budget_charge(b, &one, &small, 1);
  ck_assert_uint_eq(n, 512);
  ck_assert_ptr_null(ls_budget_refuse(b, &other, 1));
  ls_budget_return(b, &one, &small);
  ck_assert_ptr_null(ls_budget_refuse(b, &one, 1));
  for (all = n - 1; all < 10000; all++) {
    one.pid = 200 + (pid_t)all;
    if (ls_budget_refuse(b, &one, 1))
      break;
    ls_budget_charge(b, &one, &small, 1);
  }
  ck_assert_uint_eq(all, 2048);
  ck_assert_ptr_null(ls_budget_refuse(b, &other, 1));
  ck_assert_ptr_null(ls_budget_refuse(b, NULL, 1));
  ls_budget_close(b);
}
END_TEST

/* Reading takes CPU time, of which there is so much, and time to wait, of which
** there is more.
*/
START_TEST(test_time)
{
  static const LsCost slow = {.cpu = 2500000000, .ns = 2500000000}, none;
  static const LsCost waits = {.ns = 9000000000};
  LsBudget *b = ls_budget_open();
  LsOwner one = {100, 1000, 1}, again = {100, 1000, 2}, third = {102, 1000, 1};
  LsOwner loaded = {103, 1001, 1};
  ls_budget_charge(b, &one, &slow, 1);
  ck_assert_ptr_nonnull(ls_budget_refuse(b, &one, 1));
  ck_assert_ptr_null(ls_budget_refuse(b, &again, 1)); /* The pid was reused. */
  ls_budget_charge(b, &again, &slow, 1);
  ck_assert_ptr_nonnull(ls_budget_refuse(b, &third, 1)); /* The same user. */
  ls_budget_charge(b, NULL, &none, 1);
  ls_budget_charge(b, &loaded, &waits, 1);
  ck_assert_ptr_null(ls_budget_refuse(b, &loaded, 1));
  ls_budget_charge(b, &loaded, &waits, 1);
  ck_assert_ptr_nonnull(ls_budget_refuse(b, &loaded, 1));
  ls_budget_close(b);
}
END_TEST

/* A file whose size is a hole: its sections are not read. */
START_TEST(test_holes)
{
  char name[] = "/tmp/ljs-foreign-XXXXXX";
  int fd = mkstemp(name);
  Elf64_Ehdr eh = {.e_ident = ELFMAG "\2\1\1",
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_ehsize = sizeof(eh),
                   .e_shoff = 4096,
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 3,
                   .e_shstrndx = 2};
  Elf64_Shdr sh[3] = {
      {0},
      {.sh_type = SHT_SYMTAB, .sh_offset = 8192, .sh_size = LS_ELF_BUDGET + 1},
      {.sh_type = SHT_STRTAB, .sh_offset = 8192, .sh_size = LS_ELF_BUDGET}};
  LsSection s;
  LsElf *e;
  ck_assert_int_ge(fd, 0);
  unlink(name);
  ck_assert_int_eq(ftruncate(fd, (off_t)LS_ELF_BUDGET * 2), 0);
  ck_assert_int_eq(pwrite(fd, &eh, sizeof(eh), 0), sizeof(eh));
  ck_assert_int_eq(pwrite(fd, sh, sizeof(sh), 4096), sizeof(sh));
  e = ls_elf_open(fd);
  ck_assert_ptr_nonnull(e);
  ck_assert(!ls_elf_over(e));
  ck_assert_int_eq(ls_elf_load(e, 1, &s), -1);
  ck_assert(ls_elf_over(e));
  ls_elf_close(e);
  /* A million sections. */
  eh.e_shnum = 0;
  sh[0].sh_size = 1 << 20;
  ck_assert_int_eq(pwrite(fd, &eh, sizeof(eh), 0), sizeof(eh));
  ck_assert_int_eq(pwrite(fd, sh, sizeof(sh), 4096), sizeof(sh));
  ck_assert_ptr_null(ls_elf_open(fd));
  ck_assert_int_eq(errno, ENOEXEC);
  close(fd);
}
END_TEST

Suite *suite_foreign(void)
{
  const TTest *tests[] = {test_files, test_budgets, test_time, test_holes,
                          NULL};
  return suite_of("foreign", tests);
}

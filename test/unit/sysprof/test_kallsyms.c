/*
** Names of the kernel's functions.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kallsyms.h"
#include "suites.h"

/* Read a text as if it were /proc/kallsyms. */
static LsKallsyms *from(const char *text)
{
  char path[] = "/tmp/kallsyms-XXXXXX";
  int fd = mkstemp(path), error;
  LsKallsyms *k;
  ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  k = ls_kallsyms_open(path);
  error = errno;
  unlink(path);
  errno = error;
  return k;
}

START_TEST(test_find)
{
  LsKallsyms *k = from("0000000000000000 A fixed_percpu_data\n"
                       "ffffffff81000200 t second\n"
                       "ffffffff81000100 T _stext\n"
                       "ffffffff81000100 t first\n"
                       "ffffffff81000100 T __first\n"
                       "ffffffff81000300 D data\n"
                       "nonsense\n"
                       "ffffffff81000350\n"
                       "fffffffffffffffff T too_long\n"
                       "ffffffffc0000000 t third\t[mod]\n");
  ck_assert_ptr_nonnull(k);
  ck_assert_ptr_null(ls_kallsyms_find(k, 0));
  ck_assert_ptr_null(ls_kallsyms_find(k, 0xffffffff810000ff));
  ck_assert_str_eq(ls_kallsyms_find(k, 0xffffffff81000100), "first");
  ck_assert_str_eq(ls_kallsyms_find(k, 0xffffffff810001ff), "first");
  ck_assert_str_eq(ls_kallsyms_find(k, 0xffffffff81000200), "second");
  ck_assert_str_eq(ls_kallsyms_find(k, 0xffffffff810002ff), "second");
  ck_assert_ptr_null(ls_kallsyms_find(k, 0xffffffff81000300));
  ck_assert_ptr_null(ls_kallsyms_find(k, 0xffffffff81000400));
  ck_assert_str_eq(ls_kallsyms_find(k, 0xffffffffc0000010), "third [mod]");
  ls_kallsyms_close(k);
}
END_TEST

/* Addresses that are kept from us are not the same as none. */
START_TEST(test_hidden)
{
  ck_assert_ptr_null(from("0000000000000000 T _stext\n"
                          "0000000000000000 D data\n"));
  ck_assert_int_eq(errno, EPERM);
  ck_assert_ptr_null(from(""));
  ck_assert_int_eq(errno, ENODATA);
  ck_assert_ptr_null(from("ffffffff81000300 D data\n"));
  ck_assert_int_eq(errno, ENODATA);
  ck_assert_ptr_null(ls_kallsyms_open("/nonexistent"));
  ck_assert_int_eq(errno, ENOENT);
  ls_kallsyms_close(NULL);
}
END_TEST

/* This machine's: names where the file itself has them, if we may see them. */
START_TEST(test_machine)
{
  LsKallsyms *k = ls_kallsyms_open(NULL);
  FILE *f = fopen("/proc/kallsyms", "r");
  char line[1024], name[512], type;
  unsigned long addr;
  int found = 0;
  if (!k) {
    ck_assert_msg(geteuid() != 0 || errno == ENOENT, "%s", strerror(errno));
    return;
  }
  while (fgets(line, sizeof(line), f))
    if (sscanf(line, "%lx %c %511s", &addr, &type, name) == 3 &&
        strcmp(name, "do_syscall_64") == 0) {
      ck_assert_str_eq(ls_kallsyms_find(k, addr), name);
      ck_assert_str_eq(ls_kallsyms_find(k, addr + 3), name);
      found++;
    }
  ck_assert_int_gt(found, 0);
  fclose(f);
  ls_kallsyms_close(k);
}
END_TEST

Suite *suite_kallsyms(void)
{
  const TTest *tests[] = {test_find, test_hidden, test_machine, NULL};
  return suite_of("kallsyms", tests);
}

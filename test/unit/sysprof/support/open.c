/*
** Opening ELF files for tests; what fails ends the test.
*/

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "open.h"

LsElf *open_elf(const char *path)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  LsElf *e = fd < 0 ? NULL : ls_elf_open(fd);
  ck_assert_msg(e != NULL, "%s cannot be opened", path);
  close(fd);
  return e;
}

LsElf *open_rows(const char *path, LsRows *rows)
{
  LsElf *e = open_elf(path);
  ck_assert_int_eq(ls_rows_build(e, rows), 0);
  return e;
}

int open_vm(const char *path, struct ljs_vm *vm, char why[LS_WHY])
{
  LsRows rows;
  LsElf *e = open_rows(path, &rows);
  int found = ls_vm_find(e, &rows, vm, why);
  ls_rows_free(&rows);
  ls_elf_close(e);
  return found;
}

uint8_t *open_bytes(const char *path, size_t *n)
{
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  uint8_t *p;
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(fstat(fd, &st), 0);
  *n = (size_t)st.st_size;
  p = malloc(*n);
  ck_assert_ptr_nonnull(p);
  ck_assert_int_eq(read(fd, p, *n), st.st_size);
  close(fd);
  return p;
}

char *open_changed(const char *path, const char *name, const char *command)
{
  char *to, *run;
  ck_assert_int_gt(asprintf(&to, "%s/%s", SCRATCH, name), 0);
  ck_assert_int_gt(asprintf(&run, "from='%s' to='%s'; %s", path, to, command),
                   0);
  ck_assert_int_eq(system(run), 0);
  free(run);
  return to;
}

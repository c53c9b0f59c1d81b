/*
** Mappings of processes: this one, one whose file is gone, one that is not.
*/

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "maps.h"
#include "open.h"
#include "suites.h"
#include "symbols.h"

/* The mapping that has an address, or NULL. */
static const LsMapping *mapping_of(const LsMapping *m, size_t n, const void *p)
{
  size_t i;
  for (i = 0; i < n; i++)
    if (m[i].start <= (uintptr_t)p && (uintptr_t)p < m[i].end)
      return &m[i];
  return NULL;
}

/* The file of our own mapping M, or NULL. */
static LsElf *mapped_elf(const LsMapping *m)
{
  int fd = ls_maps_open(getpid(), m);
  LsElf *e = fd < 0 ? NULL : ls_elf_open(fd);
  if (fd >= 0)
    close(fd);
  return e;
}

/* The bias that a mapping's file tells is the dynamic linker's. */
static int check_module(struct dl_phdr_info *info, size_t size, void *arg)
{
  const char *name = info->dlpi_name;
  LsMapping *m;
  size_t n;
  int i;
  (void)size;
  ck_assert_int_eq(ls_maps_read(getpid(), &m, &n), 0);
  for (i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
    uintptr_t code = info->dlpi_addr + ph->p_vaddr;
    const LsMapping *is = mapping_of(m, n, (void *)code);
    uint64_t addr;
    LsElf *e;
    if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
      continue;
    ck_assert_msg(is != NULL, "%s is not mapped", name);
    ck_assert(is->exec && !is->anon);
    e = mapped_elf(is);
    ck_assert_msg(e != NULL, "%s: %s", is->path, strerror(errno));
    ck_assert_int_eq(ls_elf_vaddr(e, is->offset, &addr), 0);
    ck_assert_uint_eq(is->start - addr, info->dlpi_addr);
    ck_assert_int_eq(memcmp(ls_elf_bytes(e, ph->p_vaddr, 64), (void *)code, 64),
                     0);
    ls_elf_close(e);
    ++*(int *)arg;
  }
  ls_maps_free(m, n);
  return 0;
}

START_TEST(test_modules)
{
  int n = 0;
  dl_iterate_phdr(check_module, &n);
  ck_assert_int_ge(n, 4); /* We, libc, libelf, the vDSO, ... */
}
END_TEST

/* The vDSO has rows and names. */
START_TEST(test_vdso)
{
  const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
  LsMapping *m;
  size_t n;
  const LsMapping *is;
  LsElf *e;
  LsRows t;
  const char *name;
  uint64_t start, size;
  ck_assert_int_eq(ls_maps_read(getpid(), &m, &n), 0);
  is = mapping_of(m, n, vdso);
  ck_assert_ptr_nonnull(is);
  ck_assert(ls_maps_vdso(is) && !is->anon);
  e = mapped_elf(is);
  ck_assert_ptr_nonnull(e);
  ck_assert_int_eq(ls_rows_build(e, &t), 0);
  ck_assert_uint_gt(t.nrange, 2);
  ck_assert_int_eq(
      ls_symbols_find(e, t.range[t.nrange / 2].lo, &name, &start, &size), 0);
  ck_assert_ptr_nonnull(strstr(name, "vdso"));
  ls_rows_free(&t);
  ls_elf_close(e);
  ls_maps_free(m, n);
}
END_TEST

/* Only code is told of, in order; what has no file is anonymous. */
START_TEST(test_kinds)
{
  LsMapping *m;
  size_t n, i;
  void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *data = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_int_eq(ls_maps_read(getpid(), &m, &n), 0);
  ck_assert_ptr_null(mapping_of(m, n, data));
  ck_assert_ptr_nonnull(mapping_of(m, n, code));
  ck_assert(mapping_of(m, n, code)->anon);
  ck_assert_str_eq(mapping_of(m, n, code)->path, "");
  ck_assert_int_eq(ls_maps_open(getpid(), mapping_of(m, n, code)), -1);
  ck_assert_int_eq(errno, ENOENT);
  for (i = 0; i < n; i++) {
    ck_assert(m[i].exec && m[i].start < m[i].end);
    ck_assert(i == 0 || m[i - 1].end <= m[i].start);
    ck_assert_str_ne(m[i].path, "[vsyscall]");
  }
  ls_maps_free(m, n);
}
END_TEST

/* A file of an odd name, that is deleted; then one of the same name comes. */
START_TEST(test_deleted)
{
  char *to =
      open_changed(SAMPLE_EH, "odd\n (deleted)  name", "cp \"$from\" \"$to\"");
  void *lib = dlopen(to, RTLD_NOW), *code = lib ? dlsym(lib, "plain") : NULL;
  LsMapping *m;
  size_t n;
  const LsMapping *is;
  LsElf *e;
  int fd;
  ck_assert_ptr_nonnull(code);
  ck_assert_int_eq(ls_maps_read(getpid(), &m, &n), 0);
  is = mapping_of(m, n, code);
  ck_assert_str_eq(is->path, to);
  fd = ls_maps_open(getpid(), is);
  ck_assert_int_ge(fd, 0);
  close(fd);
  ls_maps_free(m, n);
  ck_assert_int_eq(unlink(to), 0);
  free(
      open_changed("/bin/ls", "odd\n (deleted)  name", "cp \"$from\" \"$to\""));
  ck_assert_int_eq(ls_maps_read(getpid(), &m, &n), 0);
  is = mapping_of(m, n, code);
  e = mapped_elf(is);
  if (geteuid() == 0) {
    ck_assert_ptr_nonnull(e);
    ck_assert_int_eq(ls_elf_vaddr(e, is->offset, &(uint64_t){0}), 0);
    ls_elf_close(e);
  } else { /* Only by its path: that is another file. */
    ck_assert_ptr_null(e);
  }
  ls_maps_free(m, n);
  unlink(to);
  free(to);
}
END_TEST

/* By its path a file is found, too, but not another one. */
START_TEST(test_by_path)
{
  LsMapping *m;
  size_t n;
  LsMapping is;
  int fd;
  ck_assert_int_eq(ls_maps_read(getpid(), &m, &n), 0);
  is = *mapping_of(m, n, (void *)(uintptr_t)fprintf);
  is.start += 4096; /* No such mapping. */
  fd = ls_maps_open(getpid(), &is);
  ck_assert_int_ge(fd, 0);
  close(fd);
  is.ino++;
  ck_assert_int_eq(ls_maps_open(getpid(), &is), -1);
  ck_assert_int_eq(errno, ESTALE);
  ls_maps_free(m, n);
}
END_TEST

/* Processes that have ended. */
START_TEST(test_gone)
{
  LsMapping *m;
  size_t n;
  pid_t pid = fork();
  if (pid == 0)
    _exit(0);
  ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
  ck_assert_int_eq(ls_maps_read(pid, &m, &n), -1);
  ck_assert_int_eq(errno, ESRCH);
  ck_assert_ptr_null(m);
}
END_TEST

Suite *suite_maps(void)
{
  const TTest *tests[] = {test_modules, test_vdso, test_kinds, test_deleted,
                          test_by_path, test_gone, NULL};
  return suite_of("maps", tests);
}

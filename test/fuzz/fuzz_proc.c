/*
** Any bytes as what other processes and their kernel say of themselves:
** /proc/PID/maps, /proc/kallsyms, and the answer of a process that has read an
** ELF file. The first byte says which.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "kallsyms.h"
#include "maps.h"
#include "pack.h"
#include "symbols.h"

static void maps(const uint8_t *p, size_t n)
{
  FILE *f = fmemopen((void *)p, n, "r");
  LsMapping *m = NULL;
  size_t count = 0, i;
  if (!f)
    abort();
  ls_maps_lines(f, &m, &count);
  for (i = 0; i < count; i++)
    if (m[i].start >= m[i].end || strlen(m[i].path) >= n ||
        (m[i].anon && ls_maps_vdso(&m[i])))
      abort();
  ls_maps_free(m, count);
  fclose(f);
}

static void kallsyms(const uint8_t *p, size_t n)
{
  static const uint64_t at[] = {0, 1, UINT64_MAX, 0xffffffff81000000};
  int fd = memfd_create("kallsyms", 0);
  char path[64];
  LsKallsyms *k;
  size_t i;
  if (fd < 0 || write(fd, p, n) != (ssize_t)n)
    abort();
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  k = ls_kallsyms_open(path);
  for (i = 0; k && i < 4; i++) {
    const char *name = ls_kallsyms_find(k, at[i]);
    if (name && strlen(name) > n + 2)
      abort();
  }
  ls_kallsyms_close(k);
  close(fd);
}

typedef struct Bytes {
  const uint8_t *p;
  size_t n;
} Bytes;

static int take(void *ctx, void *buf, size_t n)
{
  Bytes *b = ctx;
  if (n > b->n) {
    errno = EPROTO;
    return -1;
  }
  memcpy(buf, b->p, n);
  b->p += n;
  b->n -= n;
  return 0;
}

static void pack(const uint8_t *p, size_t n)
{
  Bytes b = {p, n};
  LsLearned l;
  uint64_t start, size, addr;
  const char *name;
  size_t i;
  if (ls_unpack(take, &b, &l))
    return;
  for (i = 0; i < l.rows.nrange; i++)
    if (!ls_symbols_find(l.elf, l.rows.range[i].lo, &name, &start, &size) &&
        strlen(name) >= n)
      abort();
  ls_elf_vaddr(l.elf, 4096, &addr);
  if (l.rows.n)
    ls_rows_find(&l.rows, 4096);
  ls_learned_free(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  if (n < 2)
    return 0;
  switch (*p) {
  case 'm':
    maps(p + 1, n - 1);
    break;
  case 'k':
    kallsyms(p + 1, n - 1);
    break;
  case 'p':
    pack(p + 1, n - 1);
    break;
  }
  return 0;
}

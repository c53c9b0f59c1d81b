/*
** Files of the kernel.
*/

#define lj_memprof_kernel_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lj_memprof_kernel.h"

size_t lj_memprof_readfile(const char *path, char *to, size_t size)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  size_t n = 0;
  ssize_t got = fd < 0 ? 0 : 1;
  while (n < size - 1 && got > 0) {
    got = read(fd, to + n, size - 1 - n);
    n += got > 0 ? (size_t)got : 0;
  }
  if (fd >= 0)
    close(fd);
  to[n] = '\0';
  return n;
}

uint64_t lj_memprof_numberof(const char *text, const char *word)
{
  size_t len = strlen(word);
  const char *p;
  for (p = text; p != NULL; p = strchr(p, '\n')) {
    p += *p == '\n';
    if (strncmp(p, word, len) == 0)
      return strtoull(p + len, NULL, 10);
  }
  return MP_NONUMBER;
}

#endif

/*
** The kinds of files.
*/

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kind.h"
#include "leb.h"
#include "ljm_format.h"
#include "unpack.h"

/* As read(2), for input that may be packed. SRC is a descriptor. */
static ssize_t kind_read(void *src, void *buf, size_t n)
{
  return lp_input_read_fd(*(const int *)src, buf, n);
}

/* The kind that the two prologues at the beginning of IN name, or 0. Old ones
** are of memory.
*/
static int kind_prologue(LpInput *in)
{
  size_t n = lp_input_want(in, 2 * LJM_PROLOGUE_LEN + LJM_ULEB_MAX + 1);
  const uint8_t *p = in->p, *end = in->p + n;
  unsigned bad = 0;
  if (n < LJM_PROLOGUE_LEN || memcmp(p, "ljs", 3) != 0)
    return 0;
  if (p[3] != LJM_VERSION)
    return 'm';
  p += LJM_PROLOGUE_LEN;
  ljm_getuleb(&p, end, &bad);
  if (bad || end - p < 4 || memcmp(p + 1, "lj", 2) != 0)
    return 0;
  return p[3];
}

int lp_kind_of(const char *name)
{
  struct stat st;
  LpUnpack *u;
  LpInput in;
  int fd, kind;
  if (strcmp(name, "-") == 0 || stat(name, &st) != 0 || !S_ISREG(st.st_mode))
    return 0;
  fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return 0;
  u = lp_unpack_open(kind_read, &fd);
  lp_input_open(&in, lp_unpack_read, u);
  kind = kind_prologue(&in);
  lp_input_close(&in);
  lp_unpack_close(u);
  close(fd);
  return kind;
}

size_t lp_kind_order(const char **name, size_t n, size_t *others)
{
  size_t i, dumps = 0;
  *others = 0;
  for (i = 0; i < n; i++) {
    const char *one = name[i];
    int kind = lp_kind_of(one);
    *others += kind == 'm' || kind == 0;
    if (kind != 'd')
      continue;
    memmove(name + dumps + 1, name + dumps, (i - dumps) * sizeof(*name));
    name[dumps++] = one;
  }
  return dumps;
}

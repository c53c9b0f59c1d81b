/*
** The tail of a recording. Its bytes are untrusted: any program may have
** written them.
*/

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "ljm_format.h"
#include "ljm_leb.h"
#include "ljm_tail.h"
#include "mem.h"
#include "tail.h"

#define TAIL_MAX   ((size_t)LJM_TAIL_PAGE_MAX + LJM_BLOCK_MAX)
#define TAIL_TRIES 10 /* A live recording may begin a block meanwhile. */

void lp_tail_open(LpTail *t, const char *name)
{
  size_t len = strlen(name) + sizeof(LJM_TAIL_SUFFIX);
  memset(t, 0, sizeof(*t));
  t->path = lp_alloc(len);
  snprintf(t->path, len, "%s%s", name, LJM_TAIL_SUFFIX);
}

void lp_tail_close(LpTail *t)
{
  free(t->path);
  free(t->file);
  t->path = NULL;
  t->file = NULL;
}

/* -- The header ------------------------------------------------------------ */

/* The tail is to be ignored. */
static int tail_bad(LpTail *t, const char *why)
{
  t->why = why;
  return 0;
}

/* The integer of a header that has 64 bits. */
#define TAIL_GET(p, field) ljm_getfixed((p) + offsetof(ljm_Tail, field), 8)

/* Find the block in the N bytes of the file. */
static int tail_block(LpTail *t, size_t n)
{
  const uint8_t *f = t->file;
  uint64_t page = TAIL_GET(f, page), size = TAIL_GET(f, size), end;
  if (page < sizeof(ljm_Tail) + 8 || page > LJM_TAIL_PAGE_MAX || page > n)
    return tail_bad(t, "it is truncated, or its header is damaged");
  if (size < LJM_BLOCK_HEADER || size > LJM_BLOCK_MAX)
    return tail_bad(t, "its header is damaged");
  end = ljm_getfixed(f + page - 8, 8) - TAIL_GET(f, base);
  if (end > size)
    return tail_bad(t, "its position is outside of its buffer");
  if (end > n - page)
    return tail_bad(t, "it is truncated");
  t->offset = TAIL_GET(f, offset);
  t->first = TAIL_GET(f, first);
  t->monotonic = TAIL_GET(f, monotonic);
  t->realtime = TAIL_GET(f, realtime);
  t->p = f + page + LJM_BLOCK_HEADER;
  t->n = end > LJM_BLOCK_HEADER ? (size_t)end - LJM_BLOCK_HEADER : 0;
  return 1;
}

/* Look at the N bytes of the file. */
static int tail_look(LpTail *t, size_t n)
{
  uint64_t state;
  if (n < sizeof(ljm_Tail) ||
      memcmp(t->file, LJM_TAIL_MAGIC, sizeof(LJM_TAIL_MAGIC) - 1) != 0)
    return tail_bad(t, "it is no tail of a recording");
  state = ljm_getfixed(t->file + offsetof(ljm_Tail, state), 4);
  if (state != LJM_TAIL_LIVE) /* All is in the file, or nothing has begun. */
    return 0;
  return tail_block(t, n);
}

int lp_tail_parse(LpTail *t, const uint8_t *p, size_t n)
{
  if (n > TAIL_MAX)
    return tail_bad(t, "it is too large");
  t->file = lp_realloc(t->file, n + LP_SLACK, 1);
  if (n)
    memcpy(t->file, p, n);
  memset(t->file + n, 0, LP_SLACK);
  return tail_look(t, n);
}

/* -- The file -------------------------------------------------------------- */

/* Read N bytes from the start of a file. Returns how many there are. */
static size_t tail_load(int fd, uint8_t *to, size_t n)
{
  size_t done = 0;
  while (done < n) {
    ssize_t r = pread(fd, to + done, n - done, (off_t)done);
    if (r < 0 && errno == EINTR)
      continue;
    if (r <= 0)
      break;
    done += (size_t)r;
  }
  return done;
}

/* Has no other block begun since the header was read? */
static int tail_isstill(const LpTail *t, int fd)
{
  uint8_t head[sizeof(ljm_Tail)];
  return tail_load(fd, head, sizeof(head)) != sizeof(head) ||
         memcmp(head, t->file, sizeof(head)) == 0;
}

/* Read what is open, N bytes. */
static int tail_file(LpTail *t, int fd, size_t n)
{
  int i;
  if (n > TAIL_MAX)
    return tail_bad(t, "it is too large");
  t->file = lp_realloc(t->file, n + LP_SLACK, 1);
  for (i = 0; i < TAIL_TRIES; i++) {
    size_t got = tail_load(fd, t->file, n);
    memset(t->file + got, 0, n - got + LP_SLACK);
    if (got < sizeof(ljm_Tail) || tail_isstill(t, fd))
      return tail_look(t, got);
  }
  return tail_bad(t, "it changes while it is read");
}

int lp_tail_read(LpTail *t)
{
  struct stat st;
  int fd, good;
  if (!t->path)
    return t->p != NULL;
  fd = open(t->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0)
    return errno == ENOENT ? 0 : tail_bad(t, strerror(errno));
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
    good = tail_bad(t, "it is no regular file");
  else
    good = tail_file(t, fd, (size_t)st.st_size);
  close(fd);
  return good;
}

/*
** Atomic replacement of a file: readers see the old file or the new one, whole.
*/

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replace.h"

/* The mode of a file that replaces none: as open() makes one, while mkostemp()
** always gives 0600.
*/
static mode_t replace_mode(void)
{
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/* What NAME leads to, if it is a link: that one is replaced. */
static void replace_name(LpBuf *b, const char *name)
{
  char *real = realpath(name, NULL);
  lp_buf_puts(b, real ? real : name);
  free(real);
}

/* Begin a new file in place of NAME. Returns its descriptor, or -1 and errno:
** EEXIST, if NAME is there and is no file.
*/
int lp_replace_open(LpReplace *r, const char *name)
{
  struct stat st;
  mode_t mode;
  int err, there = stat(name, &st) == 0;
  memset(r, 0, sizeof(*r));
  r->fd = -1;
  errno = EEXIST;
  if (there && !S_ISREG(st.st_mode))
    return -1;
  mode = there ? st.st_mode & 0777 : replace_mode();
  replace_name(&r->name, name);
  lp_buf_printf(&r->temp, "%s.XXXXXX", r->name.s);
  r->fd = mkostemp(r->temp.s, O_CLOEXEC);
  if (r->fd >= 0 && fchmod(r->fd, mode) == 0)
    return r->fd;
  err = errno;
  lp_replace_close(r, 0);
  errno = err;
  return -1;
}

/* The new file is WHOLE, and takes the old one's place; or it is dropped.
** Returns 0, or errno.
*/
int lp_replace_close(LpReplace *r, int whole)
{
  int err = 0;
  if (r->fd >= 0) {
    if (close(r->fd) != 0)
      err = errno;
    if (whole && !err && rename(r->temp.s, r->name.s) != 0)
      err = errno;
    if (!whole || err)
      unlink(r->temp.s);
  }
  r->fd = -1;
  lp_buf_free(&r->name);
  lp_buf_free(&r->temp);
  return err;
}

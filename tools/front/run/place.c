/*
** Where the page and the recordings of a run go: app.html and the new folder
** app.ljprof beside it. Nothing that exists is touched: a name that is used
** gets a number.
*/

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"
#include "program.h"

#define NAMES_MAX 10000 /* Numbers that are tried. */

static int ends_in(const char *s, const char *end)
{
  size_t n = strlen(s), m = strlen(end);
  return n > m && strcmp(s + n - m, end) == 0;
}

static const char *base_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

/* Does a name with it need no quotes in a shell? */
static int is_plain(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || strchr("_+-.", c);
}

/* What a command is called: by its script, or else by the program. */
static void name_command(LpBuf *b, char **command)
{
  const char *name = base_of(command[0]), *s;
  size_t n = strlen(name), i;
  for (i = 0; command[i]; i++)
    if (ends_in(command[i], ".lua") && !strchr(command[i], ' ')) {
      name = base_of(command[i]);
      n = strlen(name) - 4;
      break;
    }
  for (s = name; s < name + n; s++)
    lp_buf_add(b, is_plain(*s) && (s > name || !strchr("-.", *s)) ? s : "_", 1);
  if (!n)
    lp_buf_puts(b, "ljprof");
}

/* STEM, or STEM.I from the second on, and END. */
static void name_numbered(LpBuf *b, const LpBuf *stem, unsigned i,
                          const char *end)
{
  lp_buf_free(b);
  if (i > 1)
    lp_buf_printf(b, "%s.%u%s", stem->s, i, end);
  else
    lp_buf_printf(b, "%s%s", stem->s, end);
}

/* Makes a folder beside the page. Returns 0 or an errno. */
static int make_beside(FtPlace *p, const LpBuf *stem, int given)
{
  unsigned i;
  for (i = 1; i < NAMES_MAX; i++) {
    struct stat st;
    if (!given) {
      name_numbered(&p->page, stem, i, ".html");
      if (lstat(p->page.s, &st) == 0)
        continue;
    }
    name_numbered(&p->folder, stem, i, ".ljprof");
    if (mkdir(p->folder.s, 0700) == 0)
      return 0;
    if (errno != EEXIST)
      return errno;
  }
  return EEXIST;
}

/* Can every user go to the folder? */
static int is_open(const char *whole)
{
  LpBuf up = {0};
  struct stat st;
  char *slash;
  int open = 1;
  lp_buf_puts(&up, whole);
  while (open && (slash = strrchr(up.s, '/')) != NULL && slash > up.s) {
    *slash = '\0';
    open = stat(up.s, &st) == 0 && (st.st_mode & S_IXOTH);
  }
  lp_buf_free(&up);
  return open;
}

/* The variable LJPROF cannot name such a folder. */
static int is_awkward(const char *whole)
{
  return strchr(whole, ',') || strchr(whole, '%');
}

/* Makes the folder among temporary files instead. Returns 0 or an errno. */
static int make_elsewhere(FtPlace *p)
{
  const char *dir = getenv("TMPDIR");
  p->elsewhere = 1;
  rmdir(p->folder.s);
  lp_buf_free(&p->folder);
  if (!dir || *dir != '/' || is_awkward(dir) || (p->shared && !is_open(dir)))
    dir = "/tmp";
  lp_buf_printf(&p->folder, "%s/ljprof-XXXXXX", dir);
  return mkdtemp(p->folder.s) ? 0 : errno;
}

/* Sets the name from the root. Returns 0 or an errno. */
static int find_whole(FtPlace *p)
{
  char *s = realpath(p->folder.s, NULL);
  if (!s)
    return errno;
  lp_buf_free(&p->whole);
  lp_buf_puts(&p->whole, s);
  free(s);
  return 0;
}

/* Lets other users make files in the folder, which only we can list. */
static int share(const FtPlace *p)
{
  return chmod(p->whole.s, 01733) ? errno : 0;
}

int ft_place_make(FtPlace *p, const char *page, char **command, int shared)
{
  LpBuf stem = {0};
  int err;
  *p = (FtPlace){.shared = shared};
  if (page) {
    size_t n = strlen(page);
    n -= ends_in(page, ".html") ? 5 : ends_in(page, ".htm") ? 4 : 0;
    lp_buf_puts(&p->page, page);
    lp_buf_add(&stem, page, n);
  } else {
    name_command(&stem, command);
  }
  err = make_beside(p, &stem, page != NULL);
  if (!err)
    err = find_whole(p);
  if (!err && (is_awkward(p->whole.s) || (shared && !is_open(p->whole.s)))) {
    err = make_elsewhere(p);
    if (!err)
      err = find_whole(p);
  }
  if (!err && shared)
    err = share(p);
  if (err)
    ft_fail("cannot make the folder %s: %s; -o PAGE names another place",
            p->folder.s, strerror(err));
  lp_buf_free(&stem);
  return err ? -1 : 0;
}

/* -- Its files ------------------------------------------------------------ */

/* Is it a recording by its name? A tail is read with its recording. */
static int is_recording(const struct dirent *e)
{
  return e->d_name[0] != '.' && !ends_in(e->d_name, ".tail") &&
         !ends_in(e->d_name, ".part") &&
         (strstr(e->d_name, ".ljm") || strstr(e->d_name, ".ljp") ||
          strstr(e->d_name, ".ljd"));
}

size_t ft_place_list(const char *folder, char ***name)
{
  struct dirent **e;
  int n = scandir(folder, &e, is_recording, versionsort), i;
  size_t kept = 0;
  *name = NULL;
  if (n < 0)
    return 0;
  *name = lp_zalloc((size_t)n + 1, sizeof(**name));
  for (i = 0; i < n; i++) {
    LpBuf b = {0};
    struct stat st;
    lp_buf_printf(&b, "%s/%s", folder, e[i]->d_name);
    if (lstat(b.s, &st) == 0 && S_ISREG(st.st_mode) && st.st_size)
      (*name)[kept++] = b.s;
    else
      lp_buf_free(&b);
    free(e[i]);
  }
  free(e);
  return kept;
}

void ft_place_drop(const FtPlace *p)
{
  rmdir(p->whole.s);
}

uint64_t ft_place_bytes(const FtPlace *p)
{
  DIR *d = opendir(p->whole.s);
  struct dirent *e;
  struct stat st;
  uint64_t sum = 0;
  while (d && (e = readdir(d)) != NULL)
    if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(st.st_mode))
      sum += (uint64_t)st.st_size;
  if (d)
    closedir(d);
  return sum;
}

/*
** Names of FILEs and BASEs: from the command line and from lists.
*/

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "kind.h"
#include "load.h"
#include "options.h"

#define FILES_NAMED 4 /* So many BASEs are listed by name. */

/* -- Names ---------------------------------------------------------------- */

void lp_names_add(LpNames *names, const char *name)
{
  names->name =
      lp_grow(names->name, &names->room, names->n + 1, sizeof(names->name[0]));
  names->name[names->n++] = name;
}

/* Read a whole list of names; exits if that fails. */
static LpBuf files_read(const char *list)
{
  int fd =
      strcmp(list, "-") == 0 ? STDIN_FILENO : open(list, O_RDONLY | O_CLOEXEC);
  LpBuf b = {0};
  char some[4096];
  ssize_t n = fd < 0 ? -1 : 1;
  while (n > 0) {
    n = lp_input_read_fd(fd, some, sizeof(some));
    lp_buf_add(&b, some, n > 0 ? (size_t)n : 0);
  }
  if (n < 0)
    exit(lp_load_failed(list, strerror(errno)));
  if (fd != STDIN_FILENO)
    close(fd);
  return b;
}

/* --files-from, --diff-from: the names in a list, one per line; if it contains
** a NUL, names end with NUL and may have newlines. The list is never freed.
*/
void lp_option_list(const char *list, LpNames *names, struct argp_state *state)
{
  LpBuf b = files_read(list);
  char end = b.n && memchr(b.s, '\0', b.n) ? '\0' : '\n';
  size_t before = names->n;
  char *p = b.s, *next;
  for (; b.n && p < b.s + b.n; p = next) {
    char *at = memchr(p, end, (size_t)(b.s + b.n - p));
    next = at ? at + 1 : b.s + b.n;
    if (at)
      *at = '\0';
    if (*p)
      lp_names_add(names, p);
  }
  if (names->n == before)
    lp_option_error(state, "expected names of FILEs in %s, there are none",
                    strcmp(list, "-") == 0 ? "standard input" : list);
}

/* -- What is wrong with them ---------------------------------------------- */

/* Would the report overwrite an input file? Anything but a regular file, such
** as a terminal, may be both.
*/
static int files_overwritten(const char *name)
{
  struct stat in, out;
  return lp_options.out && stat(lp_options.out, &out) == 0 &&
         S_ISREG(out.st_mode) &&
         (strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, &in)
                                 : stat(name, &in)) == 0 &&
         in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

/* None of them is written to. */
static void files_kept(const LpNames *names, struct argp_state *state)
{
  size_t i;
  for (i = 0; i < names->n; i++)
    if (files_overwritten(names->name[i]))
      lp_option_error(state, "the report would overwrite %s, which it is of",
                      names->name[i]);
}

/* Only a file can be followed, and only one; so must be what is replaced. */
static void files_followed(struct argp_state *state)
{
  const LpNames *file = &lp_options.file;
  struct stat st;
  if (file->n != 1)
    lp_option_error(state, "--follow is for one FILE, not %zu", file->n);
  if (strcmp(file->name[0], "-") == 0)
    lp_option_error(state, "--follow is not for standard input");
  if (lp_options.base.n)
    lp_option_error(state, "--follow is not for --diff");
  if (lp_options.out && stat(lp_options.out, &st) == 0 && !S_ISREG(st.st_mode))
    lp_option_error(state, "--follow writes a FILE anew, and %s is none",
                    lp_options.out);
}

/* Takes the recording out of the FILEs of a ladder. */
static void files_recording(struct argp_state *state)
{
  LpNames *file = &lp_options.file;
  size_t i, n = 0;
  for (i = 0; i < file->n; i++) {
    const char *name = file->name[i];
    int kind = lp_kind_of(name);
    if (!kind || kind == 'd')
      file->name[n++] = name;
    else if (kind != 'm')
      lp_option_error(state, "--growth is for heap dumps, and %s is none",
                      name);
    else if (lp_options.recording)
      lp_option_error(state,
                      "--growth is for heap dumps of one recording, and %s and "
                      "%s are two",
                      lp_options.recording, name);
    else
      lp_options.recording = name;
  }
  file->n = n;
}

/* A ladder is of several heap dumps, and perhaps of their recording. */
static void files_ladder(struct argp_state *state)
{
  if (lp_options.base.n || lp_options.follow > 0)
    lp_option_error(state, "--growth is not for %s",
                    lp_options.base.n ? "--diff" : "--follow");
  files_recording(state);
  if (lp_options.file.n < 2)
    lp_option_error(state, "--growth is for two heap dumps or more");
  if (!lp_options.recording && lp_options.view &&
      strcmp(lp_options.view, "makers") == 0)
    lp_option_error(state, "--view=makers is of heap dumps and the recording "
                           "that they were taken in");
}

/* The text on BASEs in reports: their names, or their number. */
static void files_bases(void)
{
  const LpNames *base = &lp_options.base;
  LpBuf *b = &lp_options.basenames;
  size_t i;
  if (base->n > FILES_NAMED)
    lp_buf_printf(b, "%zu recordings", base->n);
  else
    for (i = 0; i < base->n; i++)
      lp_buf_printf(b, "%s%s", i ? ", " : "", base->name[i]);
  lp_options.report.base = b->s;
}

void lp_option_files(struct argp_state *state)
{
  if (!lp_options.file.n && lp_options.view && lp_kind_of(lp_options.view))
    lp_option_error(state, "--view needs a value, %s was taken for it",
                    lp_options.view);
  if (!lp_options.file.n && lp_options.base.n)
    lp_option_error(state, "expected a FILE that is compared with %s",
                    lp_options.base.name[0]);
  if (!lp_options.file.n)
    lp_option_error(state, "expected a FILE, or - for standard input");
  files_kept(&lp_options.base, state);
  files_kept(&lp_options.file, state);
  if (lp_options.follow > 0)
    files_followed(state);
  if (lp_options.growth)
    files_ladder(state);
  files_bases();
}

void lp_option_source(const char *arg, const struct argp_state *state)
{
  LpSources *s = &lp_options.report.sources;
  struct stat st;
  if (stat(arg, &st) != 0 || !S_ISDIR(st.st_mode))
    lp_option_error(state, "--source: there is no folder '%s'", arg);
  s->dir = lp_grow(s->dir, &s->room, s->n + 1, sizeof(*s->dir));
  s->dir[s->n++] = arg;
}

void lp_option_map(char *arg, const struct argp_state *state)
{
  static LpMoved *map;
  static size_t room;
  LpWanted *w = &lp_options.wanted;
  char *to = strchr(arg, '=');
  if (!to || to == arg)
    lp_option_error(state, "--map: expected OLD=NEW, not '%s'", arg);
  *to++ = '\0';
  map = lp_grow(map, &room, w->nmap + 1, sizeof(*map));
  map[w->nmap++] = (LpMoved){arg, to};
  w->map = map;
}

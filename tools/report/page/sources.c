/*
** The sources of Lua functions, in the document of a page.
**
** Names of chunks are untrusted: a recording could name any file of whom makes
** a page of it, to whom that page is then shown. So a file is read only if it
** is in a folder that was given, whatever links there are on its way.
**
** Member "sources" has "of", by function the number of its file or -1, "files",
** and "left", how many were not read because there was no room.
*/

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frame.h"
#include "idmap.h"
#include "intern.h"
#include "sources.h"

#define SOURCES_FILE (512u << 10) /* Bytes of a file, */
#define SOURCES_ALL  (2u << 20)   /* and of all of them. */

/* A file that functions are in. */
typedef struct SourceFile {
  LpBuf path; /* As the recording has it. */
  LpBuf text;
  int changed;   /* It is newer than the recording. */
  uint32_t id;   /* In the document, or LP_NONE. */
  uint32_t uses; /* Functions. */
} SourceFile;

typedef struct Sources {
  LpIntern names;
  SourceFile *file; /* By name. */
  size_t files;
  uint32_t *of; /* By function: its file, or LP_NONE. */
  uint32_t left;
} Sources;

/* Is a path, without links, in a folder? */
static int source_inside(const char *path, const char *dir)
{
  size_t n = strlen(dir);
  return strncmp(path, dir, n) == 0 &&
         (path[n] == '/' || (n && dir[n - 1] == '/'));
}

/* Read a regular file of text, of at most SOURCES_FILE bytes, to F->text. */
static int source_read(SourceFile *f, const char *path, uint64_t realtime)
{
  int fd =
      open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  struct stat st;
  char buf[8192];
  ssize_t n = -1;
  if (fd < 0)
    return 0;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
    f->changed = realtime && (uint64_t)st.st_mtime > realtime / 1000000000;
    while ((n = read(fd, buf, sizeof(buf))) > 0 && f->text.n <= SOURCES_FILE)
      lp_buf_add(&f->text, buf, (size_t)n);
  }
  close(fd);
  return n == 0 && f->text.n && f->text.n <= SOURCES_FILE &&
         !memchr(f->text.s, '\0', f->text.n);
}

/* Look for a file in a folder, and read it. */
static int source_find(SourceFile *f, const char *dir, uint64_t realtime)
{
  char root[PATH_MAX], real[PATH_MAX];
  LpBuf path = {0};
  int found;
  if (!realpath(dir, root))
    return 0;
  if (f->path.s[0] != '/')
    lp_buf_printf(&path, "%s/", root);
  lp_buf_puts(&path, f->path.s);
  found = realpath(path.s, real) && source_inside(real, root) &&
          source_read(f, real, realtime);
  lp_buf_free(&path);
  if (!found)
    lp_buf_free(&f->text);
  return found;
}

/* Put the function of a site to its file, if it is one of a file. */
static uint32_t source_of(Sources *s, const LpProfile *prof, uint32_t site)
{
  LpBuf path = {0};
  uint32_t id = LP_NONE, n = s->names.n;
  LpStr chunk = {"", 0};
  if (site != LP_NONE && site >= LP_SITE_FIRST) {
    const LpFuncInfo *fi = &prof->func[prof->row[site].func];
    if (fi->kind == LP_FUNC_LUA)
      chunk = lp_profile_name(prof, fi->chunk);
  }
  if (chunk.n > 1 && chunk.s[0] == '@' && chunk.n < PATH_MAX &&
      !memchr(chunk.s, '\0', chunk.n))
    id = lp_intern(&s->names, chunk.s + 1, chunk.n - 1);
  if (id == LP_NONE)
    return id;
  s->file = lp_grow(s->file, &s->files, id + 1u, sizeof(SourceFile));
  if (id == n) {
    lp_buf_add(&path, chunk.s + 1, chunk.n - 1);
    s->file[id].path = path;
    s->file[id].id = LP_NONE;
  }
  s->file[id].uses++;
  return id;
}

/* Most functions first. */
static int source_before(const void *a, const void *b, void *ctx)
{
  const Sources *s = ctx;
  uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
  uint32_t x = s->file[i].uses, y = s->file[k].uses;
  return x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

/* Read files as long as there is room, and write them. */
static void sources_files(LpJson *j, Sources *s, const LpProfile *prof,
                          const LpSources *from)
{
  uint32_t *order = lp_alloc(s->names.n * sizeof(uint32_t) + 1), i, n = 0;
  size_t all = 0, k;
  for (i = 0; i < s->names.n; i++)
    order[i] = i;
  if (s->names.n)
    qsort_r(order, s->names.n, sizeof(uint32_t), source_before, s);
  lp_json_array(j, "files");
  for (i = 0; i < s->names.n; i++) {
    SourceFile *f = &s->file[order[i]];
    for (k = 0; k < from->n && !f->text.n; k++)
      source_find(f, from->dir[k], prof->realtime);
    if (all + f->text.n > SOURCES_ALL)
      s->left++;
    if (!f->text.n || all + f->text.n > SOURCES_ALL)
      continue;
    all += f->text.n;
    f->id = n++;
    lp_json_object(j, NULL);
    lp_json_keytext(j, "name", f->path.s);
    lp_json_keynumber(j, "changed", (uint64_t)f->changed);
    lp_json_key(j, "text");
    lp_json_string(j, (LpStr){f->text.s, f->text.n});
    lp_json_end(j);
    lp_buf_free(&f->text);
  }
  lp_json_end(j);
  free(order);
}

void lp_json_sources(LpJson *j, const LpProfile *prof, const LpSources *from,
                     const uint32_t *site, uint32_t n)
{
  Sources s = {0};
  uint32_t i;
  if (!from || !from->n)
    return;
  s.of = lp_alloc(n * sizeof(uint32_t) + 1);
  for (i = 0; i < n; i++)
    s.of[i] = source_of(&s, prof, site[i]);
  lp_json_object(j, "sources");
  sources_files(j, &s, prof, from);
  lp_json_array(j, "of");
  for (i = 0; i < n; i++)
    lp_json_number(j, s.of[i] == LP_NONE || s.file[s.of[i]].id == LP_NONE
                          ? (uint64_t)-1
                          : s.file[s.of[i]].id);
  lp_json_end(j);
  lp_json_keynumber(j, "left", s.left);
  lp_json_end(j);
  for (i = 0; i < s.names.n; i++) {
    lp_buf_free(&s.file[i].path);
    lp_buf_free(&s.file[i].text);
  }
  lp_intern_free(&s.names);
  free(s.file);
  free(s.of);
}

/*
** Live bytes of lines, from a memory recording that is still written: the CSV
** report of lj-parse-memprof.
*/

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

#define REPORT_MAX (64u << 20) /* Bytes of a report that are read. */

/* Whether PATH ends as recordings do. */
static int is_recording(const char *path)
{
  const char *dot = strrchr(path, '.');
  return dot && strcmp(dot, ".ljm") == 0;
}

char *ft_memory_find(pid_t pid)
{
  char dir[64], link[PATH_MAX], path[PATH_MAX];
  char *found = NULL;
  struct dirent *de;
  ssize_t n;
  DIR *d;
  snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)pid);
  d = opendir(dir);
  while (d && !found && (de = readdir(d))) {
    snprintf(link, sizeof(link), "%s/%s", dir, de->d_name);
    n = readlink(link, path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    if (is_recording(path)) /* Where the process sees it; we may not. */
      found = lp_strdup(access(path, R_OK) ? link : path);
  }
  if (d)
    closedir(d);
  return found;
}

int ft_memory_start(FtMemory *m)
{
  char name[] = "lj-parse-memprof", csv[] = "--format=csv", end[] = "--";
  char *argv[] = {name, csv, end, lp_strdup(m->file), NULL};
  int err = ft_start(&m->child, argv);
  free(argv[3]);
  m->text.n = 0;
  return err;
}

/* -- CSV ------------------------------------------------------------------ */

#define FIELDS 16

/* Splits a record, without changing its quotes. Returns how many fields. */
static size_t split(char *s, char *field[FIELDS])
{
  size_t n = 0;
  int quoted = 0;
  field[n++] = s;
  for (; *s; s++) {
    if (*s == '"')
      quoted = !quoted;
    if (*s != ',' || quoted)
      continue;
    *s = '\0';
    if (n == FIELDS)
      break;
    field[n++] = s + 1;
  }
  return n;
}

/* The column called NAME, or FIELDS. */
static size_t column(char *const *field, size_t n, const char *name)
{
  size_t i;
  for (i = 0; i < n; i++)
    if (strcmp(field[i], name) == 0)
      return i;
  return FIELDS;
}

/* Removes the quotes of a field. */
static void unquote(char *s)
{
  char *to = s, *from = s + (*s == '"');
  for (; *from; from++) {
    if (*from == '"' && *++from == '\0')
      break;
    *to++ = *from;
  }
  *to = '\0';
}

/* Makes "chunk:line" of "@chunk:first, line N (function)", or of one without @:
** of a chunk that is no file. ~ marks a line that is uncertain. Returns NULL if
** it is no Lua line.
*/
static char *place_of(char *name)
{
  char *line, *sure, *colon;
  unsigned long n;
  unquote(name);
  line = strstr(name, ", ~line ");
  sure = strstr(name, ", line ");
  if (sure && (!line || sure < line))
    line = sure;
  if (!line || strncmp(name, "TRACE [", 7) == 0)
    return NULL;
  *line = '\0';
  colon = strrchr(name, ':');
  if (!colon)
    return NULL;
  n = strtoul(strchr(line + 1, 'e') + 2, NULL, 10);
  snprintf(colon, strlen(colon) + 7, ":%lu", n % 10000000);
  return name + (*name == '@');
}

/* Takes the bytes of a whole report. */
static void take_report(const LpBuf *text, FtLines *t)
{
  char *save = NULL, *record, *field[FIELDS], *place;
  size_t n, live = FIELDS, name = FIELDS;
  ft_lines_forget_bytes(t);
  for (record = strtok_r(text->s, "\n", &save); record;
       record = strtok_r(NULL, "\n", &save)) {
    n = split(record, field);
    if (live == FIELDS) {
      live = column(field, n, "live");
      name = column(field, n, "name");
      if (live == FIELDS || name == FIELDS)
        return;
    } else if (live < n && name < n && (place = place_of(field[name]))) {
      ft_lines_bytes(t, place, strtoull(field[live], NULL, 10));
    }
  }
}

int ft_memory_read(FtMemory *m, FtLines *t)
{
  char part[65536];
  ssize_t n = read(m->child.out, part, sizeof(part));
  if (n > 0 && m->text.n < REPORT_MAX)
    lp_buf_add(&m->text, part, (size_t)n);
  if (n > 0 || (n < 0 && errno == EINTR))
    return 0;
  ft_end(&m->child);
  if (m->text.n)
    take_report(&m->text, t);
  return 1;
}

void ft_memory_end(FtMemory *m)
{
  ft_end(&m->child);
  lp_buf_free(&m->text);
}

/*
** The executable mappings of a process, and the files behind them.
**
** A file is best opened by /proc/PID/map_files, which leads to the very file:
** whatever has happened to its name, and whichever mounts the process sees.
** That needs privileges; without them it is /proc/PID/root and the path.
*/

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "maps.h"

#define MAPS_VDSO_MAX (1u << 20) /* Bytes of the vDSO. */

/* -- Lines ---------------------------------------------------------------- */

/* Undo what the kernel does with newlines in a path. */
static void path_unescape(char *s)
{
  char *to = s;
  while (*s) {
    if (strncmp(s, "\\012", 4) == 0) {
      *to++ = '\n';
      s += 4;
    } else {
      *to++ = *s++;
    }
  }
  *to = '\0';
}

/* The number of a base at *S, with the character END behind it. Sets *BAD if it
** is not there.
*/
static uint64_t line_number(char **s, int base, char end, int *bad)
{
  char *at = *s;
  uint64_t v = strtoull(at, s, base);
  if (*s == at || **s != end)
    *bad = 1;
  else
    ++*s;
  return v;
}

/* Take a line of /proc/PID/maps: "START-END r-xp OFFSET MAJOR:MINOR INO PATH",
** with blanks before the path. Returns 1, 0 if it is of no interest, -1 and
** errno without memory.
*/
static int mapping_parse(char *line, LsMapping *m)
{
  char *s = line, *perms;
  unsigned major, minor;
  int bad = 0;
  line[strcspn(line, "\n")] = '\0';
  m->start = line_number(&s, 16, '-', &bad);
  m->end = line_number(&s, 16, ' ', &bad);
  perms = s;
  if (bad || strcspn(perms, " ") != 4 || perms[4] != ' ' || perms[2] != 'x')
    return 0;
  s += 5;
  m->offset = line_number(&s, 16, ' ', &bad);
  major = (unsigned)line_number(&s, 16, ':', &bad);
  minor = (unsigned)line_number(&s, 16, ' ', &bad);
  m->ino = line_number(&s, 10, ' ', &bad);
  s += strspn(s, " ");
  if (bad || m->end <= m->start || strcmp(s, "[vsyscall]") == 0)
    return 0;
  path_unescape(s);
  m->dev = makedev(major, minor);
  m->exec = 1;
  m->anon = m->ino == 0 && strcmp(s, "[vdso]") != 0;
  m->path = strdup(s);
  return m->path ? 1 : -1;
}

/* Take all lines of a file. Returns -1 and errno. */
static int maps_lines(FILE *f, LsMapping **out, size_t *n)
{
  char *line = NULL;
  size_t room = 0, cap = 0;
  int status = 0;
  while (status >= 0 && getline(&line, &room, f) > 0) {
    if (*n == cap) {
      LsMapping *p = reallocarray(*out, cap += cap / 2 + 64, sizeof(*p));
      if (!p) {
        status = -1;
        break;
      }
      *out = p;
    }
    memset(*out + *n, 0, sizeof(**out));
    status = mapping_parse(line, *out + *n);
    *n += status > 0;
  }
  if (ferror(f))
    status = -1;
  free(line);
  return status < 0 ? -1 : 0;
}

/* -- Mappings ------------------------------------------------------------- */

/* Open a file of a process. */
static int proc_open(pid_t pid, const char *name)
{
  char path[128];
  int fd;
  snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT)
    errno = ESRCH;
  return fd;
}

int ls_maps_read(pid_t pid, LsMapping **out, size_t *n)
{
  int error, fd = proc_open(pid, "maps");
  FILE *f;
  *out = NULL;
  *n = 0;
  if (fd < 0)
    return -1;
  f = fdopen(fd, "r");
  if (!f) {
    close(fd);
    return -1;
  }
  if (maps_lines(f, out, n) == 0) {
    fclose(f);
    return 0;
  }
  error = errno;
  fclose(f);
  ls_maps_free(*out, *n);
  *out = NULL;
  *n = 0;
  errno = error;
  return -1;
}

void ls_maps_free(LsMapping *m, size_t n)
{
  while (n)
    free(m[--n].path);
  free(m);
}

int ls_maps_vdso(const LsMapping *m)
{
  return m->ino == 0 && strcmp(m->path, "[vdso]") == 0;
}

/* -- Files ---------------------------------------------------------------- */

/* Whether FD is the file that is mapped. Some file systems (overlay, btrfs)
** report a device of their own by stat, of major 0, and overlay about other
** inodes, too: SURE says that the file is the right one, then.
*/
static int file_is(int fd, const LsMapping *m, int sure)
{
  struct stat st;
  int odd;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
    return 0;
  odd = !major(st.st_dev) || !major(m->dev);
  return odd ? sure || st.st_ino == m->ino
             : st.st_ino == m->ino && st.st_dev == m->dev;
}

/* Open the file by its path, as the process sees it. */
static int open_by_path(pid_t pid, const LsMapping *m)
{
  char *path;
  int fd;
  if (asprintf(&path, "/proc/%ld/root%s", (long)pid, m->path) < 0)
    return -1;
  /* It may be a device or a pipe by now: do not wait for one. */
  fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  free(path);
  if (fd >= 0 && !file_is(fd, m, 0)) {
    close(fd);
    errno = ESTALE;
    return -1;
  }
  return fd;
}

int ls_maps_open(pid_t pid, const LsMapping *m)
{
  char name[64];
  int fd;
  if (m->ino == 0) {
    errno = ENOENT;
    return -1;
  }
  snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, m->start,
           m->end);
  fd = proc_open(pid, name);
  if (fd >= 0 && file_is(fd, m, 1))
    return fd;
  if (fd >= 0)
    close(fd); /* Something else is mapped there by now. */
  return open_by_path(pid, m);
}

/* Copy the vDSO from the process's memory. */
static LsElf *vdso_elf(pid_t pid, const LsMapping *m)
{
  uint64_t size = m->end - m->start;
  char *image;
  ssize_t n = -1;
  LsElf *e = NULL;
  int error, fd;
  if (size > MAPS_VDSO_MAX) {
    errno = ENOEXEC;
    return NULL;
  }
  fd = proc_open(pid, "mem");
  if (fd < 0)
    return NULL;
  image = malloc(size);
  if (image)
    n = pread(fd, image, size, (off_t)m->start);
  if (n > 0)
    e = ls_elf_memory(image, (size_t)n);
  else if (n == 0)
    errno = ESRCH; /* It has ended. */
  error = errno;
  close(fd);
  free(image);
  errno = error;
  return e;
}

LsElf *ls_maps_elf(pid_t pid, const LsMapping *m)
{
  LsElf *e;
  int error, fd;
  if (ls_maps_vdso(m))
    return vdso_elf(pid, m);
  fd = ls_maps_open(pid, m);
  if (fd < 0)
    return NULL;
  e = ls_elf_open(fd);
  error = errno;
  close(fd);
  errno = error;
  return e;
}

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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "file.h"
#include "maps.h"
#include "remote.h"

#define MAPS_BUFFER   65536      /* Of 1024 bytes, stdio would take. */
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

int ls_maps_lines(FILE *f, LsMapping **out, size_t *n)
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
  setvbuf(f, NULL, _IOFBF, MAPS_BUFFER);
  if (ls_maps_lines(f, out, n) == 0) {
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

/* Open the file by its path, as the process sees it: links of it must not lead
** out of its root.
*/
static int open_by_path(pid_t pid, const LsMapping *m)
{
  char root[64];
  int fd;
  snprintf(root, sizeof(root), "/proc/%ld/root", (long)pid);
  fd = ls_file_open(root, m->path);
  if (fd >= 0 && !file_is(fd, m, 0)) {
    close(fd);
    errno = ESTALE;
    return -1;
  }
  return fd;
}

/* Copy the vDSO from the process's memory to a file without a name. */
static int open_vdso(pid_t pid, const LsMapping *m)
{
  uint64_t size = m->end - m->start;
  char *image = size > MAPS_VDSO_MAX ? NULL : malloc(size);
  int fd = -1, error = size > MAPS_VDSO_MAX ? ENOEXEC : ENOMEM;
  if (image && ls_remote_read(pid, m->start, image, size)) {
    error = ESRCH; /* It has ended. */
  } else if (image) {
    fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, image, size) != (ssize_t)size) {
      close(fd);
      fd = -1;
    }
    error = errno;
  }
  free(image);
  errno = error;
  return fd;
}

int ls_maps_open(pid_t pid, const LsMapping *m)
{
  char name[64];
  int fd;
  if (ls_maps_vdso(m))
    return open_vdso(pid, m);
  if (m->ino == 0) {
    errno = ENOENT;
    return -1;
  }
  snprintf(name, sizeof(name), "/proc/%ld/map_files/%" PRIx64 "-%" PRIx64,
           (long)pid, m->start, m->end);
  fd = ls_file_reopen(name);
  if (fd >= 0 && file_is(fd, m, 1))
    return fd;
  if (fd >= 0)
    close(fd); /* Something else is mapped there by now. */
  return open_by_path(pid, m);
}

int ls_maps_stat(pid_t pid, const LsMapping *m, struct stat *st)
{
  char name[64];
  int fd, err;
  snprintf(name, sizeof(name), "/proc/%ld/map_files/%" PRIx64 "-%" PRIx64,
           (long)pid, m->start, m->end);
  if (stat(name, st) == 0)
    return 0;
  fd = ls_maps_open(pid, m);
  if (fd < 0)
    return -1;
  err = fstat(fd, st);
  close(fd);
  return err;
}

/*
** The child processes of a process, by /proc/PID/stat of all processes: the
** lists in /proc/PID/task are not in all kernels, and leave out some.
*/

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "children.h"
#include "procstat.h"

/* The parent of PID, or 0: it has ended, or cannot be read. */
static pid_t parent_of(pid_t pid)
{
  char path[64], buf[LS_PROCSTAT_SIZE];
  const char *state;
  snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
  state = ls_procstat(path, buf);
  return state ? (pid_t)strtol(state + 1, NULL, 10) : 0;
}

/* A process and its parent. */
typedef struct Kin {
  pid_t pid, parent;
} Kin;

/* All processes. Returns how many; the caller frees *OUT. */
static size_t all_kin(Kin **out)
{
  DIR *dir = opendir("/proc");
  struct dirent *de;
  size_t n = 0, room = 0;
  *out = NULL;
  while (dir && (de = readdir(dir))) {
    char *end;
    long pid = strtol(de->d_name, &end, 10);
    if (pid <= 0 || *end)
      continue;
    if (n == room) {
      Kin *more = realloc(*out, (room * 2 + 256) * sizeof(Kin));
      if (!more)
        break;
      *out = more;
      room = room * 2 + 256;
    }
    (*out)[n++] = (Kin){(pid_t)pid, parent_of((pid_t)pid)};
  }
  if (dir)
    closedir(dir);
  return n;
}

/* Is PID among N of them? */
static int is_met(const pid_t *out, size_t n, pid_t pid)
{
  while (n > 0)
    if (out[--n] == pid)
      return 1;
  return 0;
}

size_t ls_children_find(pid_t pid, pid_t *out, size_t most)
{
  Kin *kin;
  size_t all = all_kin(&kin), n = 0, done = 0, i;
  pid_t parent = pid;
  do { /* Numbers may be used again while all are read: no process is added
          twice. */
    for (i = 0; i < all && n < most; i++)
      if (kin[i].parent == parent && kin[i].pid != pid &&
          !is_met(out, n, kin[i].pid))
        out[n++] = kin[i].pid;
  } while (done < n && (parent = out[done++]));
  free(kin);
  return n;
}

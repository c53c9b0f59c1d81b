/*
** The control group of a process.
*/

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "cgroup.h"

/* Keeps the end of a path. */
static void keep(char *path, const char *s)
{
  size_t n = strlen(s);
  if (n >= LS_CGROUP_MAX)
    s += n - LS_CGROUP_MAX + 1;
  memmove(path, s, strlen(s) + 1);
}

void ls_cgroup_read(pid_t pid, char *path)
{
  char file[64], line[4096 + 64];
  FILE *f;
  *path = '\0';
  snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
  f = fopen(file, "re");
  while (f && fgets(line, sizeof(line), f)) {
    char *s = strchr(line, ':');
    int two = strncmp(line, "0:", 2) == 0;
    s = s ? strchr(s + 1, ':') : NULL;
    if (!s)
      continue;
    s++;
    s[strcspn(s, "\n")] = '\0';
    if (s[0] == '/' && s[1] && (two || !*path))
      keep(path, s);
  }
  if (f)
    fclose(f);
}

int ls_cgroup_is(const char *path, const char *glob)
{
  char copy[LS_CGROUP_MAX], *save = NULL, *s;
  if (fnmatch(glob, path, 0) == 0)
    return 1;
  snprintf(copy, sizeof(copy), "%s", path);
  for (s = strtok_r(copy, "/", &save); s; s = strtok_r(NULL, "/", &save))
    if (fnmatch(glob, s, 0) == 0)
      return 1;
  return 0;
}

/*
** Memory that is left. A page that either process writes to after a fork is
** there twice: a cycle of the collector can double the heap. Near a limit the
** kernel would kill the program, so the limits are read before the fork.
*/

#define lj_headroom_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lj_headroom.h"
#include "lj_memprof_kernel.h"

#define HEADROOM_FILE 8192 /* Longer files are cut. */
#define HEADROOM_PATH 1024 /* Longer paths are not looked at. */
#define HEADROOM_MIB  (1u << 20)

/* A file with one number; MP_NONUMBER if there is none ("max"). */
static uint64_t headroom_value(const char *dir, const char *name)
{
  char path[HEADROOM_PATH + 64], text[64];
  snprintf(path, sizeof(path), "%s/%s", dir, name);
  if (!lj_memprof_readfile(path, text, sizeof(text)) || *text < '0' ||
      *text > '9')
    return MP_NONUMBER;
  return strtoull(text, NULL, 10);
}

/* -- Control groups -------------------------------------------------------- */

/* Names of files and fields in each version of cgroups. */
typedef struct HeadroomKind {
  const char *controllers; /* Of the line in /proc/self/cgroup, */
  const char *mount;       /* and where it is usually mounted. */
  const char *max;
  const char *current;
  const char *cache; /* In memory.stat: cache that can be given up. */
} HeadroomKind;

static const HeadroomKind headroom_v2 = {"", "/sys/fs/cgroup", "memory.max",
                                         "memory.current", "inactive_file "};
static const HeadroomKind headroom_v1 = {
    "memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
    "memory.usage_in_bytes", "total_inactive_file "};

/* Bytes that are left in one group. */
static uint64_t headroom_group(const HeadroomKind *kind, const char *dir)
{
  char path[HEADROOM_PATH + 64], text[HEADROOM_FILE];
  uint64_t max = headroom_value(dir, kind->max), cache;
  uint64_t current = headroom_value(dir, kind->current);
  if (max == MP_NONUMBER || current == MP_NONUMBER)
    return MP_NONUMBER;
  snprintf(path, sizeof(path), "%s/memory.stat", dir);
  cache = lj_memprof_readfile(path, text, sizeof(text))
              ? lj_memprof_numberof(text, kind->cache)
              : MP_NONUMBER;
  if (cache != MP_NONUMBER)
    current -= cache < current ? cache : current;
  return max > current ? max - current : 0;
}

/* The least that is left in a group and in those that it is in. */
static uint64_t headroom_groups(const HeadroomKind *kind, const char *root,
                                const char *group, size_t len)
{
  char dir[HEADROOM_PATH];
  uint64_t least = MP_NONUMBER, left;
  size_t mount = strlen(root) + strlen(kind->mount);
  char *slash;
  if (mount + len >= sizeof(dir))
    return least;
  snprintf(dir, sizeof(dir), "%s%s%.*s", root, kind->mount, (int)len, group);
  do {
    left = headroom_group(kind, dir);
    if (left < least)
      least = left;
    slash = strrchr(dir + mount, '/');
    if (slash != NULL)
      *slash = '\0';
  } while (slash != NULL);
  return least;
}

/* True if a controller is in a list of len bytes, with commas between. */
static int headroom_islisted(const char *list, size_t len, const char *name)
{
  size_t n = strlen(name);
  const char *p = list, *end = list + len;
  if (n == 0)
    return len == 0;
  while ((size_t)(end - p) >= n) {
    const char *comma = (const char *)memchr(p, ',', (size_t)(end - p));
    size_t word = (size_t)((comma != NULL ? comma : end) - p);
    if (word == n && memcmp(p, name, n) == 0)
      return 1;
    if (comma == NULL)
      break;
    p = comma + 1;
  }
  return 0;
}

/* The least that is left of a kind; each line is "NUMBER:CONTROLLERS:PATH". */
static uint64_t headroom_kind(const HeadroomKind *kind, const char *root,
                              const char *text)
{
  const char *p = text;
  while (p != NULL && *p != '\0') {
    const char *list = strchr(p, ':');
    const char *path = list != NULL ? strchr(list + 1, ':') : NULL;
    if (path == NULL)
      break;
    if (headroom_islisted(list + 1, (size_t)(path - list - 1),
                          kind->controllers))
      return headroom_groups(kind, root, path + 1, strcspn(path + 1, "\n"));
    p = strchr(path, '\n');
    if (p != NULL)
      p++;
  }
  return MP_NONUMBER;
}

static uint64_t headroom_cgroups(const char *root)
{
  char path[HEADROOM_PATH], text[HEADROOM_FILE];
  uint64_t v1, v2;
  snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
  if (!lj_memprof_readfile(path, text, sizeof(text)))
    return MP_NONUMBER;
  v2 = headroom_kind(&headroom_v2, root, text);
  v1 = headroom_kind(&headroom_v1, root, text);
  return v2 < v1 ? v2 : v1;
}

/* -- The system ------------------------------------------------------------ */

/* A number of KiB in a file of /proc, in bytes. */
static uint64_t headroom_kib(const char *root, const char *file,
                             const char *word)
{
  char path[HEADROOM_PATH], text[HEADROOM_FILE];
  uint64_t n = MP_NONUMBER;
  snprintf(path, sizeof(path), "%s%s", root, file);
  if (lj_memprof_readfile(path, text, sizeof(text)))
    n = lj_memprof_numberof(text, word);
  return n != MP_NONUMBER ? n * 1024 : n;
}

uint64_t lj_headroom_pagetables(void)
{
  uint64_t n = headroom_kib("", "/proc/self/status", "VmPTE:");
  return n != MP_NONUMBER ? n : 0;
}

/* Compares with what is left. If that is less, sets why and returns 0. */
static int headroom_suffices(uint64_t need, uint64_t left, const char *of,
                             char *why, size_t size)
{
  if (need <= left)
    return 1;
  snprintf(why, size,
           "a fork may take %llu MiB more, and %llu MiB are left of %s",
           (unsigned long long)(need / HEADROOM_MIB) + 1,
           (unsigned long long)(left / HEADROOM_MIB), of);
  return 0;
}

int lj_headroom_has(const char *root, uint64_t need, char *why, size_t size)
{
  return headroom_suffices(need,
                           headroom_kib(root, "/proc/meminfo", "MemAvailable:"),
                           "the system's memory", why, size) &&
         headroom_suffices(need, headroom_cgroups(root), "the cgroup's limit",
                           why, size);
}

#endif

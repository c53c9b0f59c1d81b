/*
** The process that a stream is about. By this, reports distinguish processes
** and join recordings of memory and of the CPU.
*/

#define lj_memprof_origin_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lj_memprof_kernel.h"
#include "lj_memprof_origin.h"
#include "lj_memprof_time.h"

uint64_t lj_memprof_realtime(void)
{
  struct timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The inode of this process's pid namespace, or 0. */
static uint64_t origin_pidns(void)
{
  char link[64];
  ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);
  const char *p;
  if (n <= 0)
    return 0;
  link[n] = '\0';
  p = strchr(link, '['); /* Reads "pid:[4026531836]". */
  return p ? strtoull(p + 1, NULL, 10) : 0;
}

/* The arguments of this process, with spaces between them. */
static void origin_line(MPOrigin *o)
{
  size_t i, n;
  n = lj_memprof_readfile("/proc/self/cmdline", o->line, sizeof(o->line));
  while (n > 0 && o->line[n - 1] == '\0')
    n--;
  for (i = 0; i < n; i++)
    if (o->line[i] == '\0')
      o->line[i] = ' ';
}

/* The start of this process in clock ticks since boot, or 0. */
static uint64_t origin_start(void)
{
  char stat[1024];
  const char *p;
  int i;
  lj_memprof_readfile("/proc/self/stat", stat, sizeof(stat));
  /* The command's name may hold anything: count from the last bracket. */
  p = strrchr(stat, ')');
  for (i = 0; p != NULL && i < 20; i++)
    p = strchr(p + 1, ' ');
  return p ? strtoull(p + 1, NULL, 10) : 0;
}

/* Copies a string to TO, of SIZE bytes: its end, if it is longer. */
static void origin_end(char *to, size_t size, const char *s)
{
  size_t n = strlen(s);
  if (n >= size) {
    s += n - size + 1;
    n = size - 1;
  }
  memcpy(to, s, n + 1);
}

/*
** The control group, as lj-sysprof has it: of version 2 or, if that is the root
** one, the first other one of version 1. Lines are as "4:memory:/path".
*/
static void origin_cgroup(MPOrigin *o)
{
  char text[4096], *line = text;
  o->cgroup[0] = '\0';
  lj_memprof_readfile("/proc/self/cgroup", text, sizeof(text));
  while (*line != '\0') {
    char *end = strchr(line, '\n'), *path = strchr(line, ':');
    if (end == NULL)
      break; /* It is cut. */
    *end = '\0';
    path = path ? strchr(path + 1, ':') : NULL;
    if (path != NULL && path[1] == '/' && path[2] != '\0' &&
        (o->cgroup[0] == '\0' || strncmp(line, "0:", 2) == 0))
      origin_end(o->cgroup, sizeof(o->cgroup), path + 1);
    line = end + 1;
  }
}

void lj_memprof_origin(MPOrigin *o)
{
  struct utsname un;
  o->pid = (uint64_t)getpid();
  o->pidns = origin_pidns();
  o->processstart = origin_start();
  o->realtime = lj_memprof_realtime();
  o->monotonic = lj_memprof_now();
  lj_memprof_readfile("/proc/self/comm", o->comm, sizeof(o->comm));
  o->comm[strcspn(o->comm, "\n")] = '\0';
  origin_cgroup(o);
  if (uname(&un) != 0)
    un.nodename[0] = '\0';
  origin_end(o->host, sizeof(o->host), un.nodename);
  origin_line(o);
}

#endif

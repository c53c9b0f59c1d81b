/*
** A process that is sampled.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "procstat.h"
#include "remote.h"
#include "target.h"
#include "vmcheck.h"

int ls_target_name(pid_t pid, pid_t tid, char *name, size_t size)
{
  char path[64];
  FILE *f;
  snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
  f = fopen(path, "re");
  *name = '\0';
  if (!f)
    return -1;
  if (fgets(name, (int)size, f))
    name[strcspn(name, "\n")] = '\0';
  fclose(f);
  return *name ? 0 : -1;
}

#define STAT_START 19 /* Fields from the state on, before the start time. */

/* When the process was started, in clock ticks since boot; 0: not known. */
static uint64_t start_time(pid_t pid)
{
  char path[64], buf[LS_PROCSTAT_SIZE];
  const char *p;
  int i;
  snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
  p = ls_procstat(path, buf);
  for (i = 0; p && i < STAT_START; i++)
    p = strchr(p + 1, ' ');
  return p ? strtoull(p, NULL, 10) : 0;
}

/* The user of the process, by its real number: that of /proc/PID is root's if
** the process must not be dumped.
*/
static uid_t user(pid_t pid)
{
  char path[64], line[256];
  unsigned long uid = 0;
  FILE *f;
  snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
  f = fopen(path, "re");
  while (f && fgets(line, sizeof(line), f))
    if (strncmp(line, "Uid:", 4) == 0) {
      uid = strtoul(line + 4, NULL, 10);
      break;
    }
  if (f)
    fclose(f);
  return (uid_t)uid;
}

int ls_target_cpu(LsTarget *t)
{
  struct timespec ts;
  clockid_t clock;
  if (clock_getcpuclockid(t->pid, &clock) || clock_gettime(clock, &ts))
    return -1;
  t->cpu_now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
  return 0;
}

void ls_target_cpubegin(LsTarget *t)
{
  ls_target_cpu(t);
  t->cpu_before = t->cpu_now;
}

int ls_target_ended(const LsTarget *t)
{
  struct pollfd p = {t->pidfd, POLLIN, 0};
  char name[sizeof(t->command)];
  if (t->pidfd >= 0)
    return poll(&p, 1, 0) > 0;
  return ls_target_name(t->pid, t->pid, name, sizeof(name)) != 0;
}

LsTarget *ls_target_open(pid_t pid)
{
  LsTarget *t = calloc(1, sizeof(*t));
  if (!t)
    return NULL;
  t->pid = pid;
  if (ls_target_name(pid, pid, t->command, sizeof(t->command))) {
    free(t);
    errno = ESRCH;
    return NULL;
  }
  ls_cgroup_read(pid, t->cgroup);
  t->start = start_time(pid);
  t->owner = (LsOwner){pid, user(pid), t->start};
  t->lua = ls_lua_open(pid);
  if (!t->lua) {
    free(t);
    errno = ENOMEM;
    return NULL;
  }
  t->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
  ls_target_cpubegin(t);
  return t;
}

void ls_target_close(LsTarget *t)
{
  if (!t)
    return;
  ls_lua_close(t->lua);
  if (t->pidfd >= 0)
    close(t->pidfd);
  free(t);
}

/* The process runs another program now: nothing that was known holds. */
static void start_anew(LsTarget *t)
{
  LsLua *lua = ls_lua_open(t->pid);
  if (lua) {
    ls_lua_close(t->lua);
    t->lua = lua;
  }
  ls_target_name(t->pid, t->pid, t->command, sizeof(t->command));
  ls_cgroup_read(t->pid, t->cgroup);
}

/* The module of a mapping, or NULL. At most LEARN new files are read, which
** takes time.
*/
static LsModule *module_of(LsTarget *t, LsModules *ms, const LsMapping *m,
                           int *learn)
{
  const char *why;
  LsModule *mod = ls_modules_get(ms, &t->owner, m, 0, &why);
  if (mod || !why)
    return mod;
  if (!*learn) {
    t->stale = 1;
    return NULL;
  }
  --*learn;
  mod = ls_modules_get(ms, &t->owner, m, 1, &why);
  if (why && *why) {
    t->refusing++;
    t->why = why;
  } else if (why) {
    t->stale = 1;
  }
  return mod;
}

/* Adds a mapping to the image, if it is of a module. */
static void add_map(LsTarget *t, LsModules *ms, const LsMapping *m, int *learn)
{
  struct ljs_proc *im = &t->image;
  LsModule *mod;
  uint64_t addr;
  if (im->nmaps >= LJS_MAX_MAPS) {
    t->refusing++;
    t->why = "more mappings of code than can be looked up";
    return;
  }
  mod = module_of(t, ms, m, learn);
  if (!mod || !mod->slot || ls_elf_vaddr(mod->elf, m->offset, &addr))
    return;
  im->map[im->nmaps++] = (struct ljs_map){
      .start = m->start,
      .end = m->end,
      .bias = m->start - addr,
      .module = mod->slot,
  };
  if (mod->hasvm && !im->nvm++)
    im->vm = mod->slot;
}

int ls_target_refresh(LsTarget *t, LsModules *ms, int learn)
{
  struct ljs_proc *before;
  LsMapping *map;
  size_t n, i;
  int changed;
  if (t->other)
    start_anew(t);
  t->stale = t->other = 0;
  t->refusing = 0;
  if (ls_maps_read(t->pid, &map, &n))
    return -1;
  before = malloc(sizeof(*before));
  if (!before) {
    ls_maps_free(map, n);
    return -1;
  }
  *before = t->image;
  memset(&t->image, 0, sizeof(t->image));
  for (i = 0; i < n; i++)
    add_map(t, ms, &map[i], &learn);
  changed = memcmp(before, &t->image, sizeof(*before)) != 0;
  if (t->refusing > t->refused)
    t->refused = t->refusing;
  free(before);
  ls_maps_free(map, n);
  return changed;
}

int ls_target_trust(LsTarget *t, const LsModule *m, uint64_t g,
                    char why[LS_WHY])
{
  uint64_t l = 0;
  unsigned i;
  for (i = 0; i < t->nvm; i++)
    if (t->vm[i] == g) {
      t->doubts = 0;
      return 1;
    }
  ls_remote_read(t->pid, g + (uint64_t)m->vm.cur_l, &l, m->vm.gc64 ? 8 : 4);
  if (!l) /* Nothing of it runs right now. */
    return 0;
  if (ls_vm_check(t->pid, &m->vm, l, g, why)) {
    t->vm[t->nvm < LS_TARGET_VMS ? t->nvm++ : g % LS_TARGET_VMS] = g;
    t->doubts = 0;
    return 1;
  }
  return ++t->doubts > LS_DOUBTS && !ls_target_ended(t) ? -1 : 0;
}

const struct ljs_map *ls_target_map(const LsTarget *t, uint64_t pc)
{
  uint32_t lo = 0, hi = t->image.nmaps;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (pc < t->image.map[mid].start)
      hi = mid;
    else if (pc >= t->image.map[mid].end)
      lo = mid + 1;
    else
      return &t->image.map[mid];
  }
  return NULL;
}

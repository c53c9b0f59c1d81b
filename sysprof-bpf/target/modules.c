/*
** ELF files that are mapped by the processes we sample.
*/

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "modules.h"
#include "roots.h"
#include "vmcode.h"
#include "vmrows.h"

struct LsModules {
  LsTablesFunc *tables; /* Gets each module's tables. */
  void *ctx;            /* Its first argument. */
  LsModule **v;         /* Number ID is at ID - 1. */
  uint32_t n;
  struct LsLook { /* Files that were only looked at. */
    uint64_t dev, ino;
    int answer; /* Whether it might have a VM; -1: not looked at yet. */
  } * look;
  size_t nlook;
};

LsModules *ls_modules_open(LsTablesFunc *tables, void *ctx)
{
  LsModules *ms = calloc(1, sizeof(*ms));
  if (ms) {
    ms->tables = tables;
    ms->ctx = ctx;
  }
  return ms;
}

static void module_free(LsModule *m)
{
  if (!m)
    return;
  ls_elf_close(m->elf);
  free(m->range);
  free(m->path);
  free(m);
}

void ls_modules_close(LsModules *ms)
{
  uint32_t i;
  if (!ms)
    return;
  for (i = 0; i < ms->n; i++)
    module_free(ms->v[i]);
  free(ms->v);
  free(ms->look);
  free(ms);
}

LsModule *ls_modules_find(const LsModules *ms, uint32_t id)
{
  return id && id <= ms->n ? ms->v[id - 1] : NULL;
}

/* Reads the file of a module: its build-id, rows and VM; passes its tables on.
** On failure less is known of the module.
*/
static int learn(LsModules *ms, LsModule *m)
{
  LsRows rows = {0};
  int err;
  m->nbuildid = ls_elf_buildid(m->elf, m->buildid);
  if (ls_rows_build(m->elf, &rows))
    memset(&rows, 0, sizeof(rows));
  m->hasvm = ls_vm_find(m->elf, &rows, &m->vm, m->why) > 0;
  if (m->hasvm && ls_vmrows(m->elf, &m->vm, &rows))
    m->hasvm = 0;
  ls_roots_add(m->elf, &rows); /* Without memory some stacks are cut. */
  err = ms->tables(ms->ctx, m->id, rows.row, rows.n, m->hasvm ? &m->vm : NULL);
  m->range = rows.range;
  m->nrange = rows.nrange;
  rows.range = NULL;
  ls_rows_free(&rows);
  return err;
}

/* A module from its file, which may be NULL; that is the module's then. */
static LsModule *module_new(LsModules *ms, const LsMapping *map, LsElf *elf)
{
  LsModule *m = calloc(1, sizeof(*m));
  LsModule **v = realloc(ms->v, (ms->n + 1) * sizeof(LsModule *));
  if (v)
    ms->v = v;
  if (!m || !v || !(m->path = strdup(map->path))) {
    ls_elf_close(elf);
    free(m);
    return NULL;
  }
  m->id = ms->n + 1;
  m->dev = map->dev;
  m->ino = map->ino;
  m->elf = elf;
  ms->v[ms->n++] = m;
  if (m->elf && learn(ms, m)) {
    ls_elf_close(m->elf); /* As if it were no module. */
    m->elf = NULL;
  }
  return m;
}

static LsModule *known(const LsModules *ms, const LsMapping *map)
{
  uint32_t i;
  for (i = 0; i < ms->n; i++) {
    LsModule *m = ms->v[i];
    if (m->dev == map->dev && m->ino == map->ino &&
        (map->ino || strcmp(m->path, map->path) == 0))
      return m;
  }
  return NULL;
}

int ls_modules_known(const LsModules *ms, const LsMapping *map)
{
  return map->anon || (!map->ino && !ls_maps_vdso(map)) || known(ms, map) ||
         ms->n >= LS_MODULES_MAX - 1;
}

LsModule *ls_modules_get(LsModules *ms, pid_t pid, const LsMapping *map)
{
  LsModule *m;
  if (map->anon || (!map->ino && !ls_maps_vdso(map)))
    return NULL;
  m = known(ms, map);
  if (m || ms->n >= LS_MODULES_MAX - 1)
    return m;
  return module_new(ms, map, ls_maps_elf(pid, map));
}

const LsModule *ls_modules_expect(LsModules *ms, const char *path)
{
  /* A FIFO would wait for its writer; it is no regular file, anyway. */
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  LsMapping map = {.path = (char *)path, .exec = 1};
  LsModule *m = NULL;
  struct stat st;
  LsElf *elf;
  if (fd < 0)
    return NULL;
  if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
    map.dev = st.st_dev;
    map.ino = st.st_ino;
    if (!ls_modules_known(ms, &map) && (elf = ls_elf_open(fd)) != NULL)
      m = module_new(ms, &map, elf);
  }
  close(fd);
  return m;
}

/* -- Who might have a VM -------------------------------------------------- */

/* How each entry into LuaJIT's interpreter begins: push rbp, rbx, r15, r14. */
static const uint8_t entry[] = {0x55, 0x53, 0x41, 0x57, 0x41, 0x56};

#define ENTRIES 3 /* As many entries, so close together, suggest a VM. */
#define CLOSE   512

/* Is there anything in the code that looks like the VM's entries? */
static int looks_like(const LsElf *e, const LsMapping *map)
{
  uint64_t addr;
  const uint8_t *p, *hit, *first = NULL;
  size_t n;
  int hits = 0;
  if (ls_elf_vaddr(e, map->offset, &addr) || !(p = ls_elf_rest(e, addr, &n)))
    return 0;
  while ((hit = memmem(p, n, entry, sizeof(entry))) != NULL) {
    if (!first || hit - first > CLOSE) {
      first = hit;
      hits = 0;
    }
    if (++hits == ENTRIES)
      return 1;
    n -= (size_t)(hit + 1 - p);
    p = hit + 1;
  }
  return 0;
}

/* What is known of a file that has not been made a module of. */
static int *looked_at(LsModules *ms, const LsMapping *map)
{
  struct LsLook *more;
  size_t i;
  for (i = 0; i < ms->nlook; i++)
    if (ms->look[i].dev == map->dev && ms->look[i].ino == map->ino)
      return &ms->look[i].answer;
  more = realloc(ms->look, (ms->nlook + 1) * sizeof(*more));
  if (!more)
    return NULL;
  ms->look = more;
  more[ms->nlook] = (struct LsLook){map->dev, map->ino, -1};
  return &more[ms->nlook++].answer;
}

int ls_modules_suspect(LsModules *ms, pid_t pid)
{
  LsMapping *map;
  size_t n, i;
  int yes = 0;
  if (ls_maps_read(pid, &map, &n))
    return 0;
  for (i = 0; i < n && !yes; i++) {
    int *answer = map[i].ino ? looked_at(ms, &map[i]) : NULL;
    if (answer && *answer < 0) {
      LsElf *e = ls_maps_elf(pid, &map[i]);
      *answer = e && looks_like(e, &map[i]);
      ls_elf_close(e);
    }
    yes = answer && *answer;
  }
  ls_maps_free(map, n);
  return yes;
}

const LsAddrRange *ls_module_function(const LsModule *m, uint64_t addr)
{
  size_t lo = 0, hi = m->nrange;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (addr < m->range[mid].lo)
      hi = mid;
    else if (addr >= m->range[mid].hi)
      lo = mid + 1;
    else
      return &m->range[mid];
  }
  return NULL;
}

/*
** ELF files that are mapped by the processes we sample.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "hash.h"
#include "modules.h"
#include "suspect.h"

#define FILES_MAX (1u << 16) /* Files that are remembered. */
#define PAGES_MAX 65536      /* Of tables, in the BPF program. */

/* Turns without a mapping until a module is freed: a minute, or two seconds
** when there is little room.
*/
#define IDLE_TURNS 120
#define IDLE_SOON  4

/* A file that was read. */
typedef struct Known {
  LsFileKey key;
  uint64_t id; /* The number of its module. */
} Known;

struct LsModules {
  LsTablesFunc *tables; /* Gets each module's tables. */
  LsDropFunc *drop;     /* Called when they are not needed any more; or NULL. */
  void *ctx;            /* Their first argument. */
  LsModule **v;         /* Number ID is at ID - 1. */
  uint32_t n;
  LsHash known;                  /* Their numbers, by their files. */
  uint32_t slot[LS_MODULES_MAX]; /* Numbers of those that are kept, or 0. */
  uint32_t kept, last;           /* How many; the slot given last. */
  uint64_t pages;                /* Of their tables. */
  LsBudget *budget;
  LsParser *parser; /* What reads files, or NULL: this process does. */
  LsSuspects suspects;
};

/* -- The set -------------------------------------------------------------- */

LsModules *ls_modules_open(LsTablesFunc *tables, LsDropFunc *drop, void *ctx,
                           LsParser *parser)
{
  LsModules *ms = calloc(1, sizeof(*ms));
  if (!ms)
    return NULL;
  ms->tables = tables;
  ms->drop = drop;
  ms->ctx = ctx;
  ms->parser = ms->suspects.parser = parser;
  ms->budget = ls_budget_open();
  if (ms->budget)
    return ms;
  free(ms);
  return NULL;
}

/* Free what is only needed while the module is mapped. */
static void module_drop(LsModule *m)
{
  ls_elf_close(m->elf);
  free(m->range);
  free(m->role);
  free(m->needed);
  m->elf = NULL;
  m->range = NULL;
  m->role = NULL;
  m->needed = NULL;
  m->nrange = 0;
}

static void module_free(LsModule *m)
{
  module_drop(m);
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
  ls_hash_free(&ms->known);
  ls_budget_close(ms->budget);
  ls_suspects_free(&ms->suspects);
  free(ms);
}

LsModule *ls_modules_find(const LsModules *ms, uint32_t id)
{
  return id && id <= ms->n ? ms->v[id - 1] : NULL;
}

LsModule *ls_modules_slot(const LsModules *ms, uint32_t slot)
{
  return slot < LS_MODULES_MAX ? ls_modules_find(ms, ms->slot[slot]) : NULL;
}

uint32_t ls_modules_kept(const LsModules *ms)
{
  return ms->kept;
}

/* A free slot, or 0. One that was given back is used again as late as
** possible.
*/
static uint32_t free_slot(LsModules *ms)
{
  uint32_t i, slot;
  for (i = 1; i < LS_MODULES_MAX; i++) {
    slot = (ms->last + i) % LS_MODULES_MAX;
    if (slot && !ms->slot[slot])
      return ms->last = slot;
  }
  return 0;
}

/* -- What functions of a VM do -------------------------------------------- */

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

LsRole ls_module_role(const LsModule *m, uint64_t addr)
{
  const LsAddrRange *range = ls_module_function(m, addr);
  return range && m->role ? (LsRole)m->role[range - m->range] : LS_ROLE_NONE;
}

int ls_module_collector(const LsModule *m)
{
  return m->collector;
}

/* -- Reading -------------------------------------------------------------- */

/* Pages that rows take: see struct ljs_page. */
static uint64_t pages_of(size_t n)
{
  uint64_t pages = (n + LJS_PAGE_ROWS - 1) / LJS_PAGE_ROWS;
  return pages + (pages + LJS_PAGE_PCS - 1) / LJS_PAGE_PCS;
}

/* What of a file is the module's, and not the BPF program's. */
static void take(LsModule *m, LsLearned *l)
{
  m->elf = l->elf;
  memcpy(m->buildid, l->buildid, sizeof(m->buildid));
  m->nbuildid = l->nbuildid;
  m->hasvm = l->hasvm && !m->distrusted;
  m->vm = l->vm;
  memcpy(m->why, l->why, sizeof(m->why));
  m->range = l->rows.range;
  m->nrange = l->rows.nrange;
  m->role = l->role;
  m->collector = l->collector;
  m->needed = l->needed;
  m->nneeded = l->neededbytes;
  l->elf = NULL;
  l->rows.range = NULL;
  l->role = NULL;
  l->needed = NULL;
}

/* What of a file is too much, or NULL. */
static const char *too_much(const LsModules *ms, const LsModule *m,
                            const LsOwner *owner)
{
  const char *why = ls_budget_exceeds(ms->budget, owner, &m->cost);
  if (!why && ms->pages + m->cost.pages > PAGES_MAX)
    why = "larger unwind tables than there is room for";
  return why;
}

/* Takes what was learned of a module's file, and passes its tables on. What is
** too much is left out. On failure less is known of the module.
*/
static int keep(LsModules *ms, LsModule *m, const LsOwner *owner, LsLearned *l)
{
  const char *why;
  int err;
  m->cost.bytes = ls_learned_names(l);
  m->cost.pages = pages_of(l->rows.n);
  take(m, l);
  if (ls_elf_over(m->elf))
    m->refused = "a file that is too large";
  why = too_much(ms, m, owner);
  if (why)
    m->refused = why;
  err = why ? -1
            : ms->tables(ms->ctx, m->slot, l->rows.row, l->rows.n,
                         m->hasvm ? &m->vm : NULL);
  ls_learned_free(l);
  return err;
}

/* Why a file could not be read, or NULL if that is nobody's fault. */
static const char *why_unread(int err)
{
  switch (err) {
  case ETIMEDOUT:
    return "files that take too long to read";
  case EPROTO:
    return "a file that ends who reads it";
  case E2BIG:
    return "a file that is too large";
  case ECANCELED:
    return ""; /* There was no time for it. */
  default:
    return NULL;
  }
}

/* Reads the file of a module by FD, in ROOT. *CPU: see ls_parser_learn. */
static int learn(LsModules *ms, LsModule *m, const LsOwner *owner, int fd,
                 const char *root, uint64_t *cpu)
{
  LsLearned l;
  if (ls_parser_learn(ms->parser, fd, root, m->path, &l, cpu) == 0)
    return keep(ms, m, owner, &l);
  m->refused = why_unread(errno);
  return -1;
}

/* A module of a file that was not met before. */
static LsModule *module_new(LsModules *ms, const LsFileKey *key,
                            const char *path)
{
  LsModule *m = calloc(1, sizeof(*m));
  LsModule **v = realloc(ms->v, (ms->n + 1) * sizeof(LsModule *));
  Known *k = NULL;
  if (v)
    ms->v = v;
  if (m && v && (m->path = strdup(path)) != NULL)
    k = ls_hash_put(&ms->known, key, sizeof(*key), sizeof(*k));
  if (!k) {
    if (m)
      free(m->path);
    free(m);
    return NULL;
  }
  m->id = ms->n + 1;
  m->key = *key;
  k->id = m->id;
  ms->v[ms->n++] = m;
  return m;
}

/* Nanoseconds of CPU time of this thread. */
static uint64_t own_cpu(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Gives a module its slot, and reads its file by FD. */
static void module_load(LsModules *ms, LsModule *m, const LsOwner *owner,
                        int fd, const char *root, int fresh)
{
  uint64_t before = ls_budget_now(), own = own_cpu(), other = 0;
  m->slot = free_slot(ms);
  m->refused = NULL;
  memset(&m->cost, 0, sizeof(m->cost));
  m->idle = 0;
  if (!m->slot || learn(ms, m, owner, fd, root, &other)) {
    /* As if it were no module. */
    module_drop(m);
    memset(&m->cost, 0, sizeof(m->cost));
    m->slot = 0;
    m->noelf = m->refused == NULL;
  } else {
    ms->slot[m->slot] = m->id;
    ms->kept++;
    ms->pages += m->cost.pages;
  }
  m->cost.ns = ls_budget_now() - before;
  m->cost.cpu = other == UINT64_MAX ? m->cost.ns : own_cpu() - own + other;
  m->owned = owner != NULL;
  if (owner)
    m->owner = *owner;
  ls_budget_charge(ms->budget, owner, &m->cost, fresh);
  if (!m->slot)
    ls_budget_return(ms->budget, owner, &m->cost);
}

/* Frees what is kept of a module. */
static void module_unload(LsModules *ms, LsModule *m)
{
  if (ms->drop)
    ms->drop(ms->ctx, m->slot);
  ms->slot[m->slot] = 0;
  ms->kept--;
  ms->pages -= m->cost.pages;
  ls_budget_return(ms->budget, m->owned ? &m->owner : NULL, &m->cost);
  m->slot = 0;
  module_drop(m);
}

/* -- Files ---------------------------------------------------------------- */

/* What distinguishes a file, and its state, from others. */
static LsFileKey file_key(const struct stat *st)
{
  LsFileKey key = {st->st_dev, st->st_ino, (uint64_t)st->st_size,
                   (uint64_t)st->st_ctim.tv_sec * 1000000000 +
                       (uint64_t)st->st_ctim.tv_nsec};
  return key;
}

/* The module of a file that was met before, or NULL. */
static LsModule *module_met(const LsModules *ms, const LsFileKey *key)
{
  const Known *k = ls_hash_find(&ms->known, key, sizeof(*key), sizeof(*k));
  return k ? ls_modules_find(ms, (uint32_t)k->id) : NULL;
}

/* The identity of a mapping's file. Returns -1 if it has none. */
static int mapped_file(pid_t pid, const LsMapping *map, LsFileKey *key)
{
  struct stat st;
  memset(key, 0, sizeof(*key));
  if (ls_maps_vdso(map)) {
    key->size = map->end - map->start;
    return 0;
  }
  if (map->anon || !map->ino || ls_maps_stat(pid, map, &st))
    return -1;
  *key = file_key(&st);
  return 0;
}

/* Open the file of a mapping if it is that of *KEY; the vDSO has none. */
static int open_mapped(pid_t pid, const LsMapping *map, const LsFileKey *key)
{
  int fd = ls_maps_open(pid, map);
  LsFileKey now;
  struct stat st;
  if (fd < 0 || ls_maps_vdso(map))
    return fd;
  if (fstat(fd, &st) == 0) {
    now = file_key(&st);
    if (memcmp(&now, key, sizeof(now)) == 0)
      return fd;
  }
  close(fd);
  errno = ESTALE;
  return -1;
}

static int same_owner(const LsOwner *a, const LsOwner *b)
{
  return a->pid == b->pid && a->start == b->start;
}

LsModule *ls_modules_get(LsModules *ms, const LsOwner *owner,
                         const LsMapping *map, int read, const char **why)
{
  char root[64];
  LsFileKey key;
  LsModule *m;
  int fresh, fd;
  *why = NULL;
  if (mapped_file(owner->pid, map, &key))
    return NULL;
  m = module_met(ms, &key);
  if (m && (m->slot || m->noelf))
    return m;
  if (!read) {
    *why = "";
    return NULL;
  }
  if (m && m->refused && *m->refused && same_owner(&m->owner, owner)) {
    *why = m->refused;
    return NULL;
  }
  fresh = !m;
  *why = ls_budget_refuse(ms->budget, owner, fresh);
  if (!*why && (fresh ? ms->n >= FILES_MAX : 0))
    *why = "more files than can be remembered";
  if (!*why && ms->kept >= LS_MODULES_MAX - 1)
    *why = "more files than there is room for";
  if (*why || (fresh && !(m = module_new(ms, &key, map->path))))
    return NULL;
  fd = open_mapped(owner->pid, map, &key);
  if (fd >= 0) {
    snprintf(root, sizeof(root), "/proc/%d/root", (int)owner->pid);
    module_load(ms, m, owner, fd, root, fresh);
    close(fd);
  } else {
    m->noelf = errno == ENOEXEC; /* It may have ended, or the file changed. */
    ls_budget_charge(ms->budget, owner, &m->cost, fresh);
    ls_budget_return(ms->budget, owner, &m->cost);
  }
  *why = m->refused;
  return m;
}

const LsModule *ls_modules_expect(LsModules *ms, const char *path)
{
  int fd = ls_file_open("/", path);
  LsModule *m = NULL;
  LsFileKey key;
  struct stat st;
  if (fd < 0)
    return NULL;
  if (!fstat(fd, &st)) {
    key = file_key(&st);
    if (!module_met(ms, &key) && (m = module_new(ms, &key, path)) != NULL)
      module_load(ms, m, NULL, fd, "", 1);
  }
  close(fd);
  return m;
}

/* -- Life ----------------------------------------------------------------- */

void ls_modules_turn(LsModules *ms)
{
  uint32_t i;
  for (i = 1; i < LS_MODULES_MAX; i++)
    if (ms->slot[i])
      ms->v[ms->slot[i] - 1]->idle++;
}

void ls_modules_use(LsModules *ms, uint32_t slot)
{
  LsModule *m = ls_modules_slot(ms, slot);
  if (m)
    m->idle = 0;
}

void ls_modules_sweep(LsModules *ms)
{
  int tight = ms->kept > LS_MODULES_MAX / 4 || ms->pages > 16384;
  unsigned most = tight ? IDLE_SOON : IDLE_TURNS;
  uint32_t i;
  for (i = 1; i < LS_MODULES_MAX; i++)
    if (ms->slot[i] && ms->v[ms->slot[i] - 1]->idle > most)
      module_unload(ms, ms->v[ms->slot[i] - 1]);
}

int ls_modules_suspect(LsModules *ms, pid_t pid)
{
  return ls_suspect(&ms->suspects, pid);
}

/*
** A process under ptrace.
*/

#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols.h"
#include "tracee.h"

/* -- Tables --------------------------------------------------------------- */

/* Stands in for the BPF program: takes its tables. */
struct TraceeTables {
  WalkModule *module;
  uint32_t n;
};

static int take_tables(void *ctx, uint32_t id, const struct ljs_row *row,
                       size_t n, const struct ljs_vm *vm)
{
  struct TraceeTables *s = ctx;
  WalkModule *m = realloc(s->module, (id + 1) * sizeof(*m));
  ck_assert_ptr_nonnull(m);
  s->module = m;
  memset(m + s->n, 0, (id + 1 - s->n) * sizeof(*m));
  s->n = id + 1;
  m += id;
  m->m.nrows = (uint32_t)n;
  m->m.hasvm = vm != NULL;
  if (vm)
    m->m.vm = *vm;
  m->row = malloc(n * sizeof(*row) + 1);
  ck_assert_ptr_nonnull(m->row);
  if (n)
    memcpy(m->row, row, n * sizeof(*row));
  return 0;
}

static int read_walk(void *ctx, void *dst, uint32_t n, uint64_t addr)
{
  return tracee_read(ctx, dst, n, addr);
}

void tracee_refresh(Tracee *t)
{
  const struct ljs_proc *im = &t->target->image;
  uint32_t i;
  ck_assert_int_ge(ls_target_refresh(t->target, t->modules, LS_MODULES_MAX), 0);
  t->in = (WalkInput){.read = read_walk,
                      .ctx = t,
                      .proc = im,
                      .module = t->tables->module,
                      .nmodule = t->tables->n};
  t->vm = NULL;
  for (i = 0; im->nvm && i < im->nmaps; i++) {
    if (im->map[i].module == im->vm) {
      t->vmmap = &im->map[i];
      t->vm = &t->tables->module[im->vm].m.vm;
      t->lo = t->vm->lo + t->vmmap->bias;
      t->hi = t->vm->hi + t->vmmap->bias;
      break;
    }
  }
}

/* -- Life ----------------------------------------------------------------- */

/* It has stopped: a new moment. Returns 0 if it has ended. */
static int stopped(Tracee *t, int *status)
{
  pid_t pid;
  do
    pid = waitpid(t->pid, status, __WALL);
  while (pid < 0 && errno == EINTR);
  ck_assert_int_eq(pid, t->pid);
  if (!WIFSTOPPED(*status)) {
    t->ended = 1;
    return 0;
  }
  ck_assert_int_eq(ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs), 0);
  t->moment++;
  return 1;
}

/* The signal that it has stopped for and is to be given, or 0. */
static int signal_of(int status)
{
  int sig = WSTOPSIG(status);
  return status >> 16 || sig == SIGTRAP || sig == (SIGTRAP | 0x80) ? 0 : sig;
}

Tracee *tracee_start(const char *const *argv)
{
  Tracee *t = calloc(1, sizeof(*t));
  int status;
  ck_assert_ptr_nonnull(t);
  t->pid = fork();
  ck_assert_int_ge(t->pid, 0);
  if (t->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    raise(SIGSTOP);
    /* A program that was built to look for leaks cannot while it is traced. */
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    execvp(argv[0], (char **)(uintptr_t)argv);
    _exit(127);
  }
  ck_assert_int_eq(waitpid(t->pid, &status, WUNTRACED), t->pid);
  ck_assert_int_eq(
      ptrace(PTRACE_SEIZE, t->pid, NULL,
             PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL),
      0);
  kill(t->pid, SIGCONT);
  do {
    ck_assert_int_eq(waitpid(t->pid, &status, 0), t->pid);
    ck_assert_msg(WIFSTOPPED(status), "%s cannot be run", argv[0]);
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
      break;
    ck_assert_int_eq(ptrace(PTRACE_CONT, t->pid, NULL, 0), 0);
  } while (1);
  t->moment = 1;
  t->tables = calloc(1, sizeof(*t->tables));
  t->modules = ls_modules_open(take_tables, NULL, t->tables, NULL);
  t->target = ls_target_open(t->pid);
  ck_assert(t->tables && t->modules && t->target);
  ck_assert_int_eq(ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs), 0);
  tracee_refresh(t);
  return t;
}

void tracee_end(Tracee *t)
{
  uint32_t i;
  if (!t->ended) {
    kill(t->pid, SIGKILL);
    waitpid(t->pid, NULL, __WALL);
  }
  ls_target_close(t->target);
  ls_modules_close(t->modules);
  for (i = 0; i < t->tables->n; i++)
    free(t->tables->module[i].row);
  free(t->tables->module);
  free(t->tables);
  free(t);
}

/* -- Running -------------------------------------------------------------- */

int tracee_mark(Tracee *t, char name[TRACEE_NAME])
{
  int status = 0, sig = 0;
  while (!t->ended) {
    char path[TRACEE_NAME] = "";
    uint32_t i;
    ck_assert_int_eq(ptrace(PTRACE_SYSCALL, t->pid, NULL, sig), 0);
    if (!stopped(t, &status))
      break;
    sig = signal_of(status);
    if (WSTOPSIG(status) != (SIGTRAP | 0x80) ||
        t->regs.orig_rax != SYS_unlink ||
        (int64_t)t->regs.rax != -ENOSYS) /* It comes from there. */
      continue;
    for (i = 0; i < sizeof(path) - 1; i++)
      if (tracee_read(t, path + i, 1, t->regs.rdi + i) || !path[i])
        break;
    path[i] = '\0';
    if (strncmp(path, "mark:", 5) != 0)
      continue;
    memcpy(name, path + 5, strlen(path + 5) + 1);
    tracee_refresh(t);
    return 1;
  }
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                "the program failed");
  return 0;
}

/* Is it about to change its mappings? */
static int maps(Tracee *t)
{
  uint8_t code[2];
  uint64_t nr = t->regs.rax;
  return (nr == SYS_mmap || nr == SYS_mprotect || nr == SYS_munmap) &&
         !tracee_read(t, code, 2, t->regs.rip) && code[0] == 0x0f &&
         code[1] == 0x05;
}

int tracee_step(Tracee *t)
{
  int status, sig = 0, changes = maps(t);
  t->signalled = 0;
  do {
    ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, t->pid, NULL, sig), 0);
    if (!stopped(t, &status))
      return 0;
    sig = signal_of(status);
    t->signalled |= sig;
  } while (sig);
  if (changes)
    tracee_refresh(t);
  return 1;
}

void tracee_leave(Tracee *t)
{
  int status;
  ck_assert_int_eq(ptrace(PTRACE_DETACH, t->pid, NULL, SIGSTOP), 0);
  ck_assert_int_eq(waitpid(t->pid, &status, WUNTRACED), t->pid);
  ck_assert(WIFSTOPPED(status));
}

/* -- Memory --------------------------------------------------------------- */

/* The page that ADDR is in, or NULL. */
static const uint8_t *page(Tracee *t, uint64_t addr)
{
  uint64_t base = addr & ~4095ull;
  uint32_t i = (uint32_t)((base >> 12) ^ (base >> 24)) % TRACEE_PAGES;
  struct iovec to = {t->data[i], 4096};
  struct iovec from = {(void *)(uintptr_t)base, 4096};
  if (t->when[i] == t->moment && (t->page[i] & ~1ull) == base)
    return t->page[i] & 1 ? t->data[i] : NULL;
  t->when[i] = t->moment;
  t->page[i] = base;
  if (process_vm_readv(t->pid, &to, 1, &from, 1, 0) != 4096)
    return NULL;
  t->page[i] |= 1;
  return t->data[i];
}

int tracee_read(Tracee *t, void *dst, uint32_t n, uint64_t addr)
{
  uint8_t *to = dst;
  while (n) {
    uint32_t ofs = addr & 4095, part = 4096 - ofs < n ? 4096 - ofs : n;
    const uint8_t *p = page(t, addr);
    if (!p)
      return -1;
    memcpy(to, p + ofs, part);
    to += part;
    addr += part;
    n -= part;
  }
  return 0;
}

uint64_t tracee_uint(Tracee *t, uint64_t addr, uint32_t n)
{
  uint64_t v = 0;
  return tracee_read(t, &v, n, addr) ? 0 : v;
}

uint64_t tracee_ref(Tracee *t, uint64_t addr)
{
  return tracee_uint(t, addr, t->vm->gc64 ? 8 : 4);
}

/* -- Looking -------------------------------------------------------------- */

void tracee_walk(Tracee *t, Walk *out)
{
  t->in.pc = t->regs.rip;
  t->in.sp = t->regs.rsp;
  t->in.bp = t->regs.rbp;
  t->in.bx = t->regs.rbx;
  t->in.dx = t->regs.rdx;
  walk(&t->in, out);
}

const char *tracee_where(Tracee *t, uint64_t addr)
{
  static char text[8][160];
  static unsigned turn;
  char *s = text[turn++ % 8];
  const struct ljs_map *map = walk_map(&t->in, addr);
  const char *name, *file;
  uint64_t start, size;
  LsModule *m;
  if (!map) {
    snprintf(s, 160, "%#" PRIx64, addr);
    return s;
  }
  m = ls_modules_slot(t->modules, map->module);
  addr -= map->bias;
  file = strrchr(m->path, '/') ? strrchr(m->path, '/') + 1 : m->path;
  if (ls_symbols_find(m->elf, addr, &name, &start, &size) == 0)
    snprintf(s, 160, "%s+%#" PRIx64 " (%s)", name, addr - start, file);
  else if (t->vm && addr + map->bias >= t->lo && addr + map->bias < t->hi)
    snprintf(s, 160, "VM+%#" PRIx64 " (%s)", addr - t->vm->lo, file);
  else
    snprintf(s, 160, "%#" PRIx64 " (%s)", addr, file);
  return s;
}

uint64_t tracee_function(Tracee *t, uint64_t addr)
{
  const struct ljs_map *map = walk_map(&t->in, addr);
  const char *name;
  uint64_t start, size;
  const LsAddrRange *func;
  LsModule *m;
  if (!map)
    return 0; /* Made at run time. */
  m = ls_modules_slot(t->modules, map->module);
  if (ls_symbols_find(m->elf, addr - map->bias, &name, &start, &size) == 0)
    return start + map->bias;
  func = ls_module_function(m, addr - map->bias);
  return func ? func->lo + map->bias : addr;
}

/*
** A LuaJIT process that is stopped and looked at.
*/

#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live.h"
#include "luaproto.h"
#include "vmcode.h"

/* -- The process ---------------------------------------------------------- */

void live_layout(const char *path, struct ljs_vm *vm)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC), found;
  LsElf *e = fd < 0 ? NULL : ls_elf_open(fd);
  LsRows rows;
  char why[LS_WHY];
  ck_assert_msg(e != NULL, "%s cannot be opened", path);
  close(fd);
  ck_assert_int_eq(ls_rows_build(e, &rows), 0);
  found = ls_vm_find(e, &rows, vm, why);
  ck_assert_msg(found == 1, "%s: %d %s", path, found, why);
  ls_rows_free(&rows);
  ls_elf_close(e);
}

void live_start(Live *p, const char *const *argv, const char *module)
{
  int fd[2];
  memset(p, 0, sizeof(*p));
  ck_assert_int_eq(pipe(fd), 0);
  p->pid = fork();
  ck_assert_int_ge(p->pid, 0);
  if (p->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(fd[1], 1);
    close(fd[0]);
    close(fd[1]);
    execvp(argv[0], (char **)(uintptr_t)argv);
    _exit(127);
  }
  close(fd[1]);
  p->out = fdopen(fd[0], "r");
  ck_assert_ptr_nonnull(p->out);
  live_layout(module ? module : argv[0], &p->vm);
}

void live_end(Live *p)
{
  kill(p->pid, SIGKILL);
  kill(p->pid, SIGCONT);
  waitpid(p->pid, NULL, 0);
  fclose(p->out);
}

int live_wait(Live *p)
{
  int status;
  ck_assert_int_eq(waitpid(p->pid, &status, WUNTRACED), p->pid);
  if (WIFSTOPPED(status))
    return 1;
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                "the process failed");
  return 0;
}

void live_continue(Live *p)
{
  kill(p->pid, SIGCONT);
}

/* -- Memory --------------------------------------------------------------- */

/* An unsigned number of the process; it must be there. */
static uint64_t live_uint(const Live *p, uint64_t addr, size_t n)
{
  uint64_t v = 0;
  ck_assert_msg(ls_remote_read(p->pid, addr, &v, n) == 0,
                "nothing at %#" PRIx64, addr);
  return v;
}

static uint64_t live_ref(const Live *p, uint64_t addr)
{
  return live_uint(p, addr, p->vm.gc64 ? 8 : 4);
}

/* The range of a mapping, and its offset in the file. */
static void live_range(const char *line, uint64_t *lo, uint64_t *hi,
                       uint64_t *ofs)
{
  char *end;
  *lo = strtoull(line, &end, 16);
  *hi = strtoull(end + 1, &end, 16);
  *ofs = strtoull(end + 6, &end, 16); /* Behind the permissions. */
}

/* The memory of the stack: from where the process has stopped, in a system
** call, to the end of the mapping.
*/
static void live_stack(const Live *p, uint64_t *lo, uint64_t *hi)
{
  char path[64], line[512], *sp;
  uint64_t from, ofs;
  FILE *f;
  snprintf(path, sizeof(path), "/proc/%d/syscall", (int)p->pid);
  f = fopen(path, "r");
  ck_assert_ptr_nonnull(f);
  ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
  fclose(f);
  sp = strrchr(line, ' '); /* The last but one: the stack pointer. */
  ck_assert_ptr_nonnull(sp);
  *sp = '\0';
  sp = strrchr(line, ' ');
  ck_assert_ptr_nonnull(sp);
  *lo = strtoull(sp, NULL, 16);
  *hi = 0;
  snprintf(path, sizeof(path), "/proc/%d/maps", (int)p->pid);
  f = fopen(path, "r");
  ck_assert_ptr_nonnull(f);
  while (fgets(line, sizeof(line), f)) {
    live_range(line, &from, hi, &ofs);
    if (*lo >= from && *lo < *hi)
      break;
  }
  fclose(f);
  ck_assert_msg(*lo < *hi, "no stack");
  *lo &= ~7ull;
}

/* Whether a coroutine is at an address: another object may have the same word
** where a coroutine has its C frame, such as that frame itself.
*/
static bool live_iscoroutine(const Live *p, uint64_t l)
{
  uint8_t type = 0;
  return ls_remote_read(p->pid, l + p->vm.l_gct, &type, 1) == 0 &&
         type == LS_GCT_THREAD;
}

/* Where a qword is a coroutine that says its C frame is here, is one. */
void live_find(Live *p)
{
  static uint8_t stack[8 << 20];
  uint64_t lo, hi, at;
  live_stack(p, &lo, &hi);
  ck_assert_uint_le(hi - lo, sizeof(stack));
  ck_assert_int_eq(ls_remote_read(p->pid, lo, stack, hi - lo), 0);
  for (at = 0; at + p->vm.frame < hi - lo; at += 8) {
    uint64_t l = 0, cframe;
    memcpy(&l, stack + at + p->vm.save_l, p->vm.gc64 ? 8 : 4);
    if (l < 4096 || l % 8 != 0 || l >> 47 ||
        ls_remote_read(p->pid, l + p->vm.l_cframe, &cframe, 8) != 0 ||
        (cframe & ~3ull) != lo + at || !live_iscoroutine(p, l))
      continue;
    p->l = l;
    p->g = live_ref(p, l + p->vm.l_glref);
    p->frame = lo + at;
    return;
  }
  ck_abort_msg("no C frame of the VM on the stack");
}

/* -- The Lua stack -------------------------------------------------------- */

enum { LUA, C, CONT, VARG };

/* One frame: its function, its link, and where the one below has its base. */
typedef struct Frame {
  uint64_t fn, link, below, pc;
} Frame;

static Frame live_frame(const Live *p, uint64_t base)
{
  Frame f;
  uint64_t slot = live_uint(p, base - 8, 8), size;
  if (p->vm.gc64) {
    f.fn = live_uint(p, base - 16, 8) & ((1ull << 47) - 1);
    f.link = slot;
  } else {
    f.fn = (uint32_t)slot;
    f.link = slot >> 32;
  }
  f.pc = 0;
  size = f.link & ~7ull;
  if ((f.link & 3) == LUA) {
    f.pc = f.link;
    size = 8 * (1 + p->vm.gc64 + LS_BC_A(live_uint(p, f.pc - 4, 4)));
  } else if ((f.link & 7) == CONT) {
    f.pc = p->vm.gc64 ? live_uint(p, base - 24, 8)
                      : live_uint(p, base - 16 + 4, 4);
  }
  f.below = base - size;
  return f;
}

static void live_frameout(const Live *p, const Frame *f, uint64_t pc,
                          struct ljs_stack *s)
{
  const struct ljs_vm *vm = &p->vm;
  struct ljs_frame *out = &s->frame[s->nframes++];
  memset(out, 0, sizeof(*out));
  out->fn = f->fn;
  out->x = (uint32_t)live_uint(p, f->fn + vm->fn_ffid, 1);
  if (out->x != 0) {
    out->kind = LJS_FRAME_BUILTIN;
    out->addr = live_uint(p, f->fn + vm->fn_f, 8);
    return;
  }
  out->kind = LJS_FRAME_LUA;
  out->addr = live_ref(p, f->fn + vm->fn_pc) - vm->pt_size;
  out->check = LJS_CHECK(
      ljs_check_proto(live_ref(p, out->addr + vm->pt_chunkname),
                      (uint32_t)live_uint(p, out->addr + vm->pt_firstline, 4),
                      (uint32_t)live_uint(p, out->addr + vm->pt_sizebc, 4)));
  if (pc)
    out->x = (uint32_t)(pc - 4 - (out->addr + vm->pt_size)) / 4;
  else
    out->flags |= LJS_FLAG_NOPC;
}

void live_walk(const Live *p, struct ljs_stack *s)
{
  uint64_t stack = live_ref(p, p->l + p->vm.l_stack), pc = 0;
  uint64_t base = live_uint(p, p->l + p->vm.l_base, 8);
  int upper = 0; /* The frame above was the upper half of this one. */
  memset(s, 0, sizeof(*s));
  s->pid = (uint32_t)p->pid;
  s->g = p->g;
  while (base > stack + 8u * (1 + p->vm.gc64) && s->nframes < 300) {
    Frame f = live_frame(p, base);
    if (!upper)
      live_frameout(p, &f, pc, s);
    upper = (f.link & 7) == VARG;
    if (!upper)
      pc = f.pc;
    ck_assert_uint_lt(f.below, base);
    base = f.below;
  }
}

/*
** Files that other processes read: they learn what this one would, can do
** nothing else, and may end at any time.
*/

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#include "pack.h"
#include "parser.h"
#include "sandbox.h"
#include "suites.h"
#include "symbols.h"

static int open_file(const char *path)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
  return fd;
}

/* -- The same -------------------------------------------------------------- */

static void same_bytes(const void *a, const void *b, size_t n)
{
  ck_assert(n == 0 || memcmp(a, b, n) == 0);
}

static void same_symbols(LsElf *a, LsElf *b)
{
  const LsSymbolTable *s = ls_symbols_get(a), *t = ls_symbols_get(b);
  ck_assert_ptr_nonnull(s);
  ck_assert_ptr_nonnull(t);
  ck_assert_uint_eq(s->n, t->n);
  ck_assert_uint_eq(s->ntext, t->ntext);
  same_bytes(s->piece, t->piece, s->n * sizeof(*s->piece));
  same_bytes(s->text, t->text, s->ntext);
}

static void same_file(const LsElf *a, const LsElf *b)
{
  LsSegment seg[2][LS_ELF_SEGMENTS];
  size_t n = ls_elf_segments(a, seg[0]);
  ck_assert_uint_eq(n, ls_elf_segments(b, seg[1]));
  ck_assert_uint_gt(n, 0);
  same_bytes(seg[0], seg[1], n * sizeof(seg[0][0]));
  ck_assert_int_eq(ls_elf_over(a), ls_elf_over(b));
}

static void same(const LsLearned *a, const LsLearned *b)
{
  same_file(a->elf, b->elf);
  same_symbols(a->elf, b->elf);
  ck_assert_uint_eq(a->nbuildid, b->nbuildid);
  same_bytes(a->buildid, b->buildid, a->nbuildid);
  ck_assert_uint_eq(a->rows.n, b->rows.n);
  same_bytes(a->rows.row, b->rows.row, a->rows.n * sizeof(struct ljs_row));
  ck_assert_uint_eq(a->rows.nrange, b->rows.nrange);
  same_bytes(a->rows.range, b->rows.range,
             a->rows.nrange * sizeof(LsAddrRange));
  ck_assert_int_eq(a->hasvm, b->hasvm);
  if (a->hasvm)
    same_bytes(&a->vm, &b->vm, sizeof(a->vm));
  ck_assert_str_eq(a->why, b->why);
  ck_assert_int_eq(a->collector, b->collector);
  ck_assert_uint_eq(a->rolebytes, b->rolebytes);
  same_bytes(a->role, b->role, a->rolebytes);
  ck_assert_uint_eq(a->neededbytes, b->neededbytes);
  same_bytes(a->needed, b->needed, a->neededbytes);
}

/* All that is known of a file is the same, whoever has read it. */
static void check_file(LsParser *p, const char *path)
{
  int fd = open_file(path);
  LsLearned here, there;
  uint64_t cpu;
  ck_assert_int_eq(ls_parser_learn(NULL, fd, "", path, &here, &cpu), 0);
  ck_assert_msg(ls_parser_learn(p, fd, "", path, &there, &cpu) == 0, "%s: %s",
                path, strerror(errno));
  ck_assert(cpu > 0 && cpu < UINT64_MAX);
  same(&here, &there);
  ck_assert_int_eq(ls_parser_suspect(p, fd, 0), ls_parser_suspect(NULL, fd, 0));
  ls_learned_free(&here);
  ls_learned_free(&there);
  close(fd);
}

START_TEST(test_same)
{
  LsParser *p = ls_parser_start();
  ck_assert_msg(p != NULL, "%s", strerror(errno));
  check_file(p, SAMPLE_EH);
  check_file(p, SAMPLE_DEBUG);
  check_file(p, LUAJIT);
  check_file(p, "/proc/self/exe");
  ls_parser_end(p);
}
END_TEST

/* What is no ELF file, and what cannot be read at all. */
START_TEST(test_no_elf)
{
  LsParser *p = ls_parser_start();
  const char *const path[] = {"/dev/null", "/", "/proc/self/maps"};
  uint64_t cpu;
  LsLearned l;
  size_t i;
  ck_assert_ptr_nonnull(p);
  for (i = 0; i < 3; i++) {
    int fd = open_file(path[i]);
    ck_assert_int_eq(ls_parser_learn(p, fd, "", path[i], &l, &cpu), -1);
    ck_assert_msg(errno == ENOEXEC, "%s: %s", path[i], strerror(errno));
    ck_assert_int_eq(ls_parser_suspect(p, fd, 0), -1);
    close(fd);
  }
  ls_parser_end(p);
}
END_TEST

/* -- What they cannot do --------------------------------------------------- */

/* In the process that reads: 0, or the number of what it could do. */
static int try_all(void)
{
  static char data[4096] __attribute__((aligned(4096)));
  char *const argv[] = {(char *)"/bin/true", NULL};
  if (open("/etc/passwd", O_RDONLY) >= 0 || errno != EPERM)
    return 1;
  if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM)
    return 2;
  if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
           0) != MAP_FAILED)
    return 3;
  if (mprotect(data, 4096, PROT_READ | PROT_EXEC) == 0)
    return 4;
  if (syscall(SYS_fork) >= 0 || syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0)
    return 5;
  if (execv(argv[0], argv) == 0 || errno != EPERM)
    return 6;
  if (kill(getppid(), 0) == 0 || syscall(SYS_ptrace, 0, 0, 0, 0) == 0)
    return 7;
  if (syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0) >= 0)
    return 8;
  if (syscall(SYS_unlink, "/nothing") == 0 || errno != EPERM)
    return 9;
  return setuid(0) == 0 ? 10 : 0;
}

/* The number at the line NAME of the status of a process. */
static unsigned long status_of(pid_t pid, const char *name, int base)
{
  char path[64], line[256];
  unsigned long value = ULONG_MAX;
  FILE *f;
  snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
  f = fopen(path, "r");
  ck_assert_ptr_nonnull(f);
  while (fgets(line, sizeof(line), f))
    if (strncmp(line, name, strlen(name)) == 0)
      value = strtoul(line + strlen(name), NULL, base);
  fclose(f);
  return value;
}

START_TEST(test_sandbox)
{
  int pair[2], status;
  char byte = 0;
  pid_t pid;
  ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  pid = fork();
  if (pid == 0) {
    int bad = ls_sandbox_enter(pair[1]);
    bad = bad || write(LS_SANDBOX_FD, "", 1) != 1 ||
          read(LS_SANDBOX_FD, &byte, 1) != 1 || ls_sandbox_close();
    _exit(bad ? 99 : try_all());
  }
  ck_assert_int_eq(read(pair[0], &byte, 1), 1);
  if (geteuid() == 0)
    ck_assert_uint_eq(status_of(pid, "Uid:", 10), 65534);
  ck_assert_uint_eq(status_of(pid, "CapPrm:", 16), 0);
  ck_assert_uint_eq(status_of(pid, "NoNewPrivs:", 10), 1);
  ck_assert_int_eq(write(pair[0], "", 1), 1);
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x",
                (unsigned)status);
}
END_TEST

/* -- When they end, or do not ---------------------------------------------- */

/* The only child of this process. */
static pid_t the_child(void)
{
  char path[64];
  int pid = 0;
  FILE *f;
  snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
  f = fopen(path, "r");
  ck_assert_ptr_nonnull(f);
  ck_assert_int_eq(fscanf(f, "%d", &pid), 1);
  fclose(f);
  return pid;
}

static unsigned calls;

/* Called while a process does not answer. */
static int give_up(void *ctx)
{
  calls++;
  if (ctx)
    kill(*(pid_t *)ctx, SIGKILL);
  return ctx == NULL;
}

/* A reader that has stopped is not waited for; one that ends is made anew. */
START_TEST(test_ends)
{
  LsParser *p = ls_parser_start();
  int fd = open_file(SAMPLE_EH);
  pid_t pid = the_child();
  uint64_t cpu;
  LsLearned l;
  ck_assert_ptr_nonnull(p);
  ck_assert_int_eq(kill(pid, SIGSTOP), 0);
  ls_parser_while(p, give_up, NULL);
  ck_assert_int_eq(ls_parser_learn(p, fd, "", SAMPLE_EH, &l, &cpu), -1);
  ck_assert_int_eq(errno, ECANCELED);
  ck_assert_uint_eq(calls, 1);
  ls_parser_while(p, give_up, &pid);
  ck_assert_int_eq(ls_parser_learn(p, fd, "", SAMPLE_EH, &l, &cpu), -1);
  ck_assert_int_eq(errno, EPROTO);
  ck_assert(cpu == UINT64_MAX);
  ls_parser_while(p, NULL, NULL);
  ck_assert_int_eq(ls_parser_learn(p, fd, "", SAMPLE_EH, &l, &cpu), 0);
  ls_learned_free(&l);
  close(fd);
  ls_parser_end(p);
}
END_TEST

/* -- What they send ------------------------------------------------------- */

typedef struct Bytes {
  const uint8_t *p;
  size_t n, at;
} Bytes;

static int read_bytes(void *ctx, void *buf, size_t n)
{
  Bytes *b = ctx;
  if (n > b->n - b->at) {
    errno = EPROTO;
    return -1;
  }
  memcpy(buf, b->p + b->at, n);
  b->at += n;
  return 0;
}

/* Uses what was unpacked as lj-sysprof does. */
static void use(LsLearned *l)
{
  uint64_t start, size, addr;
  const char *name;
  size_t i;
  for (i = 0; i < l->rows.nrange; i++)
    if (!ls_symbols_find(l->elf, l->rows.range[i].lo, &name, &start, &size))
      ck_assert_uint_lt(strlen(name), 1u << 20);
  ls_elf_vaddr(l->elf, 4096, &addr);
  ls_rows_find(&l->rows, 4096);
}

/* Parts that are cut, or have one wrong byte: they are refused, or harmless. */
START_TEST(test_untrusted)
{
  int fd = open_file(SAMPLE_EH);
  static LsPack pack;
  LsLearned l;
  uint64_t cpu;
  uint8_t *all;
  size_t n, i;
  ck_assert_int_eq(ls_parser_learn(NULL, fd, "", SAMPLE_EH, &l, &cpu), 0);
  ls_pack(&l, &pack);
  n = ls_pack_size(&pack);
  all = malloc(n);
  ck_assert_ptr_nonnull(all);
  for (i = 0, n = 0; i < LS_PACK_PARTS; n += pack.part[i++].iov_len)
    if (pack.part[i].iov_len)
      memcpy(all + n, pack.part[i].iov_base, pack.part[i].iov_len);
  ls_learned_free(&l);
  for (i = 0; i < n; i++) {
    Bytes cut = {all, i, 0}, whole = {all, n, 0};
    ck_assert_int_eq(ls_unpack(read_bytes, &cut, &l), -1);
    all[i] ^= 0xff;
    if (ls_unpack(read_bytes, &whole, &l) == 0) {
      use(&l);
      ls_learned_free(&l);
    }
    all[i] ^= 0xff;
  }
  free(all);
  close(fd);
}
END_TEST

Suite *suite_parser(void)
{
  const TTest *tests[] = {test_same, test_no_elf,    test_sandbox,
                          test_ends, test_untrusted, NULL};
  return suite_of("parser", tests);
}

/*
** The confinement of the processes that read foreign files.
**
** What is not permitted fails with EPERM, and does not end the process: C
** libraries ask for what they can do without.
*/

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "privilege.h"
#include "sandbox.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* It needs address space, and says what it has found. */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define MEMORY_MAX (1ul << 30) /* Bytes of address space. */
#define FILES_MAX  64

/* -- What may be asked of the kernel -------------------------------------- */

/* What reads, writes and allocates. */
static const int always[] = {
    SYS_read,         SYS_pread64,     SYS_write,          SYS_sendmsg,
    SYS_recvmsg,      SYS_close,       SYS_fstat,          SYS_lseek,
    SYS_munmap,       SYS_mremap,      SYS_madvise,        SYS_brk,
    SYS_futex,        SYS_exit,        SYS_exit_group,     SYS_clock_gettime,
    SYS_getpid,       SYS_gettid,      SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_rt_sigaction, SYS_sigaltstack, SYS_sched_yield,    SYS_getrandom,
};

/* What makes and ends processes, and permits less. */
static const int early[] = {SYS_clone, SYS_wait4, SYS_kill, SYS_set_robust_list,
                            SYS_seccomp};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

typedef struct Filter {
  struct sock_filter code[128];
  unsigned short n;
} Filter;

#define DATA(field) ((uint32_t)offsetof(struct seccomp_data, field))

static void put(Filter *f, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
  f->code[f->n++] = (struct sock_filter){code, yes, no, k};
}

static void load(Filter *f, uint32_t at)
{
  put(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, at);
}

static void answer(Filter *f, uint32_t what)
{
  put(f, BPF_RET | BPF_K, 0, 0, what);
}

/* Permit call number NR. */
static void permit(Filter *f, int nr)
{
  put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)nr);
  answer(f, SECCOMP_RET_ALLOW);
}

/* Permit call number NR if the low half of argument ARG is VALUE. */
static void permit_value(Filter *f, int nr, int arg, uint32_t value)
{
  put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (uint32_t)nr);
  load(f, DATA(args) + 8 * (uint32_t)arg);
  put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
  answer(f, SECCOMP_RET_ALLOW);
  answer(f, SECCOMP_RET_ERRNO | EPERM);
}

/* Permit call number NR, which sets rights of memory, but the right to execute
** it.
*/
static void permit_data(Filter *f, int nr)
{
  put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (uint32_t)nr);
  load(f, DATA(args) + 8 * 2);
  put(f, BPF_JMP | BPF_JSET | BPF_K, 1, 0, PROT_EXEC);
  answer(f, SECCOMP_RET_ALLOW);
  answer(f, SECCOMP_RET_ERRNO | EPERM);
}

/* Permit what is above; with EARLY, too. */
static int restrict_calls(int is_early)
{
  Filter f = {.n = 0};
  struct sock_fprog prog;
  size_t i;
  load(&f, DATA(arch));
  put(&f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AUDIT_ARCH_X86_64);
  answer(&f, SECCOMP_RET_KILL_PROCESS);
  load(&f, DATA(nr));
  for (i = 0; i < COUNT(always); i++)
    permit(&f, always[i]);
  for (i = 0; is_early && i < COUNT(early); i++)
    permit(&f, early[i]);
  permit_data(&f, SYS_mmap);
  permit_data(&f, SYS_mprotect);
  permit_value(&f, SYS_fcntl, 1, F_DUPFD_CLOEXEC);
  permit_value(&f, SYS_newfstatat, 3, AT_EMPTY_PATH); /* This is fstat(). */
  answer(&f, SECCOMP_RET_ERRNO | EPERM);
  prog = (struct sock_fprog){f.n, f.code};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

int ls_sandbox_close(void)
{
  return restrict_calls(0);
}

/* -- The rest ------------------------------------------------------------- */

/* Close all descriptors but FD, which becomes LS_SANDBOX_FD; what is written to
** standard error is lost, unless it is a sanitizer's.
*/
static int close_others(int fd)
{
  int i, none, first = SANITIZED ? STDERR_FILENO : STDERR_FILENO + 1;
  if (fd != LS_SANDBOX_FD && dup2(fd, LS_SANDBOX_FD) < 0)
    return -1;
  none = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (none < 0)
    return -1;
  for (i = 0; i < first; i++)
    if (dup2(none, i) < 0)
      return -1;
  return (int)syscall(SYS_close_range, LS_SANDBOX_FD + 1, ~0u, 0);
}

static int limit(int what, rlim_t most)
{
  struct rlimit now = {most, most}, was;
  if (getrlimit((__rlimit_resource_t)what, &was))
    return -1;
  if (was.rlim_max < most)
    now = (struct rlimit){was.rlim_max, was.rlim_max};
  return setrlimit((__rlimit_resource_t)what, &now);
}

int ls_sandbox_enter(int fd)
{
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  size_t i;
  for (i = 0; i < COUNT(ignored); i++)
    signal(ignored[i], SIG_IGN);
  if (close_others(fd) || limit(RLIMIT_CORE, 0) ||
      limit(RLIMIT_NOFILE, FILES_MAX) ||
      (!SANITIZED && limit(RLIMIT_AS, MEMORY_MAX)) || ls_privilege_none() ||
      prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL))
    return -1;
  prctl(PR_SET_NAME, "lj-sysprof-file");
  return restrict_calls(1);
}

/*
** Capabilities of this process.
*/

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "privilege.h"

#define BIT(cap) (UINT64_C(1) << (cap))

/* The sets of capabilities that a process has, and may have. */
typedef struct Caps {
  uint64_t effective, permitted, inheritable;
} Caps;

static int caps_get(Caps *c)
{
  struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct d[2];
  if (syscall(SYS_capget, &h, d))
    return -1;
  c->effective = d[0].effective | (uint64_t)d[1].effective << 32;
  c->permitted = d[0].permitted | (uint64_t)d[1].permitted << 32;
  c->inheritable = d[0].inheritable | (uint64_t)d[1].inheritable << 32;
  return 0;
}

static int caps_set(const Caps *c)
{
  struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct d[2] = {
      {(uint32_t)c->effective, (uint32_t)c->permitted,
       (uint32_t)c->inheritable},
      {(uint32_t)(c->effective >> 32), (uint32_t)(c->permitted >> 32),
       (uint32_t)(c->inheritable >> 32)}};
  return (int)syscall(SYS_capset, &h, d);
}

/* Capabilities that are needed while it samples. */
static uint64_t caps_needed(const Caps *have, int signals)
{
  uint64_t bpf = BIT(CAP_BPF) | BIT(CAP_PERFMON);
  /* CAP_CHECKPOINT_RESTORE: for /proc/PID/map_files. */
  uint64_t keep = bpf | BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) |
                  BIT(CAP_SYSLOG) | BIT(CAP_CHECKPOINT_RESTORE);
  if ((have->permitted & bpf) != bpf) /* One stands for these. */
    keep |= BIT(CAP_SYS_ADMIN);
  if (signals)
    keep |= BIT(CAP_KILL);
  return keep & have->permitted;
}

int ls_privilege_drop(int dir, int signals)
{
  Caps c;
  uint64_t keep, any = BIT(CAP_DAC_OVERRIDE);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || caps_get(&c))
    return -1;
  keep = caps_needed(&c, signals);
  c.effective = keep;
  c.permitted &= keep | any;
  c.inheritable = 0;
  if (caps_set(&c))
    return -1;
  if (dir >= 0 && faccessat(dir, ".", W_OK | X_OK, AT_EACCESS))
    c.effective = c.permitted;
  c.permitted = c.effective;
  return caps_set(&c);
}

#define NOBODY 65534

int ls_privilege_none(void)
{
  static const Caps none;
  /* In a user namespace that has no such user it stays what it is. */
  if (geteuid() == 0 && !setgroups(0, NULL) &&
      !setresgid(NOBODY, NOBODY, NOBODY) && setresuid(NOBODY, NOBODY, NOBODY))
    return -1;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || caps_set(&none) ? -1 : 0;
}

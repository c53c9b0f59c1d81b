/*
** Why the kernel refused: which capability is missing, or what it is too old
** for.
*/

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <bpf/libbpf.h>

#include "capable.h"

#define SYS_PTRACE 19

/* What the sampler needs, and for what; numbers as in linux/capability.h. */
static const struct {
  unsigned bit;
  const char *name, *use;
} needed[] = {
    {39, "CAP_BPF", "load BPF programs"},
    {38, "CAP_PERFMON", "sample"},
    {SYS_PTRACE, "CAP_SYS_PTRACE", "read other processes"},
};

#define SYS_ADMIN 21 /* Stands for the first two. */

static uint64_t effective(void)
{
  FILE *f = fopen("/proc/self/status", "re");
  char line[256];
  uint64_t caps = 0;
  while (f && fgets(line, sizeof(line), f))
    if (strncmp(line, "CapEff:", 7) == 0)
      caps = strtoull(line + 7, NULL, 16);
  if (f)
    fclose(f);
  return caps;
}

/* Names the capabilities that are missing. Returns how many. */
static int missing(char *why, size_t size)
{
  uint64_t caps = effective();
  size_t i, at = 0;
  int n = 0;
  for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
    if (caps >> needed[i].bit & 1)
      continue;
    if (needed[i].bit > 30 && (caps >> SYS_ADMIN & 1))
      continue;
    at += snprintf(why + at, size - at, "%s%s (to %s)",
                   n++ ? ", " : "not permitted: run it as root, or with ",
                   needed[i].name, needed[i].use);
    if (at >= size)
      break;
  }
  return n;
}

void ls_capable_why(int err, char *why, size_t size)
{
  struct utsname un;
  if ((err == EPERM || err == EACCES) && missing(why, size))
    return;
  if (libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL) == 0 &&
      uname(&un) == 0) {
    snprintf(why, size,
             "kernel %s is too old: it has no BPF ring buffers, which came "
             "with 5.8",
             un.release);
    return;
  }
  if (err == EPERM || err == EACCES)
    snprintf(why, size,
             "the kernel does not permit it (%s): a seccomp filter, lockdown, "
             "or sysctl kernel.perf_event_paranoid",
             strerror(err));
  else
    snprintf(why, size, "the kernel refused the BPF program: %s%s",
             strerror(err), err == EINVAL ? "; -v prints more" : "");
}

int ls_capable_reads(void)
{
  return (effective() >> SYS_PTRACE & 1) != 0;
}

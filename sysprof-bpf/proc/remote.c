/*
** Reading the memory of another process.
*/

#include <string.h>
#include <sys/uio.h>

#include "timedread.h"
#include "remote.h"

/* By the kernel, in one call. */
static ssize_t remote_vm(pid_t pid, uint64_t addr, void *buf, size_t n)
{
  struct iovec to = {.iov_base = buf, .iov_len = n};
  struct iovec from = {.iov_base = (void *)(uintptr_t)addr, .iov_len = n};
  return process_vm_readv(pid, &to, 1, &from, 1, 0);
}

/* Part of what was asked for is of no use. */
static int remote_patient(pid_t pid, uint64_t addr, void *buf, size_t n)
{
  return ls_timedread(remote_vm, pid, addr, buf, n);
}

LsRemoteReader *ls_remote_reader = remote_patient;

int ls_remote_read(pid_t pid, uint64_t addr, void *buf, size_t n)
{
  if (addr > UINT64_MAX - n)
    return -1;
  return n == 0 ? 0 : ls_remote_reader(pid, addr, buf, n);
}

void ls_remote_moment(LsRemote *r)
{
  memset(r->page, 0, sizeof(r->page));
  r->bad = false;
}

/* The page at an address, or NULL. */
static const uint8_t *remote_page(LsRemote *r, uint64_t page)
{
  size_t i = page / LS_REMOTE_PAGE % LS_REMOTE_PAGES;
  if (r->page[i] == (page | 1))
    return r->data[i];
  r->page[i] = 0;
  if (ls_remote_read(r->pid, page, r->data[i], LS_REMOTE_PAGE))
    return NULL;
  r->page[i] = page | 1;
  return r->data[i];
}

/* Copy by way of the pages. */
static bool remote_bypage(LsRemote *r, uint64_t addr, uint8_t *buf, size_t n)
{
  while (n > 0) {
    size_t at = addr % LS_REMOTE_PAGE, m = LS_REMOTE_PAGE - at;
    const uint8_t *p = remote_page(r, addr - at);
    if (!p)
      return false;
    if (m > n)
      m = n;
    memcpy(buf, p + at, m);
    buf += m;
    addr += m;
    n -= m;
  }
  return true;
}

bool ls_remote_get(LsRemote *r, uint64_t addr, void *buf, size_t n)
{
  bool got = false;
  if (addr <= UINT64_MAX - n - LS_REMOTE_PAGE)
    got = n > LS_REMOTE_PAGE ? ls_remote_read(r->pid, addr, buf, n) == 0
                             : remote_bypage(r, addr, buf, n);
  if (!got) {
    memset(buf, 0, n);
    r->bad = true;
  }
  return got;
}

uint64_t ls_remote_uint(LsRemote *r, uint64_t addr, size_t size)
{
  uint64_t v = 0; /* Little endian, as all that we read. */
  ls_remote_get(r, addr, &v, size);
  return v;
}

/*
** Any bytes as the memory of a process with a VM: see fake.h.
*/

#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "luasites.h"
#include "remote.h"
#include "vmcheck.h"
#include "vmir.h"
#include "vmlayout.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static const uint8_t *fake_pages;
static size_t fake_npage;

/* Read of the pages that are there. */
static int fake_read(pid_t pid, uint64_t addr, void *buf, size_t n)
{
  uint8_t *to = buf;
  (void)pid;
  while (n > 0) {
    uint64_t page = addr & ~(uint64_t)(LS_REMOTE_PAGE - 1), at = addr - page;
    size_t m = LS_REMOTE_PAGE - at < n ? LS_REMOTE_PAGE - at : n, i;
    const uint8_t *p = fake_pages;
    for (i = 0; i < fake_npage; i++, p += 8 + LS_REMOTE_PAGE)
      if (memcmp(p, &page, 8) == 0)
        break;
    if (i == fake_npage)
      return -1;
    memcpy(to, p + 8 + at, m);
    to += m;
    addr += m;
    n -= m;
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  static struct ljs_stack s;
  LsFake h;
  struct ljs_vm vm = {0};
  char why[LS_WHY];
  LsLua *lua;
  unsigned i;
  if (n < sizeof(h))
    return 0;
  memcpy(&h, p, sizeof(h));
  fake_pages = p + sizeof(h);
  fake_npage = (n - sizeof(h)) / (8 + LS_REMOTE_PAGE);
  ls_remote_reader = fake_read;
  vm.gc64 = h.gc64 & 1;
  ls_vm_fields(&vm);
  vm.jit = h.jit & 1;
  memcpy(vm.library, (uint8_t[]){2, 38, 64, 76, 90, 15}, sizeof(vm.library));
  vm.irform = LS_IRFORM_KNOWN | LS_IRFORM_TMPREF | LS_IRFORM_ALEN;
  vm.lo = h.lo;
  vm.hi = h.hi;
  vm.g2disp = h.g2disp;
  vm.cur_l = h.cur_l & 0xfff;
  vm.vmstate = h.vmstate;
  vm.trace = h.trace;
  s.g = h.g;
  s.nframes = LS_FAKE_FRAMES;
  memcpy(s.frame, h.frame, sizeof(h.frame));
  ls_vm_check(1, &vm, h.l, h.g, why);
  lua = ls_lua_open(1);
  for (i = 0; lua && i < s.nframes; i++) {
    LsSite site[8];
    unsigned got = ls_lua_sites(lua, &vm, &s, i, site, 8);
    if (got < 1 || got > 8)
      abort();
    while (got-- > 0)
      if (!site[got].name || !site[got].chunk ||
          site[got].chunk[site[got].chunklen] != '\0')
        abort();
  }
  ls_lua_close(lua);
  return 0;
}

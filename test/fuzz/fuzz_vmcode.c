/*
** Any bytes as the code of something like an interpreter.
*/

#include <stdlib.h>
#include <string.h>

#include "vmcode.h"
#include "x86.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

/* Every instruction is one of at least a byte, and not longer than there is. */
static void decode(const uint8_t *p, size_t n)
{
  size_t at = 0;
  while (at < n) {
    LsX86 ins;
    if (!ls_x86_decode(p + at, n - at, &ins)) {
      at++;
      continue;
    }
    if (ins.len == 0 || ins.len > 15 || ins.len > n - at)
      abort();
    at += ins.len;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  LsVmCode c = {.code = p, .n = n, .lo = 0x10000, .frame = 80};
  struct ljs_vm vm;
  char why[LS_WHY];
  int found;
  decode(p, n);
  if (n > 1 && p[n - 1] & 1)
    c.frame = p[n - 1];
  found = ls_vm_scan(&c, &vm, why);
  if (found < -1 || found > 1 || strlen(why) >= LS_WHY)
    abort();
  if (found == -1 && !*why)
    abort();
  /* What is found makes sense as far as it goes. */
  if (found == 1 &&
      (vm.frame != c.frame || vm.save_l >= vm.frame || vm.save_pc >= vm.frame ||
       vm.save_cframe >= vm.frame || vm.cur_l <= 0 || vm.cur_l >= vm.g2disp ||
       vm.vmstate <= 0 || vm.vmstate >= vm.g2disp))
    abort();
  return 0;
}

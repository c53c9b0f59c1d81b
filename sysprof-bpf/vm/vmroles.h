/*
** What the native functions of a VM without symbols do, by the call graph.
*/

#ifndef LS_VMROLES_H
#define LS_VMROLES_H

#include <stddef.h>
#include <stdint.h>

#include "elf.h"
#include "ljs.h"
#include "rows.h"

typedef enum LsRole {
  LS_ROLE_NONE, /* Not known, or not of the VM. */
  LS_ROLE_OTHER,
  LS_ROLE_ALLOCATOR,
  LS_ROLE_COLLECTOR,
  LS_ROLE_JIT,
  LS_ROLE_STRINGS,
  LS_ROLE_TABLES,
  LS_ROLE_TEXT, /* Numbers as text, and buffers. */
  LS_ROLE_PARSER,
  LS_ROLE_INTERPRETER,
  LS_ROLES
} LsRole;

/* The name of a role as the stream has it, as "(collector)"; static. "" for
** LS_ROLE_NONE.
*/
const char *ls_role_name(LsRole role);

/* Find the roles of the N functions at RANGE, as LsRows has them, of E with the
** VM *VM: an array of N bytes, each an LsRole, that the caller frees. Time and
** memory are in proportion to the code, and bounded: some 20 ms per megabyte.
** NULL without memory, or if there is too much code.
*/
uint8_t *ls_vm_roles(LsElf *e, const LsAddrRange *range, size_t n,
                     const struct ljs_vm *vm);

#endif

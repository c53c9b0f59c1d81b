/*
** What is kept of an ELF file.
*/

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "learn.h"
#include "roots.h"
#include "symbols.h"
#include "vmrows.h"

/* -- What functions of a VM do -------------------------------------------- */

/* Does a symbol of the collector exist? The function that makes its steps is
** in every VM, and the interpreter calls it.
*/
static int has_collector_symbol(const LsLearned *l)
{
  uint64_t start, size;
  const char *name;
  size_t i;
  for (i = 0; i < l->rows.nrange; i++)
    if (!ls_symbols_find(l->elf, l->rows.range[i].lo, &name, &start, &size) &&
        strcmp(name, "lj_gc_step") == 0)
      return 1;
  return 0;
}

/* Look for roles, unless there are symbols. */
static void learn_roles(LsLearned *l)
{
  size_t i;
  if (!l->hasvm)
    return;
  l->collector = has_collector_symbol(l);
  if (l->collector)
    return;
  l->role = ls_vm_roles(l->elf, l->rows.range, l->rows.nrange, &l->vm);
  l->rolebytes = l->role ? l->rows.nrange : 0;
  for (i = 0; i < l->rolebytes; i++)
    l->collector |= l->role[i] == LS_ROLE_COLLECTOR;
}

/* -- Libraries ------------------------------------------------------------ */

#define NEEDED_MAX 65536 /* Bytes of names. */

/* Add the name at AT in the section STRINGS. */
static void needed_add(LsLearned *l, const LsSection *strings, uint64_t at)
{
  size_t n;
  if (at >= strings->n)
    return;
  n = strnlen((const char *)strings->p + at, strings->n - at) + 1;
  if (n > strings->n - at || l->neededbytes + n > NEEDED_MAX)
    return;
  memcpy(l->needed + l->neededbytes, strings->p + at, n);
  l->neededbytes += n;
}

/* Libraries that a file needs, by its dynamic section. */
static void learn_needed(LsLearned *l)
{
  LsSection dynamic, strings;
  size_t i, at;
  Elf64_Dyn d;
  if (ls_elf_named(l->elf, ".dynamic", &i, &dynamic) ||
      ls_elf_load(l->elf, i, &dynamic) ||
      ls_elf_section(l->elf, dynamic.link, &strings) ||
      ls_elf_load(l->elf, dynamic.link, &strings) ||
      !(l->needed = malloc(NEEDED_MAX)))
    return;
  for (at = 0; at + sizeof(d) <= dynamic.n; at += sizeof(d)) {
    memcpy(&d, dynamic.p + at, sizeof(d));
    if (d.d_tag == DT_NEEDED)
      needed_add(l, &strings, d.d_un.d_val);
  }
}

/* -- All ------------------------------------------------------------------ */

/* Find the rows, and the VM. */
static void learn_rows(LsLearned *l)
{
  LsRows *rows = &l->rows;
  if (ls_rows_build(l->elf, rows))
    memset(rows, 0, sizeof(*rows));
  l->hasvm = ls_vm_find(l->elf, rows, &l->vm, l->why) > 0;
  if (l->hasvm && ls_vmrows(l->elf, &l->vm, rows))
    l->hasvm = 0;
  ls_roots_add(l->elf, rows); /* Without memory some stacks are cut. */
}

void ls_learn(LsElf *e, LsLearned *out)
{
  memset(out, 0, sizeof(*out));
  out->elf = e;
  out->nbuildid = ls_elf_buildid(e, out->buildid);
  learn_rows(out);
  ls_symbols_load(e);
  learn_roles(out);
  learn_needed(out);
  ls_elf_release(e);
}

void ls_learned_free(LsLearned *l)
{
  ls_elf_close(l->elf);
  ls_rows_free(&l->rows);
  free(l->role);
  free(l->needed);
  memset(l, 0, sizeof(*l));
}

uint64_t ls_learned_names(const LsLearned *l)
{
  return ls_symbols_load(l->elf) + l->rows.nrange * sizeof(*l->rows.range);
}

/* -- Without learning ----------------------------------------------------- */

/* How each entry into LuaJIT's interpreter begins: push rbp, rbx, r15, r14. */
static const uint8_t entry[] = {0x55, 0x53, 0x41, 0x57, 0x41, 0x56};

#define ENTRIES 3 /* As many entries, so close together, suggest a VM. */
#define CLOSE   512

/* Is there anything in the code from ADDR on that looks like the VM's entries?
** Sets *DONE to how many bytes were looked at, 0 at the end.
*/
static int looks_like(const LsElf *e, uint64_t addr, size_t *done)
{
  const uint8_t *p, *hit, *first = NULL;
  size_t n;
  int hits = 0;
  p = ls_elf_rest(e, addr, &n);
  *done = p ? n : 0;
  if (!p)
    return 0;
  while ((hit = memmem(p, n, entry, sizeof(entry))) != NULL) {
    if (!first || hit - first > CLOSE) {
      first = hit;
      hits = 0;
    }
    if (++hits == ENTRIES)
      return 1;
    n -= (size_t)(hit + 1 - p);
    p = hit + 1;
  }
  return 0;
}

int ls_learn_suspect(const LsElf *e, uint64_t offset)
{
  uint64_t addr;
  size_t done = 1;
  int yes = 0;
  if (ls_elf_vaddr(e, offset, &addr) == 0)
    for (; !yes && done; addr += done)
      yes = looks_like(e, addr, &done);
  return yes;
}

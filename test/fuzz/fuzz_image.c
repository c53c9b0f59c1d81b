/*
** What fuzz targets do with an ELF file, and one made of a section's bytes.
*/

#include <errno.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_image.h"
#include "roots.h"
#include "rows.h"
#include "symbols.h"
#include "vmroles.h"

#define CHECK(cond)                                                            \
  do {                                                                         \
    if (!(cond))                                                               \
      abort();                                                                 \
  } while (0)

/* Symbols hold what they are asked for. */
static void check_symbol(LsElf *e, uint64_t addr)
{
  const char *name;
  uint64_t start, size;
  if (ls_symbols_find(e, addr, &name, &start, &size) == 0)
    CHECK(start <= addr && addr - start < size && *name && strlen(name) > 0);
}

/* Rows are in order, each says something new, and the last one nothing. HOW is
** the last kind that there may be.
*/
static void check_rows(const LsRows *t, size_t n, unsigned how)
{
  size_t i;
  CHECK(t->n <= 3 * n && t->nrange <= n);
  CHECK(!t->n || t->row[t->n - 1].how == LJS_CFA_UNKNOWN);
  for (i = 0; i < t->n; i++) {
    struct ljs_row row = t->row[i];
    CHECK(row.how <= how && row.pad == 0);
    CHECK(ls_rows_find(t, row.pc) == &t->row[i]);
    if (!i)
      continue;
    CHECK(t->row[i - 1].pc < row.pc);
    row.pc = t->row[i - 1].pc;
    CHECK(memcmp(&row, &t->row[i - 1], sizeof(row)) != 0);
  }
  for (i = 0; i < t->nrange; i++) {
    CHECK(t->range[i].lo < t->range[i].hi);
    CHECK(!i || t->range[i - 1].hi <= t->range[i].lo);
  }
}

/* Any function may be the interpreter: roles are from their range. There are
** none of more code than is looked at.
*/
static void check_roles(LsElf *e, const LsRows *t)
{
  struct ljs_vm vm = {.lo = t->nrange ? (uint32_t)t->range[0].lo : 0};
  uint8_t *role;
  size_t i;
  errno = 0;
  role = ls_vm_roles(e, t->range, t->nrange, &vm);
  CHECK(role || !t->nrange || t->range[0].lo > UINT32_MAX || errno == E2BIG);
  for (i = 0; role && i < t->nrange; i++)
    CHECK(role[i] < LS_ROLES);
  free(role);
}

void fuzz_image(const void *p, size_t n)
{
  LsElf *e = ls_elf_memory(p, n);
  LsRows t;
  uint8_t id[64];
  uint64_t addr;
  size_t i, rest;
  if (!e)
    return;
  CHECK(ls_rows_build(e, &t) == 0);
  check_rows(&t, n, LJS_CFA_END);
  CHECK(ls_elf_buildid(e, id) <= sizeof(id));
  for (i = 0; i < 64; i++)
    check_symbol(e, i * 16);
  for (i = 0; i < t.nrange && i < 64; i++) {
    check_symbol(e, t.range[i].lo);
    check_symbol(e, t.range[i].hi - 1);
  }
  if (ls_elf_vaddr(e, 0, &addr) == 0 && ls_elf_rest(e, addr, &rest))
    CHECK(rest <= n && ls_elf_bytes(e, addr, rest));
  check_roles(e, &t);
  CHECK(ls_roots_add(e, &t) == 0);
  check_rows(&t, n, LJS_CFA_ROOT);
  ls_rows_free(&t);
  ls_elf_close(e);
}

void fuzz_image_make(LpBuf *b, const void *p, size_t n)
{
  Elf64_Ehdr eh = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
                               ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_phoff = sizeof(eh),
                   .e_ehsize = sizeof(eh),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 3};
  const size_t table = sizeof(eh) + 3 * sizeof(Elf64_Phdr), frame = table + 8;
  const Elf64_Phdr ph[3] = {
      {.p_type = PT_LOAD,
       .p_flags = PF_R,
       .p_vaddr = IMAGE_FRAME - frame,
       .p_filesz = frame + n,
       .p_memsz = frame + n},
      {.p_type = PT_LOAD,
       .p_flags = PF_R | PF_X,
       .p_vaddr = IMAGE_CODE,
       .p_memsz = IMAGE_SIZE},
      {.p_type = PT_GNU_EH_FRAME, .p_vaddr = IMAGE_FRAME - 8}};
  lp_buf_add(b, &eh, sizeof(eh));
  lp_buf_add(b, ph, sizeof(ph));
  /* Its .eh_frame_hdr: the section is 4 bytes behind the pointer to it. */
  lp_buf_add(b, "\x01\x1b\xff\xff\x04\0\0\0", 8);
  lp_buf_add(b, p, n);
}

/*
** Names of C functions: module and symbol of an address, from the files.
**
** The dynamic linker's own answer, dladdr(), knows exported symbols only, and
** most C functions of Lua modules are not. So the module's file is read.
*/

#define lj_memprof_elf_c
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <string.h>

#if LJ_TARGET_LINUX

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ElfW(Ehdr) ElfHeader;
typedef ElfW(Shdr) ElfSection;
typedef ElfW(Sym) ElfSymbol;

#define ELF_SYMTYPE(info) ((info)&15)

/* -- Modules -------------------------------------------------------------- */

/* The search for the module of an address. */
typedef struct ElfModule {
  uintptr_t addr;          /* What is looked for. */
  uintptr_t base;          /* Its module's load address. */
  const ElfW(Phdr) * phdr; /* Its program headers, as they were loaded. */
  size_t nphdr;
  MPSymbol *sym;
} ElfModule;

/* Looks whether a loaded module holds the address. */
static int elf_visit(struct dl_phdr_info *info, size_t size, void *arg)
{
  ElfModule *m = (ElfModule *)arg;
  size_t i;
  UNUSED(size);
  for (i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
    if (ph->p_type == PT_LOAD &&
        m->addr - (info->dlpi_addr + ph->p_vaddr) < ph->p_memsz) {
      const char *name = info->dlpi_name;
      m->base = info->dlpi_addr;
      m->phdr = info->dlpi_phdr;
      m->nphdr = info->dlpi_phnum;
      if (name == NULL || *name == '\0') { /* The program itself. */
        ssize_t n = readlink("/proc/self/exe", m->sym->module,
                             sizeof(m->sym->module) - 1);
        m->sym->module[n > 0 ? n : 0] = '\0';
      } else {
        strncpy(m->sym->module, name, sizeof(m->sym->module) - 1);
      }
      return 1;
    }
  }
  return 0;
}

/* -- Symbol tables -------------------------------------------------------- */

/* A file in memory. No number in it is trusted. */
typedef struct ElfFile {
  const char *p;
  size_t size;
} ElfFile;

/* Part of the file, or NULL if it does not have that part. */
static const void *elf_part(const ElfFile *f, uint64_t ofs, uint64_t size)
{
  return ofs <= f->size && size <= f->size - ofs ? f->p + ofs : NULL;
}

/* The section headers of the file that is loaded, or NULL. */
static const ElfSection *elf_sections(const ElfFile *f, const ElfModule *m,
                                      size_t *count)
{
  const ElfHeader *eh = (const ElfHeader *)elf_part(f, 0, sizeof(ElfHeader));
  const void *ph;
  if (eh == NULL || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 ||
      eh->e_shentsize != sizeof(ElfSection) || eh->e_phnum != m->nphdr ||
      eh->e_shoff % sizeof(uint64_t) != 0)
    return NULL;
  /* A file that was replaced since has other program headers. */
  ph = elf_part(f, eh->e_phoff, m->nphdr * sizeof(ElfW(Phdr)));
  if (ph == NULL || memcmp(ph, m->phdr, m->nphdr * sizeof(ElfW(Phdr))) != 0)
    return NULL;
  *count = eh->e_shnum;
  return (const ElfSection *)elf_part(f, eh->e_shoff,
                                      eh->e_shnum * sizeof(ElfSection));
}

/* A string of a string table, or NULL. */
static const char *elf_string(const ElfFile *f, const ElfSection *tab,
                              uint64_t ofs)
{
  const char *s = (const char *)elf_part(f, tab->sh_offset, tab->sh_size);
  if (s == NULL || ofs >= tab->sh_size ||
      memchr(s + ofs, '\0', tab->sh_size - ofs) == NULL)
    return NULL;
  return s + ofs;
}

/* The name of the function in a symbol table that covers a value, or NULL. */
static const char *elf_search(const ElfFile *f, const ElfSection *tab,
                              const ElfSection *strings, uintptr_t value)
{
  const ElfSymbol *sym =
      (const ElfSymbol *)elf_part(f, tab->sh_offset, tab->sh_size);
  const ElfSymbol *end;
  const char *best = NULL;
  if (sym == NULL || tab->sh_offset % sizeof(uint64_t) != 0)
    return NULL;
  for (end = sym + tab->sh_size / sizeof(ElfSymbol); sym < end; sym++) {
    int type = ELF_SYMTYPE(sym->st_info);
    const char *name;
    if (sym->st_shndx == SHN_UNDEF || sym->st_value > value ||
        (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
      continue;
    /* Without a size, only its very start is known to be the symbol's. */
    if (value - sym->st_value >= sym->st_size && value != sym->st_value)
      continue;
    name = elf_string(f, strings, sym->st_name);
    if (name == NULL || *name == '\0')
      continue;
    if (type == STT_FUNC)
      return name;
    best = name;
  }
  return best;
}

/* Looks for a value's symbol: all symbols first, then the exported ones. */
static void elf_symbol(const ElfFile *f, const ElfModule *m, uintptr_t value)
{
  static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
  size_t i, t, n = 0;
  const ElfSection *sh = elf_sections(f, m, &n);
  if (sh == NULL)
    return;
  for (t = 0; t < 2; t++) {
    for (i = 0; i < n; i++) {
      const char *name;
      if (sh[i].sh_type != types[t] || sh[i].sh_link >= n)
        continue;
      name = elf_search(f, &sh[i], &sh[sh[i].sh_link], value);
      if (name != NULL) {
        strncpy(m->sym->symbol, name, sizeof(m->sym->symbol) - 1);
        return;
      }
    }
  }
}

/* -- Entry ---------------------------------------------------------------- */

/*
** Makes the module's path the one that the kernel has for it, and so the
** sampler: without symbolic links, from the root. What is no file stays.
*/
static void elf_realpath(MPSymbol *sym)
{
  char *path = realpath(sym->module, NULL);
  if (path != NULL && strlen(path) < sizeof(sym->module))
    memcpy(sym->module, path, strlen(path) + 1);
  free(path);
}

/* Looks for the symbol of an address in the module's file. */
static void elf_read(const ElfModule *m)
{
  MPSymbol *sym = m->sym;
  ElfFile f;
  struct stat st;
  int fd = open(sym->module, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  if (fstat(fd, &st) == 0 && st.st_size > 0) {
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p != MAP_FAILED) {
      f.p = (const char *)p;
      f.size = (size_t)st.st_size;
      elf_symbol(&f, m, m->addr - m->base);
      munmap(p, f.size);
    }
  }
  close(fd);
}

/* Names an address. What cannot be told stays empty. errno stays, too. */
void lj_memprof_symbol(const void *addr, MPSymbol *sym)
{
  ElfModule m;
  int err = errno;
  memset(&m, 0, sizeof(m));
  memset(sym, 0, sizeof(*sym));
  m.addr = (uintptr_t)addr;
  m.sym = sym;
  sym->offset = m.addr;
  if (dl_iterate_phdr(elf_visit, &m)) {
    sym->offset = m.addr - m.base;
    elf_realpath(sym);
    elf_read(&m);
  }
  errno = err;
}

#else

/* Elsewhere, an address has to do. */
void lj_memprof_symbol(const void *addr, MPSymbol *sym)
{
  memset(sym, 0, sizeof(*sym));
  sym->offset = (uint64_t)(uintptr_t)addr;
}

#endif

#endif

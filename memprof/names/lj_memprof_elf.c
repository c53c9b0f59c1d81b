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

#include "lj_memprof_name.h"

#if LJ_TARGET_LINUX

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include "lj_memprof_lock.h"

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

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* Since glibc 2.35; it may run with less. */
#pragma weak _dl_find_object

/*
** Looks for the module without a lock. A child of fork() must not take that of
** dl_iterate_phdr(): a thread that is not there may hold it.
*/
static int elf_found(ElfModule *m)
{
  struct dl_find_object o;
  struct dl_phdr_info info;
  const ElfHeader *eh;
  if (_dl_find_object == NULL ||
      _dl_find_object((void *)m->addr, &o) != 0) /* NOLINT */
    return 0;
  eh = (const ElfHeader *)o.dlfo_map_start;
  if (memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 ||
      eh->e_phoff + eh->e_phnum * sizeof(ElfW(Phdr)) >
          (size_t)((char *)o.dlfo_map_end - (char *)o.dlfo_map_start))
    return 0;
  memset(&info, 0, sizeof(info));
  info.dlpi_addr = o.dlfo_link_map->l_addr;
  info.dlpi_name = o.dlfo_link_map->l_name;
  info.dlpi_phdr =
      (const ElfW(Phdr) *)(const void *)((const char *)eh + eh->e_phoff);
  info.dlpi_phnum = eh->e_phnum;
  return elf_visit(&info, sizeof(info), m);
}
#else
#define elf_found(m) 0
#endif

/* Looks for the module of the address. Returns 0 if there is none. */
static int elf_find(ElfModule *m)
{
  int found;
  if (elf_found(m))
    return 1;
  lj_memprof_lock(); /* No fork meanwhile: the child would wait for us. */
  found = dl_iterate_phdr(elf_visit, m);
  lj_memprof_unlock();
  return found;
}

/* -- Symbol tables -------------------------------------------------------- */

/*
** A file is read by pread(), never mapped: it may be cut while it is read, and
** a mapping of it would end the host by SIGBUS. No number in it is trusted.
*/

#define ELF_WINDOW 128 /* Symbols that are read at once. */

/* Reads a part of the file. Returns 0 if the file does not have all of it. */
static int elf_read(int fd, uint64_t ofs, void *dst, size_t size)
{
  char *p = (char *)dst;
  while (size > 0) {
    ssize_t n = ofs <= INT64_MAX ? pread(fd, p, size, (off_t)ofs) : 0;
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return 0;
    p += n;
    ofs += (uint64_t)n;
    size -= (size_t)n;
  }
  return 1;
}

/* Reads the header of the file, if it is the one that is loaded. */
static int elf_header(int fd, const ElfModule *m, ElfHeader *eh)
{
  size_t i;
  if (!elf_read(fd, 0, eh, sizeof(*eh)) ||
      memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 ||
      eh->e_shentsize != sizeof(ElfSection) || eh->e_phnum != m->nphdr)
    return 0;
  /* A file that was replaced since has other program headers. */
  for (i = 0; i < m->nphdr; i++) {
    ElfW(Phdr) ph;
    if (!elf_read(fd, eh->e_phoff + i * sizeof(ph), &ph, sizeof(ph)) ||
        memcmp(&ph, &m->phdr[i], sizeof(ph)) != 0)
      return 0;
  }
  return 1;
}

/* Reads a section header. */
static int elf_section(int fd, const ElfHeader *eh, size_t idx, ElfSection *sh)
{
  return idx < eh->e_shnum &&
         elf_read(fd, eh->e_shoff + idx * sizeof(*sh), sh, sizeof(*sh));
}

/* Reads a string of a string table, cut to what a name may have. */
static int elf_string(int fd, const ElfSection *tab, uint64_t ofs, char *name)
{
  uint64_t left = ofs < tab->sh_size ? tab->sh_size - ofs : 0;
  size_t size = left < LJM_NAME_MAX ? (size_t)left : LJM_NAME_MAX;
  if (size == 0 || !elf_read(fd, tab->sh_offset + ofs, name, size))
    return 0;
  if (memchr(name, '\0', size) == NULL) {
    if (size < LJM_NAME_MAX) /* The table's last string has no end. */
      return 0;
    name[size - 1] = '\0';
  }
  return *name != '\0';
}

/* How well a symbol names a value: 2 a function, 1 perhaps one, 0 not. */
static int elf_covers(const ElfSymbol *sym, uintptr_t value)
{
  int type = ELF_SYMTYPE(sym->st_info);
  if (sym->st_shndx == SHN_UNDEF || sym->st_value > value ||
      (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
    return 0;
  /* Without a size, only its very start is known to be the symbol's. */
  if (value - sym->st_value >= sym->st_size && value != sym->st_value)
    return 0;
  return type == STT_FUNC ? 2 : 1;
}

/* Looks for the function that covers a value. Returns 1 if it has a name. */
static int elf_search(int fd, const ElfSection *tab, const ElfSection *strings,
                      uintptr_t value, char *name)
{
  uint64_t i, n = tab->sh_size / sizeof(ElfSymbol);
  int best = 0;
  for (i = 0; i < n && best < 2; i += ELF_WINDOW) {
    ElfSymbol sym[ELF_WINDOW] = {0};
    size_t k, many = n - i < ELF_WINDOW ? (size_t)(n - i) : ELF_WINDOW;
    if (!elf_read(fd, tab->sh_offset + i * sizeof(ElfSymbol), sym,
                  many * sizeof(ElfSymbol)))
      break;
    for (k = 0; k < many && best < 2; k++) {
      int fit = elf_covers(&sym[k], value);
      char found[LJM_NAME_MAX];
      if (fit > 0 && fit >= best &&
          elf_string(fd, strings, sym[k].st_name, found)) {
        memcpy(name, found, sizeof(found));
        best = fit;
      }
    }
  }
  return best > 0;
}

/* Looks for a value's symbol: all symbols first, then the exported ones. */
static void elf_symbol(int fd, const ElfModule *m, uintptr_t value)
{
  static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
  ElfHeader eh;
  size_t i, t;
  if (!elf_header(fd, m, &eh))
    return;
  for (t = 0; t < 2; t++) {
    for (i = 0; i < eh.e_shnum; i++) {
      ElfSection sh, strings;
      if (elf_section(fd, &eh, i, &sh) && sh.sh_type == types[t] &&
          elf_section(fd, &eh, sh.sh_link, &strings) &&
          elf_search(fd, &sh, &strings, value, m->sym->symbol))
        return;
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
static void elf_lookup(const ElfModule *m)
{
  int fd = open(m->sym->module, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  elf_symbol(fd, m, m->addr - m->base);
  close(fd);
}

void lj_memprof_symbol(const void *addr, MPSymbol *sym)
{
  ElfModule m;
  int err = errno;
  memset(&m, 0, sizeof(m));
  memset(sym, 0, sizeof(*sym));
  m.addr = (uintptr_t)addr;
  m.sym = sym;
  sym->offset = m.addr;
  if (elf_find(&m)) {
    sym->offset = m.addr - m.base;
    elf_realpath(sym);
    elf_lookup(&m);
  }
  errno = err;
}

#else

void lj_memprof_symbol(const void *addr, MPSymbol *sym)
{
  memset(sym, 0, sizeof(*sym));
  sym->offset = (uint64_t)(uintptr_t)addr;
}

#endif

#endif

/*
** An ELF file for x86-64, of which nothing is trusted. Its bytes are copied as
** they are asked for, so that it does no harm if the file is cut short later.
**
** "Address" is the file's own idea of an address (p_vaddr, st_value, ...):
** in a process, the bias of the mapping comes on top. One thread at a time may
** use a file.
*/

#ifndef LS_ELF_H
#define LS_ELF_H

#include <stddef.h>
#include <stdint.h>

typedef struct LsElf LsElf;
typedef struct LsSymbols LsSymbols; /* See symbols.c. */

/* Part of the file: a section, if it has sections. */
typedef struct LsSection {
  const char *name; /* "" if it has none. */
  uint64_t addr;    /* 0 if it is not loaded. */
  uint64_t size;    /* In bytes; its data may be fewer, or none. */
  uint64_t flags;   /* SHF_* */
  uint32_t type;    /* SHT_* */
  uint32_t link;    /* Number of a section that belongs to it. */
  const uint8_t *p; /* Data, if ls_elf_load brought them; until close. */
  size_t n;         /* Bytes of data. */
} LsSection;

/* A file to be read through FD, which can be closed afterwards. NULL and errno
** if it cannot be read: ENOEXEC if it is not an ELF file for x86-64.
*/
LsElf *ls_elf_open(int fd);

/* A file from a copy of N bytes of memory. As ls_elf_open. */
LsElf *ls_elf_memory(const void *image, size_t n);

/* Give all back, data of sections and names of symbols too. NULL is fine. */
void ls_elf_close(LsElf *e);

/* The N bytes that are loaded to ADDR, valid until close. NULL if they are not
** of one segment, or not in the file (as .bss).
*/
const uint8_t *ls_elf_bytes(const LsElf *e, uint64_t addr, size_t n);

/* As many bytes as the segment has in the file from ADDR on; *N says how many.
** NULL if there are none.
*/
const uint8_t *ls_elf_rest(const LsElf *e, uint64_t addr, size_t *n);

/* Where the byte at an offset in the file is loaded, with code preferred where
** segments share a page. Returns -1 if no segment has the page that it is in.
*/
int ls_elf_vaddr(const LsElf *e, uint64_t offset, uint64_t *addr);

/* Whether LO to HI, which is excluded, is in one executable segment. */
int ls_elf_exec(const LsElf *e, uint64_t lo, uint64_t hi);

/* Address of the first program header of a type; -1 if there is none. */
int ls_elf_phdr(const LsElf *e, uint32_t type, uint64_t *addr);

/* Where a process begins, if the file is a program; else it may be anything. */
uint64_t ls_elf_entry(const LsElf *e);

/* The build-id's bytes. Returns their number, 0 if there is none. */
size_t ls_elf_buildid(const LsElf *e, uint8_t out[64]);

/* What is told of section number I, from 1 on, but not its data. Returns -1 if
** there is no such section.
*/
int ls_elf_section(const LsElf *e, size_t i, LsSection *s);

/* The first section of a name, or -1. */
int ls_elf_named(const LsElf *e, const char *name, size_t *i, LsSection *s);

/* Bring the data of section number I. Returns -1 if it has none in the file,
** or if they are compressed.
*/
int ls_elf_load(const LsElf *e, size_t i, LsSection *s);

/* Where the table of symbols hangs that symbols.c makes of it. */
LsSymbols **ls_elf_symbols(LsElf *e);

#endif

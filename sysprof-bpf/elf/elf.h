/*
** Reader of ELF files for x86-64, which are untrusted input. Bytes are copied
** when they are asked for, so a file that is truncated later does no harm.
**
** An "address" is as the file has it (p_vaddr, st_value, ...): in a process the
** bias of the mapping is added. One thread at a time may use a file.
*/

#ifndef LS_ELF_H
#define LS_ELF_H

#include <stddef.h>
#include <stdint.h>

typedef struct LsElf LsElf;

/* Bytes of one file that are read: what a file claims to have costs its owner
** nothing, if it has holes.
*/
#define LS_ELF_BUDGET (128ull << 20)

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

/* Open the file that FD reads, which can be closed afterwards. The caller
** closes it by ls_elf_close. NULL and errno on failure: ENOEXEC if it is not an
** ELF file for x86-64.
*/
LsElf *ls_elf_open(int fd);

/* Open a copy of N bytes of memory. Returns as ls_elf_open. */
LsElf *ls_elf_memory(const void *image, size_t n);

/* Say where a file is: at PATH in the directory ROOT, "" if that is the root of
** this process. Both are copied; without memory nothing is known.
*/
void ls_elf_place(LsElf *e, const char *root, const char *path);

/* The path of a file; its root is put in *ROOT. What is not known is "". Both
** belong to E.
*/
const char *ls_elf_placed(const LsElf *e, const char **root);

/* Close the descriptor and free what was read, but not the index, the place and
** where segments are: ls_elf_vaddr, ls_elf_exec, ls_elf_index, ls_elf_placed
** and ls_elf_over go on, everything else finds nothing.
*/
void ls_elf_release(LsElf *e);

/* Whether something was not read, as it was more than LS_ELF_BUDGET. */
int ls_elf_over(const LsElf *e);

/* A segment that is loaded, as far as it is needed without the file. */
typedef struct LsSegment {
  uint64_t addr, offset, filesz, memsz;
  uint64_t exec; /* Not 0: it has code. */
} LsSegment;

#define LS_ELF_SEGMENTS 256 /* Of a file, at most. */

/* Describe the segments of E in OUT. Returns how many they are. */
size_t ls_elf_segments(const LsElf *e, LsSegment out[LS_ELF_SEGMENTS]);

/* A file that is released, as ls_elf_release leaves it, of what is known of it:
** N segments, at most LS_ELF_SEGMENTS, and whether something of it was not
** read. The caller closes it. NULL without memory.
*/
LsElf *ls_elf_released(const LsSegment *seg, size_t n, int over);

/* Close a file and free all of it, data of sections and names of symbols too. E
** may be NULL.
*/
void ls_elf_close(LsElf *e);

/* The N bytes that are loaded to ADDR, valid until close. NULL if they are not
** of one segment, or not in the file (as .bss).
*/
const uint8_t *ls_elf_bytes(const LsElf *e, uint64_t addr, size_t n);

/* As many bytes as the segment has in the file from ADDR on, or 32 MiB of them;
** *N says how many. NULL if there are none.
*/
const uint8_t *ls_elf_rest(const LsElf *e, uint64_t addr, size_t *n);

/* Where the byte at an offset in the file is loaded, with code preferred where
** segments share a page. Returns -1 if no segment has the page that it is in.
*/
int ls_elf_vaddr(const LsElf *e, uint64_t offset, uint64_t *addr);

/* Whether the addresses from LO up to, and without, HI are in one executable
** segment.
*/
int ls_elf_exec(const LsElf *e, uint64_t lo, uint64_t hi);

/* The address of the first segment of a type (PT_*), in *ADDR. Returns 0, or -1
** if there is none.
*/
int ls_elf_phdr(const LsElf *e, uint32_t type, uint64_t *addr);

/* The entry point of a program (e_entry); meaningless for other files. */
uint64_t ls_elf_entry(const LsElf *e);

/* Copy the build-id to OUT. Returns its size in bytes, 0 if there is none. */
size_t ls_elf_buildid(const LsElf *e, uint8_t out[64]);

/* The header of section number I, from 1 on, without its data. Returns 0, or -1
** if there is no such section.
*/
int ls_elf_section(const LsElf *e, size_t i, LsSection *s);

/* The first section with a name: its number and its header. Returns 0, or -1 if
** there is none.
*/
int ls_elf_named(const LsElf *e, const char *name, size_t *i, LsSection *s);

/* Read section number I with its data, which belong to E. Returns 0, or -1 if
** it has none in the file, or if they are compressed.
*/
int ls_elf_load(const LsElf *e, size_t i, LsSection *s);

/* What was made of a file and is kept with it, such as its symbol index. */
typedef struct LsElfIndex {
  void *p;               /* NULL at first. */
  void (*free)(void *p); /* Called by ls_elf_close if P is not NULL. */
} LsElfIndex;

/* The index of the file. It belongs to E; whoever makes it fills it in. */
LsElfIndex *ls_elf_index(LsElf *e);

#endif

/*
** Names of functions, from an ELF file's tables of symbols.
*/

#ifndef LS_SYMBOLS_H
#define LS_SYMBOLS_H

#include <stdint.h>

#include "elf.h"

/* Find the function at address ADDR of E: its name, which is valid until
** ls_elf_close(E), its first address and its size in bytes. The first call
** builds the index of .symtab, of E or of its separate debug file, and .dynsym.
** Returns 0, or -1 if no function is known there.
*/
int ls_symbols_find(LsElf *e, uint64_t addr, const char **name, uint64_t *start,
                    uint64_t *size);

/* Where separate debug files are looked for, by build-id: a directory that
** belongs to the caller, "/usr/lib/debug/.build-id" at first.
*/
extern const char *ls_symbols_debug;

#endif

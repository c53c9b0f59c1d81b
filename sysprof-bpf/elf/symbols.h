/*
** Names of functions, from an ELF file's tables of symbols.
*/

#ifndef LS_SYMBOLS_H
#define LS_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "elf.h"
#include "symboltable.h"

/* Find the function at address ADDR of E: its name, which is valid until
** ls_elf_close(E), its first address and its size in bytes. The first call
** builds the index of .symtab, of E or of its separate debug file; or else of
** .dynsym and .gnu_debugdata.
** Returns 0, or -1 if no function is known there.
*/
int ls_symbols_find(LsElf *e, uint64_t addr, const char **name, uint64_t *start,
                    uint64_t *size);

/* Build the index now, while the file can be read: afterwards ls_symbols_find
** works without it. Returns how many bytes of memory it takes.
*/
size_t ls_symbols_load(LsElf *e);

/* The index, built if it is not yet; it belongs to E. NULL without memory. */
const LsSymbolTable *ls_symbols_get(LsElf *e);

/* Take T, allocated and with allocated parts, as the index of E, which has
** none. Returns -1 if it makes no sense: then it is freed.
*/
int ls_symbols_set(LsElf *e, LsSymbolTable *t);

/* Where separate debug files are looked for, by build-id: a directory that
** belongs to the caller, "/usr/lib/debug/.build-id" at first.
*/
extern const char *ls_symbols_debug;

#endif

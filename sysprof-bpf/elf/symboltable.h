/*
** The symbol index as it is kept and passed between processes: no pointers
** in it but to its two parts.
*/

#ifndef LS_SYMBOLTABLE_H
#define LS_SYMBOLTABLE_H

#include <stddef.h>
#include <stdint.h>

#define LS_SYMBOL_UNNAMED UINT64_MAX

/* Addresses that belong to one function. */
typedef struct LsSymbolPiece {
  uint64_t lo, hi;     /* HI is behind the last one. */
  uint64_t start, end; /* Of the function, which may have other pieces. */
  uint64_t name;       /* Where in the text; or LS_SYMBOL_UNNAMED. */
} LsSymbolPiece;

typedef struct LsSymbolTable {
  LsSymbolPiece *piece; /* Sorted, none overlaps another. */
  size_t n;
  char *text;   /* The names, each with a NUL. */
  size_t ntext; /* Bytes of all names. */
} LsSymbolTable;

/* Find the function at ADDR. Returns as ls_symbols_find; the name belongs to
** T.
*/
int ls_symboltable_find(const LsSymbolTable *t, uint64_t addr,
                        const char **name, uint64_t *start, uint64_t *size);

/* Whether T, of an untrusted source, has no name outside of its text. */
int ls_symboltable_valid(const LsSymbolTable *t);

/* Free an LsSymbolTable with its parts. T may be NULL. */
void ls_symboltable_free(void *t);

#endif

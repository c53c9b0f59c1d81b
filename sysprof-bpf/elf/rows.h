/*
** The unwind table of an ELF file: for each address of its code, how the caller
** is found.
*/

#ifndef LS_ROWS_H
#define LS_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "elf.h"
#include "ljs.h"

/* The addresses of a function, or of a part of one: from LO up to, and without,
** HI.
*/
typedef struct LsAddrRange {
  uint64_t lo, hi;
} LsAddrRange;

typedef struct LsRows {
  struct ljs_row *row; /* Sorted by pc; neighbours differ. */
  size_t n;
  LsAddrRange *range; /* Of the FDEs: sorted, without overlap. */
  size_t nrange;
} LsRows;

/* Build the table of E; without call frame information it has no rows. FDEs
** that end above 4 GiB are left out: a row's pc has 32 bits. Time and memory
** are in proportion to the size of the call frame information. Rows are at most
** as many as the BPF program can look up: the addresses behind are unknown. The
** caller frees *OUT. Returns 0, or -1 and errno ENOMEM: then there is nothing
** to free.
*/
int ls_rows_build(const LsElf *e, LsRows *out);

/* Free the memory of *T, but not T. */
void ls_rows_free(LsRows *t);

/* The row of an address, or NULL if it is before the first one. The last row is
** that of all addresses behind it. It belongs to T.
*/
const struct ljs_row *ls_rows_find(const LsRows *t, uint64_t addr);

#endif

/*
** A module's unwind table: for each address of its code, how the caller is
** found.
*/

#ifndef LS_ROWS_H
#define LS_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "elf.h"
#include "ljs.h"

/* The range of a function, or of a part of one; HI is behind it. */
typedef struct LsFde {
  uint64_t lo, hi;
} LsFde;

typedef struct LsRows {
  struct ljs_row *row; /* Sorted; no two neighbours say the same. */
  size_t n;
  LsFde *fde; /* Sorted, and none overlaps the next. */
  size_t nfde;
} LsRows;

/* Make the table of E's file, whether or not it tells anything: then there are
** no rows. Addresses from 4 GiB on are left out, since rows cannot tell them.
** Takes time and memory in proportion to the call frame information's size.
** Returns -1 and errno: ENOMEM, or E2BIG if there are more rows than any
** program should have.
*/
int ls_rows_build(const LsElf *e, LsRows *out);

/* Give the memory back. */
void ls_rows_free(LsRows *t);

/* The row for an address, or NULL if it is before the first one. What holds for
** the last row holds for all that is behind it.
*/
const struct ljs_row *ls_rows_find(const LsRows *t, uint64_t addr);

#endif

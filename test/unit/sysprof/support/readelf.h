/*
** Call frame information as readelf tells it: somebody else's interpretation.
*/

#ifndef READELF_H
#define READELF_H

#include <stddef.h>
#include <stdint.h>

#include "ljs.h"

/* A function, and its rows. */
typedef struct ReFunction {
  uint64_t lo, hi;
  uint64_t at; /* Where its FDE is in the section, in bytes. */
  size_t row;  /* Number of the first one. */
  size_t nrow; /* At least one. */
} ReFunction;

typedef struct ReTable {
  ReFunction *fn; /* Sorted by address. */
  size_t nfn;
  struct ljs_row *row; /* Addresses are told by `pc`. */
  size_t nrow;
} ReTable;

/* What readelf says of PATH's section .eh_frame, or of .debug_frame. */
void re_read(ReTable *t, const char *path, const char *section);
void re_free(ReTable *t);

#endif

/*
** The symbol index as it is kept.
*/

#include <stdlib.h>

#include "symboltable.h"

/* The piece that has an address, or the next one: their number if none. */
static size_t piece_find(const LsSymbolTable *t, uint64_t addr)
{
  size_t lo = 0, hi = t->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (t->piece[mid].hi <= addr)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

int ls_symboltable_find(const LsSymbolTable *t, uint64_t addr,
                        const char **name, uint64_t *start, uint64_t *size)
{
  size_t i = piece_find(t, addr);
  const LsSymbolPiece *p;
  if (i == t->n)
    return -1;
  p = &t->piece[i];
  if (p->lo > addr || p->name == LS_SYMBOL_UNNAMED)
    return -1;
  *name = t->text + p->name;
  *start = p->start;
  *size = p->end - p->start;
  return 0;
}

int ls_symboltable_valid(const LsSymbolTable *t)
{
  size_t i;
  if (t->ntext && t->text[t->ntext - 1])
    return 0;
  for (i = 0; i < t->n; i++)
    if (t->piece[i].name != LS_SYMBOL_UNNAMED && t->piece[i].name >= t->ntext)
      return 0;
  return 1;
}

void ls_symboltable_free(void *t)
{
  LsSymbolTable *table = t;
  if (!table)
    return;
  free(table->piece);
  free(table->text);
  free(table);
}

/*
** Symbol index: the function that has an address.
**
** Symbols overlap: a function may have many names, and another inside of it. So
** they are laid out once as pieces that do not: of two functions, the inner one
** has its addresses. A symbol without a size, as of code in assembler, fills
** only what is left between the others.
*/

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "debugfile.h"
#include "symbols.h"

#define SYMBOLS_MAX       (1u << 20)  /* Functions of a file. */
#define SYMBOLS_MAX_NAME  4096        /* Bytes of a name, */
#define SYMBOLS_MAX_ORDER 256         /* and of those that order it. */
#define SYMBOLS_MAX_TEXT  (32u << 20) /* Bytes of all names. */

const char *ls_symbols_debug = "/usr/lib/debug/.build-id";

typedef struct Symbol {
  uint64_t lo, hi; /* HI is the end of its section if it has no size. */
  const char *name;
  const struct Symbol *outer; /* The one that it is inside of, or NULL. */
  uint8_t sized;
  uint8_t rank; /* Of names for one address, the highest is taken. */
} Symbol;

/* Addresses that belong to one symbol. */
typedef struct Piece {
  uint64_t lo, hi;
  const Symbol *symbol;
} Piece;

/* What the table is made from. */
typedef struct LsSymbols {
  Symbol *symbol;
  size_t n;
  size_t cap;
  Piece *piece; /* Sorted, none overlaps another. */
  size_t npiece;
} LsSymbols;

/* -- Reading -------------------------------------------------------------- */

/* Tables that symbols are read from. */
typedef struct Source {
  LsSection *section; /* What symbols are in, by its number. */
  size_t nsection;
  const char *names;
  size_t nnames; /* Every string that begins in them ends in them. */
} Source;

/* Describe all sections. Returns -1 without memory. */
static int source_sections(const LsElf *e, Source *src)
{
  LsSection s;
  size_t i, n = 1;
  while (ls_elf_section(e, n, &s) == 0)
    n++;
  src->section = calloc(n, sizeof(*src->section));
  if (!src->section)
    return -1;
  for (i = 1; i < n; i++)
    ls_elf_section(e, i, &src->section[i]);
  src->nsection = n;
  return 0;
}

/* The rank of a name, the higher the better: functions before labels, then by
** binding, names without a version, and names with fewer leading underscores.
*/
static uint8_t symbol_rank(const Elf64_Sym *sym, const char *name)
{
  unsigned bind = ELF64_ST_BIND(sym->st_info), rank = 0, i;
  if (ELF64_ST_TYPE(sym->st_info) != STT_NOTYPE)
    rank |= 64;
  rank |= bind == STB_LOCAL ? 0 : bind == STB_WEAK ? 16 : 32;
  if (!strchr(name, '@'))
    rank |= 8;
  for (i = 0; i < 7 && name[i] == '_'; i++)
    ;
  return (uint8_t)(rank | (7 - i));
}

/* Make a symbol of function S. Returns 0 if it is none. */
static int symbol_make(const Source *src, const Elf64_Sym *sym, Symbol *s)
{
  unsigned type = ELF64_ST_TYPE(sym->st_info);
  const LsSection *in;
  uint64_t end;
  if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
      sym->st_shndx == SHN_UNDEF || sym->st_shndx >= src->nsection ||
      sym->st_name >= src->nnames)
    return 0;
  in = &src->section[sym->st_shndx];
  end = in->addr + in->size;
  if (!(in->flags & SHF_EXECINSTR) || end < in->addr ||
      sym->st_value < in->addr || sym->st_value >= end)
    return 0;
  s->name = src->names + sym->st_name;
  if (!*s->name || (type == STT_NOTYPE && strchr(".$", *s->name)))
    return 0; /* Marks of tools. */
  if (strnlen(s->name, SYMBOLS_MAX_NAME) == SYMBOLS_MAX_NAME)
    return 0;
  s->lo = sym->st_value;
  s->sized = sym->st_size != 0;
  s->hi = s->sized && sym->st_size < end - s->lo ? s->lo + sym->st_size : end;
  s->rank = symbol_rank(sym, s->name);
  return 1;
}

/* Add a symbol. Returns -1 without memory. */
static int symbol_add(LsSymbols *t, const Symbol *s)
{
  if (t->n == t->cap) {
    size_t want = t->cap + t->cap / 2 + 256;
    Symbol *more = reallocarray(t->symbol, want, sizeof(*more));
    if (!more)
      return -1;
    t->symbol = more;
    t->cap = want;
  }
  t->symbol[t->n++] = *s;
  return 0;
}

/* Read the symbols of section number I. Returns -1 without memory. */
static int symbols_section(LsSymbols *t, const LsElf *e, Source *src, size_t i)
{
  LsSection s, str;
  Elf64_Sym sym;
  size_t n;
  const uint8_t *p;
  if (ls_elf_load(e, i, &s) != 0 || ls_elf_load(e, s.link, &str) != 0)
    return 0;
  while (str.n && str.p[str.n - 1])
    str.n--; /* The last string must end. */
  src->names = (const char *)str.p;
  src->nnames = str.n;
  n = s.n / sizeof(sym);
  for (p = s.p; n && t->n < SYMBOLS_MAX; n--, p += sizeof(sym)) {
    Symbol symbol = {0};
    memcpy(&sym, p, sizeof(sym));
    if (symbol_make(src, &sym, &symbol) && symbol_add(t, &symbol))
      return -1;
  }
  return 0;
}

/* Add the first table of a type that has functions. Returns -1
** without memory.
*/
static int symbols_read(LsSymbols *t, const LsElf *e, uint32_t type)
{
  Source src = {0};
  size_t i, had = t->n;
  int status = source_sections(e, &src);
  for (i = 1; status == 0 && t->n == had && i < src.nsection; i++)
    if (src.section[i].type == type)
      status = symbols_section(t, e, &src, i);
  free(src.section);
  return status;
}

/* -- Laying out ----------------------------------------------------------- */

/* By address, those with a size first; then the best name. */
static int symbol_order(const void *pa, const void *pb)
{
  const Symbol *a = pa, *b = pb;
  if (a->sized != b->sized)
    return b->sized - a->sized;
  if (a->lo != b->lo)
    return a->lo < b->lo ? -1 : 1;
  if (a->rank != b->rank)
    return b->rank - a->rank;
  return strncmp(a->name, b->name, SYMBOLS_MAX_ORDER);
}

/* Sort symbols and keep one for each address of either sort. Returns how many
** of them have a size.
*/
static size_t symbols_sort(LsSymbols *t)
{
  size_t i, n = 0, sized = 0;
  if (t->n)
    qsort(t->symbol, t->n, sizeof(*t->symbol), symbol_order);
  for (i = 0; i < t->n; i++) {
    const Symbol *s = &t->symbol[i];
    if (n && t->symbol[n - 1].lo == s->lo && t->symbol[n - 1].sized == s->sized)
      continue;
    sized += s->sized;
    t->symbol[n++] = *s;
  }
  t->n = n;
  return sized;
}

/* The innermost symbols have the addresses from AT up to TO. TOP is the one
** that began last; returns the one that may still go on, or NULL.
*/
static const Symbol *layout_until(LsSymbols *t, const Symbol *top, uint64_t at,
                                  uint64_t to)
{
  while (top && at < to) {
    uint64_t end = top->hi < to ? top->hi : to;
    if (end > at) {
      Piece piece = {at, end, top};
      t->piece[t->npiece++] = piece;
      at = end;
    }
    if (top->hi <= at)
      top = top->outer;
  }
  return top;
}

/* Lay out the first N symbols, which have sizes. */
static void layout_sized(LsSymbols *t, size_t n)
{
  const Symbol *top = NULL;
  uint64_t at = 0;
  size_t i;
  for (i = 0; i < n; i++) {
    Symbol *s = &t->symbol[i];
    s->outer = layout_until(t, top, at, s->lo);
    at = s->lo;
    top = s;
  }
  layout_until(t, top, at, UINT64_MAX);
}

/* By address. */
static int piece_order(const void *pa, const void *pb)
{
  const Piece *a = pa, *b = pb;
  return a->lo < b->lo ? -1 : a->lo > b->lo;
}

/* The piece that has an address, or the next one: their number if none. */
static size_t piece_find(const LsSymbols *t, size_t n, uint64_t addr)
{
  size_t lo = 0, hi = n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (t->piece[mid].hi <= addr)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Let the symbols from FROM on, which have no size, fill what is left. */
static void layout_rest(LsSymbols *t, size_t from)
{
  size_t i, n = t->npiece;
  for (i = from; i < t->n; i++) {
    Symbol *s = &t->symbol[i];
    size_t next = piece_find(t, n, s->lo);
    Piece piece = {s->lo, 0, s};
    if (next < n && t->piece[next].lo <= s->lo)
      continue; /* A label inside of a function. */
    if (next < n && t->piece[next].lo < s->hi)
      s->hi = t->piece[next].lo;
    if (i + 1 < t->n && t->symbol[i + 1].lo < s->hi)
      s->hi = t->symbol[i + 1].lo;
    piece.hi = s->hi;
    t->piece[t->npiece++] = piece;
  }
  if (t->npiece > n)
    qsort(t->piece, t->npiece, sizeof(*t->piece), piece_order);
}

/* Make pieces of symbols. Returns -1 without memory. */
static int symbols_layout(LsSymbols *t)
{
  size_t sized = symbols_sort(t);
  t->piece = calloc(2 * t->n + 1, sizeof(*t->piece));
  if (!t->piece)
    return -1;
  layout_sized(t, sized);
  layout_rest(t, sized);
  return 0;
}

/* Keep a copy of a symbol's name, once for all of its pieces: the files that
** names are from are closed. *AT is where it is, and 1 more, once it is kept.
** Returns where that is. One whose name is too much has none.
*/
static uint64_t keep_name(LsSymbolTable *t, const Symbol *s, uint64_t *at)
{
  size_t n = s->name ? strlen(s->name) + 1 : 0;
  if (*at)
    return *at - 1;
  if (!n || t->ntext + n > SYMBOLS_MAX_TEXT)
    return LS_SYMBOL_UNNAMED;
  memcpy(t->text + t->ntext, s->name, n);
  *at = t->ntext + 1;
  t->ntext += n;
  return *at - 1;
}

/* Bytes of all names, as far as they are kept. */
static size_t names_size(const LsSymbols *t)
{
  size_t i, size = 0;
  for (i = 0; i < t->n && size < SYMBOLS_MAX_TEXT; i++)
    size += strlen(t->symbol[i].name) + 1;
  return size < SYMBOLS_MAX_TEXT ? size : SYMBOLS_MAX_TEXT;
}

/* Make *OUT, which is empty, of the pieces. Returns -1 without memory. */
static int symbols_keep(const LsSymbols *t, LsSymbolTable *out)
{
  uint64_t *at = calloc(t->n + 1, sizeof(*at));
  size_t i;
  out->piece = malloc((t->npiece + 1) * sizeof(*out->piece));
  out->text = malloc(names_size(t) + 1);
  for (i = 0; at && out->piece && out->text && i < t->npiece; i++) {
    const Piece *from = &t->piece[i];
    const Symbol *s = from->symbol;
    uint64_t name = keep_name(out, s, &at[s - t->symbol]);
    out->piece[i] = (LsSymbolPiece){from->lo, from->hi, s->lo, s->hi, name};
    out->n++;
  }
  free(at);
  return at && out->piece && out->text ? 0 : -1;
}

/* -- All ------------------------------------------------------------------ */

/* Read the symbols of E's file: its own, those of another file, which is put in
** *OTHER, or those for the dynamic linker. Returns -1 without memory.
*/
static int symbols_sources(LsSymbols *t, const LsElf *e, LsElf **other)
{
  int status = symbols_read(t, e, SHT_SYMTAB);
  if (status == 0 && !t->n && (*other = ls_debugfile_open(e)) != NULL)
    status = symbols_read(t, *other, SHT_SYMTAB);
  if (status != 0 || t->n)
    return status;
  ls_elf_close(*other);
  *other = NULL;
  status = symbols_read(t, e, SHT_DYNSYM);
  if (status == 0 && (*other = ls_debugfile_mini(e)) != NULL)
    status = symbols_read(t, *other, SHT_SYMTAB);
  return status;
}

/* The table of E's file. Without memory it stays empty. */
static LsSymbolTable *symbols_new(const LsElf *e)
{
  LsSymbolTable *out = calloc(1, sizeof(*out));
  LsSymbols t = {0};
  LsElf *other = NULL;
  if (!out)
    return NULL;
  if (symbols_sources(&t, e, &other) || symbols_layout(&t) ||
      symbols_keep(&t, out))
    out->n = 0;
  free(t.symbol);
  free(t.piece);
  ls_elf_close(other);
  return out;
}

size_t ls_symbols_load(LsElf *e)
{
  LsElfIndex *index = ls_elf_index(e);
  const LsSymbolTable *t;
  if (!index->p)
    *index = (LsElfIndex){symbols_new(e), ls_symboltable_free};
  t = index->p;
  return t ? t->n * sizeof(*t->piece) + t->ntext : 0;
}

const LsSymbolTable *ls_symbols_get(LsElf *e)
{
  ls_symbols_load(e);
  return ls_elf_index(e)->p;
}

int ls_symbols_set(LsElf *e, LsSymbolTable *t)
{
  LsElfIndex *index = ls_elf_index(e);
  if (index->p || !ls_symboltable_valid(t)) {
    ls_symboltable_free(t);
    return -1;
  }
  *index = (LsElfIndex){t, ls_symboltable_free};
  return 0;
}

int ls_symbols_find(LsElf *e, uint64_t addr, const char **name, uint64_t *start,
                    uint64_t *size)
{
  const LsSymbolTable *t = ls_symbols_get(e);
  return t ? ls_symboltable_find(t, addr, name, start, size) : -1;
}

/*
** Names of the kernel's functions, from /proc/kallsyms.
**
** Symbols have no sizes there, so a function reaches to the next symbol of any
** kind. Names are kept one behind the other: there are some 200,000 of them.
*/

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"

#define KALLSYMS_BUFFER 65536 /* Of 1024 bytes, stdio would take. */

#define KALLSYMS_MAX (1u << 23) /* Symbols. */
#define KERNEL_START (1ull << 63)

typedef struct Symbol {
  uint64_t addr;
  uint32_t name; /* Where in the names; 0 is none: it is not a function. */
  uint32_t rank; /* Of several at one address, the highest is taken. */
} Symbol;

struct LsKallsyms {
  Symbol *symbol;
  size_t n, cap;
  char *names; /* The first is "". */
  size_t nnames, cap_names;
};

/* -- Reading -------------------------------------------------------------- */

/* P with room for NEED elements. Returns NULL without memory. */
static void *room(void *p, size_t *cap, size_t need, size_t size)
{
  size_t want = *cap + *cap / 2;
  if (need <= *cap)
    return p;
  if (want < need)
    want = need + 1024;
  p = reallocarray(p, want, size);
  if (p)
    *cap = want;
  return p;
}

/* Keep a name. Returns where, or 0 without memory. */
static uint32_t name_add(LsKallsyms *k, const char *s)
{
  size_t n = strlen(s) + 1, at = k->nnames;
  char *p = room(k->names, &k->cap_names, at + n, 1);
  if (!p || at + n > UINT32_MAX)
    return 0;
  k->names = p;
  memcpy(p + at, s, n);
  k->nnames = at + n;
  return (uint32_t)at;
}

/* Add a symbol. Returns -1 without memory, or if there are far too many. */
static int symbol_add(LsKallsyms *k, uint64_t addr, char type, const char *name)
{
  Symbol *p = room(k->symbol, &k->cap, k->n + 1, sizeof(*p));
  if (!p || k->n == KALLSYMS_MAX) {
    errno = ENOMEM;
    return -1;
  }
  k->symbol = p;
  p += k->n;
  memset(p, 0, sizeof(*p));
  p->addr = addr;
  if (strchr("tTwW", type)) {
    p->name = name_add(k, name);
    if (!p->name)
      return -1;
    p->rank = (type == 'T' ? 3 : type == 'W' ? 2 : 1) + (*name != '_' ? 4 : 0);
  }
  k->n++;
  return 0;
}

/* Take a line: "ffffffff81000000 T _stext", or with "\t[module]" behind it.
** *HIDDEN counts functions without addresses. Returns -1 without memory.
*/
static int line_take(LsKallsyms *k, char *line, size_t *hidden)
{
  char *end, *tab, type;
  uint64_t addr;
  errno = 0;
  addr = strtoull(line, &end, 16);
  if (end == line || errno || end[0] != ' ' ||
      !isalpha((unsigned char)end[1]) || end[2] != ' ')
    return 0;
  type = end[1];
  end += 3;
  end[strcspn(end, "\n")] = '\0';
  tab = strchr(end, '\t');
  if (tab)
    *tab = ' ';
  if (addr >= KERNEL_START)
    return symbol_add(k, addr, type, end);
  if (addr == 0 && strchr("tT", type))
    ++*hidden; /* Offsets in per-CPU memory are low, too, but no code. */
  return 0;
}

/* Take all lines. Returns -1 and errno. */
static int lines_take(LsKallsyms *k, FILE *f)
{
  char *line = NULL;
  size_t size = 0, hidden = 0, functions = 0, i;
  int status = 0;
  while (status == 0 && getline(&line, &size, f) > 0)
    status = line_take(k, line, &hidden);
  free(line);
  if (status == 0 && ferror(f))
    status = -1;
  for (i = 0; i < k->n; i++)
    functions += k->symbol[i].name != 0;
  if (status == 0 && !functions) {
    errno = hidden ? EPERM : ENODATA;
    status = -1;
  }
  return status;
}

/* By address; the best name of one address is the last. */
static int symbol_order(const void *pa, const void *pb)
{
  const Symbol *a = pa, *b = pb;
  if (a->addr != b->addr)
    return a->addr < b->addr ? -1 : 1;
  if (a->rank != b->rank)
    return a->rank < b->rank ? -1 : 1;
  return a->name < b->name ? 1 : -1;
}

LsKallsyms *ls_kallsyms_open(const char *path)
{
  LsKallsyms *k;
  int error, status = -1;
  FILE *f = fopen(path ? path : "/proc/kallsyms", "re");
  if (!f)
    return NULL;
  k = calloc(1, sizeof(*k));
  if (k) {
    setvbuf(f, NULL, _IOFBF, KALLSYMS_BUFFER);
    name_add(k, "");
    status = k->names ? lines_take(k, f) : -1;
  }
  error = errno;
  fclose(f);
  if (status == 0) {
    qsort(k->symbol, k->n, sizeof(*k->symbol), symbol_order);
    return k;
  }
  ls_kallsyms_close(k);
  errno = error;
  return NULL;
}

void ls_kallsyms_close(LsKallsyms *k)
{
  if (!k)
    return;
  free(k->symbol);
  free(k->names);
  free(k);
}

/* -- Looking up ----------------------------------------------------------- */

const char *ls_kallsyms_find(const LsKallsyms *k, uint64_t addr)
{
  size_t lo = 0, hi = k->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (k->symbol[mid].addr <= addr)
      lo = mid + 1;
    else
      hi = mid;
  }
  if (lo == 0 || !k->symbol[lo - 1].name)
    return NULL;
  return k->names + k->symbol[lo - 1].name;
}

/*
** The call graph of an ELF file, by its machine code.
**
** One pass over the code collects calls, jumps and addresses that are taken. A
** table of functions in the data belongs to each function that takes its
** address: it goes on as long as there are pointers, up to where another
** address is taken. A pointer in the data that belongs to no function may be
** used by any.
**
** Compilers move unlikely parts of a function away. They have unwind data of
** their own, and jump back to the middle of their function.
*/

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "callgraph.h"
#include "x86.h"

#define GRAPH_MAX_CODE  (48u << 20) /* Bytes of code that are looked at. */
#define GRAPH_MAX_FUNCS (1u << 19)
#define GRAPH_MAX_EDGES (1u << 22)
#define GRAPH_MAX_DATA  (64u << 20) /* Bytes of data. */
#define GRAPH_MAX_TABLE 4096        /* Functions in one table. */

/* A pointer to a function in the data. */
typedef struct Slot {
  uint64_t addr;
  uint32_t func;
  uint32_t used; /* A function's table has it. */
} Slot;

/* An address in the data that code takes, or reads. */
typedef struct Place {
  uint64_t addr;
  uint32_t from;
  uint32_t table; /* It may be the first of many. */
} Place;

typedef struct Build {
  const LsElf *elf;
  LsCallGraph *g;
  size_t capedge, capinto;
  Slot *slot;
  size_t nslot, capslot;
  Place *place;
  size_t nplace, capplace;
  uint64_t data; /* Bytes of data that were looked at. */
  int fixed;     /* Code is not moved: it has addresses as numbers. */
  int error;     /* ENOMEM, E2BIG, or 0. */
} Build;

/* Room for one more element at P, of which there are N. NULL: no more. */
static void *more(Build *b, void *p, size_t n, size_t *cap, size_t size)
{
  size_t want = *cap ? *cap * 2 : 1024;
  void *q;
  if (b->error)
    return NULL;
  if (n < *cap)
    return p;
  if (n >= GRAPH_MAX_EDGES) {
    b->error = E2BIG;
    return NULL;
  }
  q = reallocarray(p, want, size);
  if (!q)
    b->error = ENOMEM;
  else
    *cap = want;
  return q;
}

/* Add a call, or another use, of a function by a function. */
static void add_edge(Build *b, uint32_t from, uint32_t to, uint32_t kind)
{
  LsCallGraph *g = b->g;
  LsEdge *p = more(b, g->edge, g->nedge, &b->capedge, sizeof(*p));
  if (!p)
    return;
  g->edge = p;
  p[g->nedge++] = (LsEdge){from, to, kind};
}

/* Add a jump or a call to the middle of something. */
static void add_into(Build *b, uint32_t from, uint64_t addr)
{
  LsCallGraph *g = b->g;
  LsInto *p = more(b, g->into, g->ninto, &b->capinto, sizeof(*p));
  if (!p)
    return;
  g->into = p;
  p[g->ninto++] = (LsInto){from, addr};
}

/* Add a word of data that has the address of a function. */
static void add_slot(Build *b, uint64_t addr, uint32_t func)
{
  Slot *p = more(b, b->slot, b->nslot, &b->capslot, sizeof(*p));
  if (!p)
    return;
  b->slot = p;
  p[b->nslot++] = (Slot){addr, func, 0};
}

/* Add an address of data that a function uses; of a table if TABLE. */
static void add_place(Build *b, uint32_t from, uint64_t addr, int table)
{
  Place *p = more(b, b->place, b->nplace, &b->capplace, sizeof(*p));
  if (!p)
    return;
  b->place = p;
  p[b->nplace++] = (Place){addr, from, (uint32_t)table};
}

/* The function that begins at ADDR, or LS_FUNC_NONE. */
static uint32_t begins_at(const LsCallGraph *g, uint64_t addr)
{
  uint32_t f = ls_callgraph_at(g, addr);
  return f != LS_FUNC_NONE && g->range[f].lo == addr ? f : LS_FUNC_NONE;
}

/* -- Code ----------------------------------------------------------------- */

/* An address that an instruction has in it. */
static void take_address(Build *b, uint32_t from, uint64_t addr, int table)
{
  uint32_t f = begins_at(b->g, addr);
  if (f == LS_FUNC_NONE)
    add_place(b, from, addr, table);
  else if (f != from)
    add_edge(b, from, f, LS_EDGE_REF);
}

/* A direct call, or a jump, to ADDR. */
static void take_branch(Build *b, uint32_t from, uint64_t addr, int call)
{
  LsCallGraph *g = b->g;
  uint32_t f = ls_callgraph_at(g, addr);
  if (f == LS_FUNC_NONE || f == from)
    return;
  if (f == g->hub)
    add_into(b, from, addr);
  else if (!call && g->range[f].lo != addr && from != g->hub)
    g->owner[from] = f;
  add_edge(b, from, f, LS_EDGE_CALL);
}

/* mov, push and cmp of imm32: an address, if code is not moved. */
static int has_address(const LsX86 *x)
{
  return x->map == 0 && !x->prefix && x->imm > 0 &&
         ((x->op & 0xf8) == 0xb8 || x->op == 0xc7 || x->op == 0x68 ||
          x->op == 0x81 || x->op == 0x3d);
}

/* What an instruction of a function calls, jumps to or uses. */
static void take_instruction(Build *b, uint32_t from, const LsX86 *x,
                             uint64_t next)
{
  if (ls_x86_isjcc(x) ||
      (x->map == 0 && (x->op == 0xe8 || x->op == 0xe9 || x->op == 0xeb))) {
    take_branch(b, from, next + (uint64_t)(int64_t)x->disp, x->op == 0xe8);
    return;
  }
  if (x->mem && x->base == LS_NREG && x->index == LS_NREG)
    take_address(b, from, next + (uint64_t)(int64_t)x->disp,
                 x->map == 0 && x->op == 0x8d);
  else if (b->fixed && x->mem && x->base == LS_NREG && x->disp > 0)
    take_address(b, from, (uint64_t)x->disp, 1);
  if (b->fixed && has_address(x))
    take_address(b, from, (uint64_t)x->imm, 1);
}

/* Read the code of a function. */
static void read_function(Build *b, uint32_t f)
{
  const LsAddrRange *r = &b->g->range[f];
  const uint8_t *p = ls_elf_bytes(b->elf, r->lo, r->hi - r->lo);
  size_t n = r->hi - r->lo, at = 0;
  LsX86 x;
  while (p && at < n && !b->error) {
    if (!ls_x86_decode(p + at, n - at, &x)) {
      at++;
      continue;
    }
    at += x.len;
    take_instruction(b, f, &x, r->lo + at);
  }
}

/* -- Data ----------------------------------------------------------------- */

/* Pointers that the dynamic linker makes. */
static void read_relocations(Build *b, const LsSection *s)
{
  size_t at;
  Elf64_Rela r;
  uint32_t f;
  for (at = 0; at + sizeof(r) <= s->n; at += sizeof(r)) {
    memcpy(&r, s->p + at, sizeof(r));
    if (ELF64_R_TYPE(r.r_info) == R_X86_64_RELATIVE &&
        (f = begins_at(b->g, (uint64_t)r.r_addend)) != LS_FUNC_NONE)
      add_slot(b, r.r_offset, f);
  }
}

/* Pointers that the file has. */
static void read_words(Build *b, const LsSection *s)
{
  size_t at = -s->addr & 7;
  uint64_t v;
  uint32_t f;
  for (; at + sizeof(v) <= s->n; at += sizeof(v)) {
    memcpy(&v, s->p + at, sizeof(v));
    if (v && (f = begins_at(b->g, v)) != LS_FUNC_NONE)
      add_slot(b, s->addr + at, f);
  }
}

/* Find functions whose addresses are in data. */
static void read_data(Build *b)
{
  LsSection s;
  size_t i;
  for (i = 1; ls_elf_section(b->elf, i, &s) == 0 && !b->error; i++) {
    if (!(s.flags & SHF_ALLOC) || (s.flags & SHF_EXECINSTR) ||
        (s.type != SHT_PROGBITS && s.type != SHT_RELA))
      continue;
    b->data += s.size;
    if (s.size > GRAPH_MAX_DATA || b->data > GRAPH_MAX_DATA)
      b->error = E2BIG;
    else if (ls_elf_load(b->elf, i, &s) == 0 && s.type == SHT_RELA)
      read_relocations(b, &s);
    else if (s.p)
      read_words(b, &s);
  }
}

/* By address. */
static int slot_order(const void *pa, const void *pb)
{
  const Slot *a = pa, *b = pb;
  return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* For qsort: by address. */
static int place_order(const void *pa, const void *pb)
{
  const Place *a = pa, *b = pb;
  return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* Give the table that begins at PLACE to who takes its address. It ends at END.
** *AT is the first slot that is not before it. One pointer alone may be
** anything, as an element of a table that has other things, too.
*/
static void take_table(Build *b, const Place *place, uint64_t end, size_t *at)
{
  uint64_t addr = place->addr;
  size_t i, n;
  while (*at < b->nslot && b->slot[*at].addr < addr)
    ++*at;
  for (i = *at, n = 0; i < b->nslot && n < GRAPH_MAX_TABLE; i++, n++) {
    if (b->slot[i].addr != addr || (n && addr >= end))
      break;
    add_edge(b, place->from, b->slot[i].func, LS_EDGE_REF);
    addr += 8;
    if (!place->table)
      break;
  }
  while (n > 1 && i > *at)
    b->slot[--i].used = 1;
}

/* Sort slots. Some linkers write a pointer that has a relocation as well. */
static void sort_slots(Build *b)
{
  size_t i, n = 0;
  if (b->nslot)
    qsort(b->slot, b->nslot, sizeof(*b->slot), slot_order);
  for (i = 0; i < b->nslot; i++)
    if (!n || b->slot[n - 1].addr != b->slot[i].addr)
      b->slot[n++] = b->slot[i];
  b->nslot = n;
}

/* Give words of data to the functions that use the tables they are in. */
static void take_tables(Build *b)
{
  size_t i, next = 0, at = 0;
  sort_slots(b);
  if (b->nplace)
    qsort(b->place, b->nplace, sizeof(*b->place), place_order);
  for (i = 0; i < b->nplace; i++) {
    while (next < b->nplace &&
           (b->place[next].addr <= b->place[i].addr || !b->place[next].table))
      next++;
    take_table(b, &b->place[i],
               next < b->nplace ? b->place[next].addr : UINT64_MAX, &at);
  }
  for (i = 0; i < b->nslot; i++)
    if (!b->slot[i].used)
      b->g->outside[b->slot[i].func] = 1;
}

/* -- The graph ------------------------------------------------------------ */

/* For qsort: by who calls, who is called, and how. */
static int edge_order(const void *pa, const void *pb)
{
  const LsEdge *a = pa, *b = pb;
  if (a->from != b->from)
    return a->from < b->from ? -1 : 1;
  if (a->to != b->to)
    return a->to < b->to ? -1 : 1;
  return a->kind < b->kind ? -1 : a->kind > b->kind;
}

/* For qsort: by who calls, and where it goes. */
static int into_order(const void *pa, const void *pb)
{
  const LsInto *a = pa, *b = pb;
  if (a->from != b->from)
    return a->from < b->from ? -1 : 1;
  return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* Sort edges, those of parts being their function's, and drop what is twice. */
static void sort_edges(LsCallGraph *g)
{
  size_t i, n = 0;
  uint32_t f;
  for (i = 0; i < g->nedge; i++) {
    LsEdge *e = &g->edge[i];
    e->from = g->owner[e->from];
    e->to = g->owner[e->to];
  }
  if (g->nedge)
    qsort(g->edge, g->nedge, sizeof(*g->edge), edge_order);
  if (g->ninto)
    qsort(g->into, g->ninto, sizeof(*g->into), into_order);
  for (i = 0; i < g->nedge; i++) {
    const LsEdge *e = &g->edge[i];
    if (e->from != e->to && (!n || edge_order(&g->edge[n - 1], e) != 0))
      g->edge[n++] = *e;
  }
  g->nedge = n;
  for (f = 0, i = 0; f <= g->n; f++) {
    while (i < n && g->edge[i].from < f)
      i++;
    g->first[f] = (uint32_t)i;
  }
}

/* Parts of parts belong to the function, too. A circle of parts is none. */
static void resolve_owners(LsCallGraph *g)
{
  uint32_t f, i;
  for (f = 0; f < g->n; f++) {
    uint32_t o = g->owner[f];
    for (i = 0; i < 4 && g->owner[o] != o; i++)
      o = g->owner[o];
    g->owner[f] = g->owner[o] == o ? o : f;
  }
}

/* A function without callers is called in ways that are not known. */
static void find_outside(LsCallGraph *g)
{
  uint8_t *led = calloc(g->n + 1, 1);
  size_t i;
  for (i = 0; led && i < g->nedge; i++)
    led[g->edge[i].to] = 1;
  for (i = 0; i < g->n; i++)
    if (!led || (!led[i] && g->owner[i] == i))
      g->outside[i] = 1;
  free(led);
}

/* Bytes of all functions, counted up to the bound. */
static uint64_t code_size(const LsAddrRange *range, size_t n)
{
  uint64_t sum = 0;
  size_t i;
  for (i = 0; i < n && sum <= GRAPH_MAX_CODE; i++)
    sum += range[i].hi - range[i].lo;
  return sum;
}

int ls_callgraph_build(const LsElf *e, const LsAddrRange *range, size_t n,
                       uint32_t hub, LsCallGraph *g)
{
  Build b = {.elf = e, .g = g};
  uint64_t base;
  uint32_t f;
  memset(g, 0, sizeof(*g));
  if (n > GRAPH_MAX_FUNCS || code_size(range, n) > GRAPH_MAX_CODE) {
    errno = E2BIG;
    return -1;
  }
  *g = (LsCallGraph){.range = range, .n = (uint32_t)n, .hub = hub};
  b.fixed = ls_elf_vaddr(e, 0, &base) == 0 && base != 0;
  g->first = calloc(n + 1, sizeof(*g->first));
  g->owner = calloc(n + 1, sizeof(*g->owner));
  g->outside = calloc(n + 1, 1);
  if (!g->first || !g->owner || !g->outside)
    b.error = ENOMEM;
  for (f = 0; f < n && !b.error; f++)
    g->owner[f] = f;
  for (f = 0; f < n && !b.error; f++)
    read_function(&b, f);
  if (!b.error) {
    read_data(&b);
    take_tables(&b);
  }
  free(b.slot);
  free(b.place);
  if (b.error) {
    ls_callgraph_free(g);
    errno = b.error;
    return -1;
  }
  resolve_owners(g);
  sort_edges(g);
  find_outside(g);
  return 0;
}

void ls_callgraph_free(LsCallGraph *g)
{
  free(g->edge);
  free(g->first);
  free(g->owner);
  free(g->outside);
  free(g->into);
  memset(g, 0, sizeof(*g));
}

/* -- Questions ------------------------------------------------------------ */

uint32_t ls_callgraph_at(const LsCallGraph *g, uint64_t addr)
{
  uint32_t lo = 0, hi = g->n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (addr < g->range[mid].lo)
      hi = mid;
    else if (addr >= g->range[mid].hi)
      lo = mid + 1;
    else
      return mid;
  }
  return LS_FUNC_NONE;
}

int ls_callgraph_has(const LsCallGraph *g, uint32_t from, uint32_t to,
                     unsigned kinds)
{
  uint32_t i;
  for (i = g->first[from]; i < g->first[from + 1]; i++)
    if (g->edge[i].to == to && (g->edge[i].kind & kinds))
      return 1;
  return 0;
}

void ls_callgraph_reach(const LsCallGraph *g, const uint8_t *gate,
                        uint8_t *reached, uint32_t *stack)
{
  uint32_t n = 0, f, i;
  for (f = 0; f < g->n; f++)
    if (reached[f])
      stack[n++] = f;
  while (n) {
    f = stack[--n];
    for (i = g->first[f]; i < g->first[f + 1]; i++) {
      uint32_t to = g->edge[i].to;
      if (!reached[to] && !gate[to]) {
        reached[to] = 1;
        stack[n++] = to;
      }
    }
  }
}

/*
** Roots of stacks in code without unwind data.
**
** A stack that a program makes by hand (a fiber, a coroutine) begins with a
** return address that was put there, for the case that the fiber's function
** returns. No call has left it: the instruction before it is none. So there is
** no caller, and if what is there does not return either, the stack ends. That
** is known of:
**
** - A label in code without unwind data, behind a jump or a return, from where
**   all code leads to hlt or ud2: `finish` of boost::context and of all that
**   was made after it.
** - The first instruction of a function that has unwind data, with no call in
**   front of it. Either all code leads to hlt or ud2 there, too, as in
**   __start_context of glibc; or its first row says what is next, as for
**   abort() of libcoro.
** - The entry of a program (e_entry), which the kernel jumps to.
**
** A return address that a call has left is none of these, whatever follows it.
*/

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "roots.h"
#include "x86.h"

#define GAP_MAX  65536 /* Bytes between two functions that are looked at. */
#define PAGE     4096  /* Segments begin there. */
#define MAX_JUMP 64    /* Bytes, in that. */
#define CODE_MAX 32    /* Instructions from a root to its end. */

typedef struct Roots {
  const LsElf *elf;
  LsRows *rows;
  struct ljs_row *row; /* To be added: sorted. */
  size_t n, cap;
  int bad;
} Roots;

/* -- Instructions --------------------------------------------------------- */

/* hlt, ud2: nothing goes on there. */
static size_t end_size(const uint8_t *p, size_t n)
{
  if (n >= 1 && p[0] == 0xf4)
    return 1;
  return n >= 2 && p[0] == 0x0f && p[1] == 0x0b ? 2 : 0;
}

/* Is it a call, direct or not? */
static bool is_call(const LsX86 *x)
{
  return x->map == 0 && (x->op == 0xe8 || (x->op == 0xff && (x->reg & 6) == 2));
}

/* It never goes on behind it: ret, jmp. */
static bool is_leave(const LsX86 *x)
{
  return x->map == 0 && (x->op == 0xc3 || x->op == 0xc2 || x->op == 0xe9 ||
                         x->op == 0xeb || (x->op == 0xff && (x->reg & 6) == 4));
}

/* Does control go where it is not followed: loop, syscall, int, far returns? */
static bool is_branch(const LsX86 *x)
{
  if (x->map == 1)
    return x->op == 0x05 || x->op == 0x07 || x->op == 0x34 || x->op == 0x35;
  return x->map == 0 && ((x->op & 0xfc) == 0xe0 || (x->op & 0xfc) == 0xcc ||
                         x->op == 0xca || x->op == 0xcb);
}

/* Is it one that does nothing? */
static bool is_nop(const LsX86 *x)
{
  return (x->map == 0 && x->op == 0x90) || (x->map == 1 && x->op == 0x1f);
}

/* Might a call end right before P, which has N bytes before it? */
static bool behind_call(const uint8_t *p, size_t n)
{
  size_t k;
  if (n >= 5 && p[-5] == 0xe8)
    return true;
  for (k = 2; k <= 7 && k <= n; k++)
    if (p[-(ptrdiff_t)k] == 0xff && (p[1 - (ptrdiff_t)k] & 0x30) == 0x10)
      return true;
  return false;
}

/* A look at the last bytes saves to decode most functions. */
static bool ends_in_trap(const uint8_t *p, size_t n)
{
  return end_size(p + n - 1, 1) || (n > 1 && end_size(p + n - 2, 2) == 2);
}

/* Does all code from P on lead to hlt or ud2, and nowhere else? A trap without
** a call before it is some other's.
*/
static bool dead_end(const uint8_t *p, size_t n)
{
  size_t at = 0, far = 0;
  bool called = false;
  unsigned i;
  LsX86 x;
  for (i = 0; i < CODE_MAX; i++) {
    if (end_size(p + at, n - at))
      return called && far <= at;
    if (!ls_x86_decode(p + at, n - at, &x) || is_leave(&x) || is_branch(&x))
      return false;
    at += x.len;
    called |= is_call(&x);
    if (ls_x86_isjcc(&x) && (x.disp < 0 || x.disp > MAX_JUMP))
      return false;
    if (ls_x86_isjcc(&x) && at + (size_t)x.disp > far)
      far = at + (size_t)x.disp;
  }
  return false;
}

/* -- Rows ----------------------------------------------------------------- */

/* Add a row at an address, which ends the one before. */
static void add(Roots *r, uint64_t pc, uint8_t how)
{
  if (r->n == r->cap) {
    size_t cap = r->cap ? r->cap * 2 : 16;
    struct ljs_row *row = reallocarray(r->row, cap, sizeof(*row));
    if (!row) {
      r->bad = 1;
      return;
    }
    r->row = row;
    r->cap = cap;
  }
  if (r->n && r->row[r->n - 1].pc == pc) /* The end of the one before. */
    r->n--;
  r->row[r->n++] = (struct ljs_row){.pc = (__u32)pc, .how = how};
}

/* Labels behind which nothing returns. Rows are looked for by the byte before a
** return address, and that is the last one of a jump or of a ret.
*/
static void add_labels(Roots *r, uint64_t lo, const uint8_t *p, size_t n)
{
  size_t at = 0, end;
  bool left = false; /* Nothing comes here from before. */
  LsX86 x;
  while (at < n) {
    if (left && at && dead_end(p + at, n - at) && !behind_call(p + at, at)) {
      add(r, lo + at - 1, LJS_CFA_ROOT);
      add(r, lo + at, LJS_CFA_UNKNOWN);
    }
    if ((end = end_size(p + at, n - at)) != 0) {
      left = true;
      at += end;
    } else if (ls_x86_decode(p + at, n - at, &x)) {
      left = is_leave(&x) || (left && is_nop(&x));
      at += x.len;
    } else {
      left = false;
      at++;
    }
  }
}

/* What programs begin with: xor %ebp, %ebp or mov %rsp, %rdi. A library's entry
** is no such thing, and may be anything.
*/
static bool is_entry(const uint8_t *p, size_t n)
{
  static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (n > 4 && memcmp(p, endbr, 4) == 0) {
    p += 4;
    n -= 4;
  }
  return n >= 3 &&
         (memcmp(p, "\x31\xed", 2) == 0 || memcmp(p, "\x48\x31\xed", 3) == 0 ||
          memcmp(p, "\x48\x89\xe7", 3) == 0);
}

/* Where the process begins: as far as the code is straight. */
static void add_entry(Roots *r, uint64_t lo, const uint8_t *p, size_t n)
{
  size_t at = 0;
  unsigned i;
  LsX86 x;
  if (!is_entry(p, n))
    return;
  for (i = 0; i < CODE_MAX && ls_x86_decode(p + at, n - at, &x); i++) {
    at += x.len;
    if (is_leave(&x) || end_size(p + at, n - at))
      break;
  }
  add(r, lo, LJS_CFA_END);
  add(r, lo + at, LJS_CFA_UNKNOWN);
}

/* Code without unwind data, from LO to HI. */
static void add_gap(Roots *r, uint64_t lo, uint64_t hi)
{
  uint64_t entry = ls_elf_entry(r->elf);
  const uint8_t *p = hi - lo <= GAP_MAX && ls_elf_exec(r->elf, lo, hi)
                         ? ls_elf_bytes(r->elf, lo, hi - lo)
                         : NULL;
  size_t n = p ? hi - lo : 0, at = entry - lo;
  if (!p)
    return;
  if (entry < lo || entry >= hi) {
    add_labels(r, lo, p, n);
    return;
  }
  add_labels(r, lo, p, at);
  add_entry(r, entry, p + at, n - at);
  /* What is behind it, where a program begins, is not looked at. */
}

/* A function with unwind data, RANGE, whose first row is number I; the bytes
** from FROM to it have none. If a return address is where it begins, and was
** not left by a call, it is looked up one byte before. If the function returns,
** its first row says what is next.
*/
static void add_start(Roots *r, uint64_t from, const LsAddrRange *range,
                      size_t i)
{
  struct ljs_row *row = r->rows->row + i;
  size_t n = range->lo - from < 8 ? range->lo - from : 8;
  size_t size = range->hi - range->lo;
  const uint8_t *p = ls_elf_bytes(r->elf, range->lo - n, n + size);
  if (!p || row->pc != range->lo || (i && row[-1].pc >= range->lo - 1) ||
      (r->n && r->row[r->n - 1].pc > range->lo - 1) ||
      !ls_elf_exec(r->elf, range->lo - n, range->hi) || behind_call(p + n, n))
    return;
  if (ends_in_trap(p + n, size) && dead_end(p + n, size))
    add(r, range->lo - 1, LJS_CFA_ROOT);
  else
    row->pc--;
}

/* -- The table ------------------------------------------------------------ */

/* The row that comes next; what is new is where the table had nothing. */
static struct ljs_row next(const LsRows *rows, size_t *i, const Roots *r,
                           size_t *k)
{
  uint64_t old = *i < rows->n ? rows->row[*i].pc : UINT64_MAX;
  uint64_t new = *k < r->n ? r->row[*k].pc : UINT64_MAX;
  struct ljs_row row;
  if (old < new)
    return rows->row[(*i)++];
  row = r->row[(*k)++];
  if (old == new) {
    if (row.how == LJS_CFA_UNKNOWN)
      row = rows->row[*i];
    (*i)++;
  }
  return row;
}

/* Put the rows among those of the table. Returns -1 without memory. */
static int merge(LsRows *rows, const Roots *r)
{
  struct ljs_row *all;
  size_t i = 0, k = 0, n = 0;
  if (!r->n)
    return 0;
  all = reallocarray(NULL, rows->n + r->n, sizeof(*all));
  if (!all)
    return -1;
  while (i < rows->n || k < r->n)
    all[n++] = next(rows, &i, r, &k);
  free(rows->row);
  rows->row = all;
  rows->n = n;
  return 0;
}

int ls_roots_add(const LsElf *e, LsRows *rows)
{
  Roots r = {.elf = e, .rows = rows};
  uint64_t from = rows->nrange ? rows->range[0].lo & ~(uint64_t)(PAGE - 1) : 0;
  size_t i, at = 0, n;
  int err;
  if (!rows->n)
    return 0;
  for (i = 0; i < rows->nrange; i++) {
    const LsAddrRange *range = &rows->range[i];
    while (at + 1 < rows->n && rows->row[at].pc < range->lo)
      at++;
    if (from < range->lo) {
      uint64_t lo = range->lo - from > GAP_MAX ? range->lo - GAP_MAX : from;
      add_gap(&r, lo, range->lo);
      add_start(&r, lo, range, at);
    }
    from = range->hi;
  }
  if (rows->nrange && ls_elf_rest(e, from, &n) && from < UINT32_MAX - GAP_MAX)
    add_gap(&r, from, from + (n < GAP_MAX ? n : GAP_MAX));
  err = r.bad ? ENOMEM : merge(rows, &r) ? errno : 0;
  free(r.row);
  errno = err;
  return err ? -1 : 0;
}

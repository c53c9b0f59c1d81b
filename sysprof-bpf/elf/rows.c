/*
** Builds the unwind table of an ELF file from its FDEs.
**
** Where FDEs overlap, the one that begins last wins, as in the unwinder of C++,
** which searches a sorted table. Of two that begin at the same address the
** first one in the file wins.
*/

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "rows.h"

/* As many as the BPF program can look up. */
#define ROWS_MAX ((size_t)LJS_DIRS * LJS_PAGE_PCS * LJS_PAGE_ROWS)

/* -- Functions ------------------------------------------------------------ */

/* By address; then by place in the file. */
static int fde_order(const void *pa, const void *pb)
{
  const LsFde *a = pa, *b = pb;
  if (a->lo != b->lo)
    return a->lo < b->lo ? -1 : 1;
  return a->code < b->code ? -1 : a->code > b->code;
}

/* Sort the FDEs, and cut each where the next one begins. */
static void frames_finalize(LsFrames *f)
{
  size_t i, n = 0;
  if (f->nfde)
    qsort(f->fde, f->nfde, sizeof(*f->fde), fde_order);
  for (i = 0; i < f->nfde; i++) {
    LsFde *now = &f->fde[i];
    if (now->hi > UINT32_MAX || (n && f->fde[n - 1].lo == now->lo))
      continue;
    if (n && f->fde[n - 1].hi > now->lo)
      f->fde[n - 1].hi = now->lo;
    f->fde[n++] = *now;
  }
  f->nfde = n;
}

/* Copy their address ranges. Returns -1 without memory. */
static int rows_ranges(const LsFrames *f, LsRows *out)
{
  size_t i;
  out->range = calloc(f->nfde + 1, sizeof(*out->range));
  if (!out->range)
    return -1;
  for (i = 0; i < f->nfde; i++) {
    out->range[i].lo = f->fde[i].lo;
    out->range[i].hi = f->fde[i].hi;
  }
  out->nrange = f->nfde;
  return 0;
}

/* -- Rows ----------------------------------------------------------------- */

/* Whether two rows say the same, but for where. */
static int row_same(const struct ljs_row *a, const struct ljs_row *b)
{
  struct ljs_row x = *a;
  x.pc = b->pc;
  return memcmp(&x, b, sizeof(x)) == 0;
}

static const struct ljs_row unknown = {.how = LJS_CFA_UNKNOWN};

/* There is no room for more: what is behind is unknown. */
static void rows_full(LsRows *t)
{
  __u32 pc = t->row[t->n - 1].pc;
  t->row[t->n - 1] = unknown;
  t->row[t->n - 1].pc = pc;
}

/* Add a row at PC, unless it changes nothing. Returns -1 and errno. */
static int row_add(LsRows *t, size_t *cap, struct ljs_row row, uint64_t pc)
{
  if (t->n == ROWS_MAX) {
    rows_full(t);
    return 0;
  }
  row.pc = (__u32)pc;
  if (t->n && t->row[t->n - 1].pc == row.pc)
    t->n--; /* The end of what came before. */
  if (t->n && row_same(&t->row[t->n - 1], &row))
    return 0;
  if (t->n == *cap) {
    size_t want = *cap ? *cap + *cap / 2 : 256;
    struct ljs_row *p = reallocarray(t->row, want, sizeof(*p));
    if (!p)
      return -1;
    t->row = p;
    *cap = want;
  }
  t->row[t->n++] = row;
  return 0;
}

/* Add a function's rows, and one behind it: of that nothing is known. Returns
** -1 and errno.
*/
static int rows_function(LsRows *t, size_t *cap, const LsCie *cie,
                         const LsFde *f)
{
  LsCfiRun r;
  struct ljs_row row;
  uint64_t pc = f->lo, step = 0;
  int more;
  ls_cfi_begin(&r, cie, ls_cursor(f->code, f->n));
  do {
    more = ls_cfi_run(&r, &step);
    ls_cfi_row(&r, &row);
    if (row_add(t, cap, row, pc) != 0)
      return -1;
    more = more && step < f->hi - pc;
    pc += step;
  } while (more);
  return row_add(t, cap, unknown, f->hi);
}

int ls_rows_build(const LsElf *e, LsRows *out)
{
  LsFrames f;
  size_t i, cap = 0;
  int error;
  memset(out, 0, sizeof(*out));
  if (ls_frames_read(e, &f) != 0)
    return -1;
  frames_finalize(&f);
  if (rows_ranges(&f, out) != 0)
    goto fail;
  for (i = 0; i < f.nfde; i++)
    if (rows_function(out, &cap, &f.cie[f.fde[i].cie], &f.fde[i]) != 0)
      goto fail;
  ls_frames_free(&f);
  return 0;
fail:
  error = errno;
  ls_frames_free(&f);
  ls_rows_free(out);
  errno = error;
  return -1;
}

void ls_rows_free(LsRows *t)
{
  free(t->row);
  free(t->range);
  memset(t, 0, sizeof(*t));
}

const struct ljs_row *ls_rows_find(const LsRows *t, uint64_t addr)
{
  size_t lo = 0, hi = t->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (t->row[mid].pc <= addr)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo ? &t->row[lo - 1] : NULL;
}

/*
** What was learned of a file, in parts.
**
** All numbers are as this machine has them: whoever reads it is the same
** program. But it is untrusted: the process that has written it has read the
** file, which may have got the better of it.
*/

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pack.h"
#include "symbols.h"
#include "vmlayout.h"

void ls_pack(const LsLearned *l, LsPack *p)
{
  static const LsSymbolTable none;
  const LsSymbolTable *t = ls_symbols_get(l->elf);
  LsPackHead *h = &p->head;
  if (!t)
    t = &none;
  memset(p, 0, sizeof(*p));
  h->segments = ls_elf_segments(l->elf, p->segment);
  h->rows = l->rows.n;
  h->ranges = l->rows.nrange;
  h->roles = l->rolebytes;
  h->pieces = t->n;
  h->text = t->ntext;
  h->needed = l->neededbytes;
  h->nbuildid = l->nbuildid;
  h->over = ls_elf_over(l->elf) != 0;
  h->hasvm = l->hasvm != 0;
  h->collector = l->collector != 0;
  memcpy(h->buildid, l->buildid, sizeof(h->buildid));
  memcpy(h->why, l->why, sizeof(h->why));
  h->vm = l->vm;
  p->part[0] = (struct iovec){h, sizeof(*h)};
  p->part[1] = (struct iovec){p->segment, h->segments * sizeof(*p->segment)};
  p->part[2] = (struct iovec){l->rows.row, h->rows * sizeof(*l->rows.row)};
  p->part[3] = (struct iovec){l->rows.range, h->ranges * sizeof(LsAddrRange)};
  p->part[4] = (struct iovec){l->role, h->roles};
  p->part[5] = (struct iovec){t->piece, h->pieces * sizeof(*t->piece)};
  p->part[6] = (struct iovec){t->text, h->text};
  p->part[7] = (struct iovec){l->needed, h->needed};
}

uint64_t ls_pack_size(const LsPack *p)
{
  uint64_t n = 0;
  size_t i;
  for (i = 0; i < LS_PACK_PARTS; i++)
    n += p->part[i].iov_len;
  return n;
}

/* -- Reading -------------------------------------------------------------- */

typedef struct Unpack {
  LsPackRead *read;
  void *ctx;
  uint64_t left; /* Bytes that may still come. */
  int err;       /* The first error, or 0. */
} Unpack;

static void fail(Unpack *u, int err)
{
  if (!u->err)
    u->err = err;
}

/* The next N elements of SIZE bytes, which the caller frees; NULL if there are
** none, or on failure.
*/
static void *take(Unpack *u, uint64_t n, size_t size)
{
  void *p;
  if (u->err || !n)
    return NULL;
  if (n > u->left / size) {
    fail(u, E2BIG);
    return NULL;
  }
  u->left -= n * size;
  p = malloc(n * size);
  if (!p)
    fail(u, ENOMEM);
  else if (u->read(u->ctx, p, n * size))
    fail(u, errno);
  return p;
}

/* Whether numbers of the header are what they can be. */
static int is_head(const LsPackHead *h)
{
  return h->segments <= LS_ELF_SEGMENTS && h->nbuildid <= sizeof(h->buildid) &&
         (h->roles == 0 || h->roles == h->ranges) &&
         memchr(h->why, '\0', sizeof(h->why)) != NULL;
}

/* The layout of a VM: of what says where fields are, only our own is good
** enough, as it is relied on.
*/
static struct ljs_vm take_vm(const struct ljs_vm *from)
{
  struct ljs_vm vm = {.gc64 = from->gc64 & 1};
  ls_vm_fields(&vm);
  vm.lo = from->lo;
  vm.hi = from->hi;
  vm.jit = from->jit & 1;
  vm.frame = from->frame;
  vm.jit_frame = from->jit_frame;
  vm.save_l = from->save_l;
  vm.save_pc = from->save_pc;
  vm.save_nres = from->save_nres;
  vm.save_cframe = from->save_cframe;
  vm.bp = from->bp;
  vm.bx = from->bx;
  vm.g2disp = from->g2disp;
  vm.vmstate = from->vmstate;
  vm.jit_base = from->jit_base;
  vm.cur_l = from->cur_l;
  vm.trace = from->trace;
  vm.irform = from->irform & 15;
  memcpy(vm.library, from->library, sizeof(vm.library));
  return vm;
}

/* What has a size of its own. */
static void take_head(const LsPackHead *h, LsLearned *out)
{
  out->nbuildid = h->nbuildid;
  memcpy(out->buildid, h->buildid, sizeof(out->buildid));
  out->hasvm = h->hasvm != 0;
  out->collector = h->collector != 0;
  if (out->hasvm)
    out->vm = take_vm(&h->vm);
  memcpy(out->why, h->why, sizeof(out->why));
}

/* The file, of its segments. */
static void take_segments(Unpack *u, const LsPackHead *h, LsLearned *out)
{
  LsSegment *seg = take(u, h->segments, sizeof(*seg));
  if (!u->err && !(out->elf = ls_elf_released(seg, h->segments, h->over != 0)))
    fail(u, ENOMEM);
  free(seg);
}

/* The symbols, which come after what is between. */
static void take_symbols(Unpack *u, const LsPackHead *h, LsLearned *out)
{
  LsSymbolTable *t = calloc(1, sizeof(*t));
  if (!t) {
    fail(u, ENOMEM);
    return;
  }
  t->piece = take(u, h->pieces, sizeof(*t->piece));
  t->text = take(u, h->text, 1);
  t->n = h->pieces;
  t->ntext = h->text;
  if (u->err)
    ls_symboltable_free(t);
  else if (ls_symbols_set(out->elf, t))
    fail(u, EPROTO);
}

int ls_unpack(LsPackRead *read, void *ctx, LsLearned *out)
{
  Unpack u = {read, ctx, LS_PACK_MAX, 0};
  LsPackHead h;
  memset(out, 0, sizeof(*out));
  if (read(ctx, &h, sizeof(h)))
    return -1;
  if (!is_head(&h)) {
    errno = EPROTO;
    return -1;
  }
  take_head(&h, out);
  take_segments(&u, &h, out);
  out->rows.row = take(&u, h.rows, sizeof(*out->rows.row));
  out->rows.range = take(&u, h.ranges, sizeof(*out->rows.range));
  out->role = take(&u, h.roles, 1);
  take_symbols(&u, &h, out);
  out->needed = take(&u, h.needed, 1);
  out->rows.n = h.rows;
  out->rows.nrange = h.ranges;
  out->rolebytes = h.roles;
  out->neededbytes = h.needed;
  if (!u.err && h.needed && out->needed[h.needed - 1])
    fail(&u, EPROTO);
  if (!u.err)
    return 0;
  ls_learned_free(out);
  errno = u.err;
  return -1;
}

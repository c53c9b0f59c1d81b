/*
** Closures of a live VM.
**
** An upvalue has a hash by which the JIT compiler distinguishes those that can
** not be the same variable. It is made of the address of the bytecode of the
** function that has the variable as a local one, and of its slot there: so it
** shows where the variable is from, and where closures that hold it were made,
** even when that function is long gone.
*/

#include <stdlib.h>
#include <string.h>

#include "luaclosure.h"

#define NEAR_BEFORE 8 /* Pages that are searched, */
#define NEAR_BEHIND                                                            \
  16                  /* which is where most are: memory is taken in order,    \
                       */
#define NEAR_TRIES 16 /* and protos there. */

/* The PC of a closure is right behind the header of its proto. */
uint64_t ls_closure_proto(LsView *v, uint64_t fn, uint64_t *check)
{
  uint64_t pt;
  bool was = v->mem->bad;
  bool ok;
  v->mem->bad = false;
  ok = ls_view_type(v, fn) == LS_GCT_FUNC &&
       ls_remote_uint(v->mem, fn + v->vm.fn_ffid, 1) == 0;
  pt = ok ? ls_view_ref(v, fn + v->vm.fn_pc) - v->vm.pt_size : 0;
  ok = ok && !v->mem->bad && ls_proto_check(v, pt, check);
  v->mem->bad = was;
  return ok ? pt : 0;
}

bool ls_closure_read(LsView *v, uint64_t fn, LsClosure *c)
{
  uint64_t check, pt = ls_closure_proto(v, fn, &check);
  *c = (LsClosure){.fn = fn};
  if (!pt || !ls_proto_read(v, pt, &c->b))
    return false;
  v->mem->bad = false;
  c->env = ls_view_ref(v, fn + v->vm.fn_pc - 2u * v->lay->ref);
  c->nuv = (uint32_t)ls_remote_uint(v->mem, fn + v->lay->fn_nupvalues, 1);
  if (c->nuv > c->b.sizeuv)
    c->nuv = c->b.sizeuv; /* Being made just now, or none at all. */
  return true;
}

void ls_closure_free(LsClosure *c)
{
  free(c->b.p);
  c->b.p = NULL;
}

/* Where the variable is from. Its slot is in the uppermost byte, too, but only
** the function that takes it from there knows it.
*/
static LsHome closure_home(const LsClosure *c, uint32_t i, uint64_t uv)
{
  LsView *v = c->b.v;
  uint32_t how = ls_proto_uv(&c->b, i);
  uint64_t at = uv + v->lay->uv_v + v->lay->ref;
  uint32_t hash = (uint32_t)ls_remote_uint(v->mem, at, 4);
  if (how & LS_UV_LOCAL)
    return (LsHome){hash ^ how << 24, 0xffffffff};
  return (LsHome){hash & 0xffffff, 0xffffff};
}

bool ls_closure_upvalue(const LsClosure *c, uint32_t i, LsUpvalue *u)
{
  LsView *v = c->b.v;
  uint32_t how = ls_proto_uv(&c->b, i);
  uint64_t uv;
  if (i >= c->nuv)
    return false;
  uv = ls_view_ref(v, c->fn + v->lay->fn_uvptr + (uint64_t)i * v->lay->ref);
  if (ls_view_type(v, uv) != LS_GCT_UPVAL)
    return false;
  u->name = ls_proto_uvname(&c->b, i);
  u->constant = ls_remote_uint(v->mem, uv + v->lay->marked + 3u, 1) == 1;
  u->slot = how & LS_UV_LOCAL ? (uint8_t)how : 255;
  u->home = closure_home(c, i, uv);
  u->value = ls_view_value(v, ls_view_ref(v, uv + v->lay->uv_v));
  return !v->mem->bad;
}

LsHome ls_closure_home(const LsClosure *c)
{
  LsUpvalue u;
  uint32_t i;
  for (i = 0; i < c->nuv; i++)
    if ((ls_proto_uv(&c->b, i) & LS_UV_LOCAL) && ls_closure_upvalue(c, i, &u))
      return u.home;
  return (LsHome){0, 0};
}

bool ls_home_same(LsHome a, LsHome b)
{
  return ((a.addr ^ b.addr) & a.mask & b.mask) == 0;
}

int ls_home_define(LsFuncs *fs, LsHome home, const LsBlob *child)
{
  uint64_t high = child->addr >> 32, other = child->chunkname >> 32;
  int found;
  if (home.mask != 0xffffffff)
    return -1;
  found = ls_func_define(fs, (high << 32 | home.addr) - child->bc, child);
  if (found < 0 && other != high) /* An allocator with heaps of its own. */
    found = ls_func_define(fs, (other << 32 | home.addr) - child->bc, child);
  return found;
}

/* Whether a proto of the child's chunk, and around it, may be at an address. */
static bool closure_isaround(const LsBlob *child, const uint8_t *p)
{
  const LsView *v = child->v;
  uint64_t chunk = 0;
  int32_t first;
  uint32_t num;
  if (p[v->lay->marked + 1] != LS_GCT_PROTO)
    return false;
  memcpy(&chunk, p + v->vm.pt_chunkname, v->lay->ref);
  memcpy(&first, p + v->vm.pt_firstline, 4);
  memcpy(&num, p + v->vm.pt_numline, 4);
  return chunk == child->chunkname && first >= 0 && first <= child->first &&
         (uint64_t)first + num >= (uint64_t)child->first + child->numline;
}

void ls_home_search(LsFuncs *fs, const LsBlob *child)
{
  LsView *v = child->v;
  uint64_t page =
      (child->addr & ~(LS_REMOTE_PAGE - 1ull)) - NEAR_BEFORE * LS_REMOTE_PAGE;
  uint8_t buf[LS_REMOTE_PAGE + 128];
  unsigned i, ofs, tries = 0;
  for (i = 0; i < NEAR_BEFORE + NEAR_BEHIND; i++, page += LS_REMOTE_PAGE) {
    v->mem->bad = false;
    if (!ls_remote_get(v->mem, page, buf, sizeof(buf)))
      continue;
    for (ofs = 0; ofs < LS_REMOTE_PAGE && tries < NEAR_TRIES; ofs += 8)
      if (page + ofs != child->addr && closure_isaround(child, buf + ofs) &&
          tries++ < NEAR_TRIES && ls_func_define(fs, page + ofs, child) == 1)
        return;
  }
  v->mem->bad = false;
}

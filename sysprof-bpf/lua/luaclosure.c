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

/* The GCupval of upvalue number I of a closure, or 0. */
static uint64_t closure_uv(LsView *v, uint64_t fn, uint32_t i)
{
  uint64_t at = fn + v->lay->fn_uvptr + (uint64_t)i * v->lay->ref;
  uint64_t uv = ls_view_ref(v, at);
  return ls_view_type(v, uv) == LS_GCT_UPVAL ? uv : 0;
}

static bool closure_isconstant(LsView *v, uint64_t uv)
{
  return ls_remote_uint(v->mem, uv + v->lay->marked + 3u, 1) == 1;
}

bool ls_closure_constant(LsView *v, uint64_t fn, uint32_t i, LsValue *value)
{
  uint64_t uv = closure_uv(v, fn, i);
  if (!uv || !closure_isconstant(v, uv))
    return false;
  *value = ls_view_value(v, ls_view_ref(v, uv + v->lay->uv_v));
  return !v->mem->bad;
}

bool ls_closure_upvalue(const LsClosure *c, uint32_t i, LsUpvalue *u)
{
  LsView *v = c->b.v;
  uint32_t how = ls_proto_uv(&c->b, i);
  uint64_t uv = i < c->nuv ? closure_uv(v, c->fn, i) : 0;
  if (!uv)
    return false;
  u->name = ls_proto_uvname(&c->b, i);
  u->constant = closure_isconstant(v, uv);
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

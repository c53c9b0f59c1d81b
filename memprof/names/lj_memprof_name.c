/*
** Names of Lua functions, from the place where they are defined.
**
** A function has no name of its own: it gets one when its closure is stored,
** by the instructions right behind the one that makes the closure.
*/

#define lj_memprof_name_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <string.h>

#include "lj_bc.h"
#include "lj_debug.h"
#include "lj_memprof_name.h"
#include "lj_memprof_state.h"
#include "lj_symtab.h"

/* -- Debug information ---------------------------------------------------- */

const char *lj_memprof_localname(const GCproto *pt, BCPos pos, BCReg slot)
{
  const uint8_t *p = mref(pt->varinfo, const uint8_t);
  BCPos start = 0;
  unsigned bad = 0; /* The VM has written it. */
  if (p == NULL)
    return NULL;
  while (*p != VARNAME_END) {
    const char *name = *p < VARNAME__MAX ? NULL : (const char *)p;
    BCPos end;
    p += name ? strlen(name) + 1 : 1;
    start += (BCPos)ljm_getuleb_fast(&p, &bad);
    if (start > pos)
      break; /* Sorted by the start of their life. */
    end = start + (BCPos)ljm_getuleb_fast(&p, &bad);
    if (pos < end && slot-- == 0)
      return name; /* Those alive fill the slots in order. */
  }
  return NULL;
}

const char *lj_memprof_uvname(const GCproto *pt, uint32_t idx)
{
  const char *p = (const char *)proto_uvinfo(pt);
  if (p == NULL || idx >= pt->sizeuv)
    return NULL;
  while (idx-- > 0)
    p += strlen(p) + 1;
  return *p ? p : NULL;
}

/* The string constant that an instruction names, or NULL. */
static const char *name_kstr(const GCproto *pt, uint32_t idx)
{
  GCobj *o;
  if (idx >= pt->sizekgc)
    return NULL;
  o = proto_kgc(pt, ~(ptrdiff_t)idx);
  return o->gch.gct == ~LJ_TSTR ? strdata(gco2str(o)) : NULL;
}

/* -- Names ---------------------------------------------------------------- */

/* What a slot holds that was not a local variable: a global or upvalue. */
static const char *name_slot(const GCproto *pt, BCPos pos, BCReg slot)
{
  const char *name = lj_memprof_localname(pt, pos, slot);
  BCPos i;
  if (name != NULL)
    return name;
  for (i = pos; i-- > 1 && pos - i < 16;) {
    BCIns ins = proto_bc(pt)[i];
    if (bc_op(ins) >= BC_CALLM && bc_op(ins) <= BC_VARG && bc_a(ins) <= slot)
      break; /* The result of a call has no name. */
    if (bc_a(ins) != slot)
      continue;
    if (bc_op(ins) == BC_GGET)
      return name_kstr(pt, bc_d(ins));
    if (bc_op(ins) == BC_UGET)
      return lj_memprof_uvname(pt, bc_d(ins));
    return bc_op(ins) == BC_TGETS ? name_kstr(pt, bc_c(ins)) : NULL;
  }
  return NULL;
}

/* Joins the names of a table and of its field. Returns the length. */
static size_t name_join(char *buf, const char *table, const char *field)
{
  size_t n = 0, len;
  if (table != NULL) {
    n = strlen(table);
    if (n > LJ_MEMPROF_NAMEMAX / 2)
      n = LJ_MEMPROF_NAMEMAX / 2;
    memcpy(buf, table, n);
    buf[n++] = '.';
  }
  len = strlen(field);
  if (len > LJ_MEMPROF_NAMEMAX - n)
    len = LJ_MEMPROF_NAMEMAX - n;
  memcpy(buf + n, field, len);
  return n + len;
}

/* The name under which the closure made at a position is kept. */
static size_t name_closure(const GCproto *pt, BCPos pos, char *buf)
{
  BCReg slot = bc_a(proto_bc(pt)[pos]);
  const char *name = lj_memprof_localname(pt, pos + 1, slot);
  BCIns ins;
  if (name != NULL)
    return name_join(buf, NULL, name);
  if (pos + 1 >= pt->sizebc)
    return 0;
  ins = proto_bc(pt)[pos + 1];
  if (bc_a(ins) != slot)
    return 0;
  if (bc_op(ins) == BC_GSET && (name = name_kstr(pt, bc_d(ins))) != NULL)
    return name_join(buf, NULL, name);
  if (bc_op(ins) == BC_TSETS && (name = name_kstr(pt, bc_c(ins))) != NULL)
    return name_join(buf, name_slot(pt, pos + 1, bc_b(ins)), name);
  return 0;
}

const GCproto *lj_memprof_nextchild(const GCproto *pt, BCPos *pos, char *name,
                                    size_t *len)
{
  /* Bytecode that is being loaded has no constants yet. */
  if (!(pt->flags & PROTO_CHILD) || pt->sizekgc == 0)
    return NULL;
  while (++*pos < pt->sizebc) {
    BCIns ins = proto_bc(pt)[*pos];
    if (bc_op(ins) == BC_FNEW && bc_d(ins) < pt->sizekgc) {
      GCobj *o = proto_kgc(pt, ~(ptrdiff_t)bc_d(ins));
      if (o->gch.gct != ~LJ_TPROTO)
        continue;
      *len = name_closure(pt, *pos, name);
      return gco2pt(o);
    }
  }
  return NULL;
}

void lj_memprof_namechildren(MPState *mp, const GCproto *pt)
{
  char buf[LJ_MEMPROF_NAMEMAX];
  const GCproto *child;
  BCPos pos = 0;
  size_t len;
  while ((child = lj_memprof_nextchild(pt, &pos, buf, &len)) != NULL)
    if (len > 0)
      lj_symtab_entry(mp, child, buf, len);
}

void lj_memprof_nameproto(MPState *mp, const GCproto *pt, const char *table,
                          const char *name)
{
  char buf[LJ_MEMPROF_NAMEMAX];
  lj_symtab_entry(mp, pt, buf, name_join(buf, table, name));
}

#endif

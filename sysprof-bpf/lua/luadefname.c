/*
** Names of Lua functions, from the place where they are defined: a function
** gets its name when its closure is stored, by the instruction right behind
** the one that makes the closure. The recorder names them in the same way.
*/

#include <string.h>

#include "cursor.h"
#include "luaproto.h"

#define VARNAME_END 0 /* No variable follows. */
#define VARNAME_MAX 7 /* Below: variables without a name of their own. */

/* -- Debug information ---------------------------------------------------- */

/* The debug information at an offset of the copy; none at 0. */
static LsCursor name_cursor(const LsBlob *b, uint32_t ofs)
{
  ofs = ofs ? ofs : b->n;
  return ls_cursor(b->p + ofs, b->n - ofs);
}

/* The name of the local variable in a slot at a position, or NULL. */
static const char *name_local(const LsBlob *b, uint32_t pos, uint32_t slot)
{
  LsCursor c = name_cursor(b, b->varinfo);
  uint32_t start = 0;
  while (c.p < c.end && *c.p != VARNAME_END) {
    const char *name = NULL;
    uint32_t end;
    if (*c.p < VARNAME_MAX)
      c.p++;
    else if (!(name = ls_cursor_str(&c)))
      break;
    start += (uint32_t)ls_cursor_uleb(&c);
    if (start > pos)
      break; /* Sorted by the start of their life. */
    end = start + (uint32_t)ls_cursor_uleb(&c);
    if (pos < end && slot-- == 0)
      return name; /* Those alive fill the slots in order. */
  }
  return NULL;
}

const char *ls_proto_uvname(const LsBlob *b, uint32_t idx)
{
  LsCursor c = name_cursor(b, b->uvinfo);
  const char *name = NULL;
  uint32_t i;
  if (idx >= b->sizeuv)
    return NULL;
  for (i = 0; i <= idx && c.p < c.end; i++)
    name = ls_cursor_str(&c);
  return i > idx && name && *name ? name : NULL;
}

/* The string that is constant number IDX, in BUF; or NULL. */
static const char *name_constant(const LsBlob *b, uint32_t idx,
                                 char buf[LS_NAME_MAX + 1])
{
  uint64_t str = ls_proto_kgc(b, idx);
  return str && ls_view_string(b->v, str, buf, LS_NAME_MAX + 1) ? buf : NULL;
}

/* -- Names ---------------------------------------------------------------- */

/* What a slot holds: a local variable, a global, an upvalue or a field. */
static const char *name_slot(const LsBlob *b, uint32_t pos, uint32_t slot,
                             char buf[LS_NAME_MAX + 1])
{
  const char *name = name_local(b, pos, slot);
  uint32_t i;
  if (name)
    return name;
  for (i = pos; i-- > 1 && pos - i < 16;) {
    uint32_t ins = ls_proto_ins(b, i), op = LS_BC_OP(ins);
    if (op >= LS_BC_CALLM && op <= LS_BC_VARG && LS_BC_A(ins) <= slot)
      break; /* The result of a call has no name. */
    if (LS_BC_A(ins) != slot)
      continue;
    if (op == LS_BC_GGET)
      return name_constant(b, LS_BC_D(ins), buf);
    if (op == LS_BC_UGET)
      return ls_proto_uvname(b, LS_BC_D(ins));
    return op == LS_BC_TGETS ? name_constant(b, LS_BC_C(ins), buf) : NULL;
  }
  return NULL;
}

/* Join the names of a table and of its field. Returns the length. */
static size_t name_join(char buf[LS_NAME_MAX + 1], const char *table,
                        const char *field)
{
  size_t n = 0, len;
  if (table) {
    n = strnlen(table, LS_NAME_MAX / 2);
    memcpy(buf, table, n);
    buf[n++] = '.';
  }
  len = strnlen(field, LS_NAME_MAX - n);
  memcpy(buf + n, field, len);
  buf[n + len] = '\0';
  return n + len;
}

size_t ls_proto_namechild(const LsBlob *b, uint32_t pos,
                          char buf[LS_NAME_MAX + 1])
{
  uint32_t slot = LS_BC_A(ls_proto_ins(b, pos));
  uint32_t ins = ls_proto_ins(b, pos + 1);
  char field[LS_NAME_MAX + 1], table[LS_NAME_MAX + 1];
  const char *name = name_local(b, pos + 1, slot);
  if (name)
    return name_join(buf, NULL, name);
  if (LS_BC_A(ins) != slot)
    return 0;
  if (LS_BC_OP(ins) == LS_BC_GSET &&
      (name = name_constant(b, LS_BC_D(ins), field)))
    return name_join(buf, NULL, name);
  if (LS_BC_OP(ins) == LS_BC_TSETS &&
      (name = name_constant(b, LS_BC_C(ins), field)))
    return name_join(buf, name_slot(b, pos + 1, LS_BC_B(ins), table), name);
  return 0;
}

size_t ls_proto_nameuse(const LsBlob *b, uint32_t pos,
                        char buf[LS_NAME_MAX + 1])
{
  char constant[LS_NAME_MAX + 1];
  uint32_t ins = ls_proto_ins(b, pos);
  const char *name;
  if (LS_BC_OP(ins) == LS_BC_GGET)
    name = name_constant(b, LS_BC_D(ins), constant);
  else if (LS_BC_OP(ins) == LS_BC_TGETS)
    name = name_constant(b, LS_BC_C(ins), constant);
  else
    name = name_slot(b, pos, LS_BC_A(ins), constant);
  return name ? name_join(buf, NULL, name) : 0;
}

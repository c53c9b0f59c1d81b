/*
** Reader of the objects of a live VM in another process.
*/

#include <string.h>

#include "luaview.h"

#define VIEW_MAXNODES (1u << 20) /* Larger tables are not looked through. */

void ls_view_init(LsView *v, LsRemote *mem, const struct ljs_vm *vm)
{
  *v = (LsView){.mem = mem, .vm = *vm, .lay = ls_vm_layout(vm)};
}

uint64_t ls_view_ref(LsView *v, uint64_t addr)
{
  return ls_remote_uint(v->mem, addr, v->lay->ref);
}

LsValue ls_view_decode(const LsView *v, uint64_t bits)
{
  LsValue value = {.type = LS_GCT_NONE};
  uint32_t type =
      v->vm.gc64 ? ~(uint32_t)((int64_t)bits >> 47) : ~(uint32_t)(bits >> 32);
  if (type >= LS_GCT_STR && type <= LS_GCT_UDATA) {
    value.type = (uint8_t)type;
    value.addr = v->vm.gc64 ? bits & ((1ull << 47) - 1) : (uint32_t)bits;
  }
  return value;
}

LsValue ls_view_value(LsView *v, uint64_t addr)
{
  uint64_t bits;
  LsValue none = {.type = LS_GCT_NONE};
  if (!ls_remote_get(v->mem, addr, &bits, 8))
    return none;
  return ls_view_decode(v, bits);
}

uint8_t ls_view_type(LsView *v, uint64_t obj)
{
  uint8_t type = LS_GCT_NONE;
  if (obj == 0 || obj % 4 != 0)
    return LS_GCT_NONE;
  if (!ls_remote_get(v->mem, obj + v->lay->marked + 1, &type, 1))
    return LS_GCT_NONE;
  return type;
}

/* -- Strings -------------------------------------------------------------- */

/* Where a string's bytes are. */
static uint64_t view_bytes(const LsView *v, uint64_t str, uint8_t ofs)
{
  return str + (v->vm.gc64 ? 24 : ofs + 4u);
}

/* The length of a string if its length field is at an offset: its bytes end
** with a zero and, if they are few, have no other. Else -1.
*/
static int64_t view_trylen(LsView *v, uint64_t str, uint8_t ofs)
{
  uint32_t len = (uint32_t)ls_remote_uint(v->mem, str + ofs, 4);
  char buf[64];
  uint64_t end = view_bytes(v, str, ofs) + len;
  if (len > 1u << 26 || ls_remote_uint(v->mem, end, 1) != 0 || v->mem->bad)
    return -1;
  if (len >= sizeof(buf) ||
      !ls_remote_get(v->mem, view_bytes(v, str, ofs), buf, len))
    return len < sizeof(buf) ? -1 : (int64_t)len;
  return memchr(buf, 0, len) ? -1 : (int64_t)len;
}

/* Find where strings of this build have their length: older builds have one
** field less. A string that is valid by only one of the two offsets decides.
*/
static void view_learnlen(LsView *v, uint64_t str)
{
  uint8_t older = v->lay->marked + 8, newer = older + 4;
  bool bad = v->mem->bad;
  int64_t o, n;
  v->mem->bad = false;
  n = view_trylen(v, str, newer);
  v->mem->bad = false;
  o = view_trylen(v, str, older);
  v->mem->bad = bad;
  if (n > 0 && o < 0)
    v->strlen = newer;
  else if (o > 0 && n < 0)
    v->strlen = older;
}

size_t ls_view_string(LsView *v, uint64_t str, char *buf, size_t size)
{
  uint32_t len;
  buf[0] = '\0';
  if (ls_view_type(v, str) != LS_GCT_STR)
    return 0;
  if (!v->strlen)
    view_learnlen(v, str);
  if (!v->strlen)
    return 0;
  len = (uint32_t)ls_remote_uint(v->mem, str + v->strlen, 4);
  if (len > size - 1)
    len = (uint32_t)size - 1;
  if (!ls_remote_get(v->mem, view_bytes(v, str, v->strlen), buf, len))
    len = 0;
  buf[len] = '\0';
  return len;
}

/* Whether a value is the string S, of at most 62 bytes. */
static bool view_isstring(LsView *v, LsValue value, const char *s)
{
  char buf[64];
  size_t n = strlen(s);
  return value.type == LS_GCT_STR && n + 1 < sizeof(buf) &&
         ls_view_string(v, value.addr, buf, n + 2) == n &&
         memcmp(buf, s, n) == 0;
}

/* -- Tables --------------------------------------------------------------- */

bool ls_view_table(LsView *v, uint64_t tab, LsTable *t)
{
  uint64_t mask;
  if (ls_view_type(v, tab) != LS_GCT_TAB)
    return false;
  t->node = ls_view_ref(v, tab + v->lay->tab_node);
  mask = ls_remote_uint(v->mem, tab + v->lay->tab_hmask, 4);
  if (t->node == 0 || mask >= VIEW_MAXNODES || (mask & (mask + 1)) != 0)
    return false;
  t->n = (uint32_t)mask + 1;
  return true;
}

void ls_view_node(LsView *v, const LsTable *t, uint32_t i, LsValue *key,
                  LsValue *value)
{
  uint64_t node[2] = {0, 0};
  ls_remote_get(v->mem, t->node + (uint64_t)i * v->lay->node, node, 16);
  *value = ls_view_decode(v, node[0]);
  *key = ls_view_decode(v, node[1]);
}

bool ls_view_get(LsView *v, uint64_t tab, const char *key, LsValue *value)
{
  LsTable t;
  uint32_t i;
  if (!ls_view_table(v, tab, &t))
    return false;
  for (i = 0; i < t.n && i < 65536 && !v->mem->bad; i++) {
    LsValue k;
    ls_view_node(v, &t, i, &k, value);
    if (value->type != LS_GCT_NONE && view_isstring(v, k, key))
      return true;
  }
  return false;
}

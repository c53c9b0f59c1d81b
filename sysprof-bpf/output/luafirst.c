/*
** Stacks of which only the Lua frames are kept.
**
** The rule is the one of lj-parse-memprof: native and kernel functions have no
** frames, wherever they are in the stack, and builtins are native functions.
** Tools that read folded stacks then show the Lua line that caused the time.
*/

#include "luafirst.h"

static int is_kind(const LsSiteTable *t, uint32_t id, LsKind kind)
{
  const LsSite *s = ls_sitetable_get(t, id);
  return s && s->kind == kind;
}

int ls_luafirst_any(const LsSiteTable *t, const uint32_t *site, uint32_t n)
{
  uint32_t i;
  for (i = 0; i < n; i++)
    if (is_kind(t, site[i], LS_LUA))
      return 1;
  return 0;
}

uint32_t ls_luafirst(const LsSiteTable *t, uint32_t *site, uint32_t n)
{
  uint32_t i, left = 0;
  if (!ls_luafirst_any(t, site, n))
    return n && is_kind(t, site[0], LS_MARK);
  for (i = 0; i < n; i++)
    if (is_kind(t, site[i], LS_LUA))
      site[left++] = site[i];
  return left;
}

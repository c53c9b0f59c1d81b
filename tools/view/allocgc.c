/*
** Attributes samples in allocation and garbage collection to Lua functions.
**
** All of the VM's allocations and all steps of its collector go through
** functions whose names begin with these prefixes. Where the VM has no symbols
** (a stripped program that has it linked in) this is not known.
*/

#include <stdlib.h>
#include <string.h>

#include "allocgc.h"

/* Is a site in such a function? */
static int allocgc_is(const LpProfile *prof, uint32_t site)
{
  static const char *const prefix[] = {"lj_gc_", "lj_mem_", "lj_alloc_"};
  const LpFuncInfo *fi = &prof->func[prof->row[site].func];
  LpStr name = lp_profile_name(prof, fi->name);
  size_t i;
  if (fi->kind != LP_FUNC_NATIVE)
    return 0;
  for (i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
    if (name.n >= strlen(prefix[i]) &&
        memcmp(name.s, prefix[i], strlen(prefix[i])) == 0)
      return 1;
  return 0;
}

/* By node: if such a function is in it, inside of the innermost Lua function,
** the node of that one; else LP_NONE. A finalizer is not part of it: it is a
** Lua function itself. The caller frees it.
*/
uint32_t *lp_allocgc(const LpProfile *prof)
{
  const LpOrigins *o = &prof->origins;
  uint32_t *of = lp_alloc(o->nnode * sizeof(uint32_t));
  uint32_t *lua = lp_zalloc(o->nnode, sizeof(uint32_t)), i;
  of[LP_NODE_ROOT] = LP_NONE;
  for (i = 1; i < o->nnode; i++) {
    const LpNode *n = &o->node[i];
    int own = lp_profile_lua(prof, n->site);
    lua[i] = own ? i : lua[n->parent];
    of[i] = own ? LP_NONE : of[n->parent];
    if (of[i] == LP_NONE && lua[i] && allocgc_is(prof, n->site))
      of[i] = lua[i];
  }
  free(lua);
  return of;
}

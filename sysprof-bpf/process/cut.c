/*
** Why frames of a stack are missing, in words.
*/

#include "cut.h"
#include "ljs.h"

static const struct {
  const char *name, *key;
} cuts[LJS_CUT_REASONS] = {
    [LJS_CUT_NOT] = {"whole", "complete"},
    [LJS_CUT_NATIVE] = {"too many native frames", "truncated_native"},
    [LJS_CUT_LUA] = {"too many Lua frames", "truncated_lua"},
    [LJS_CUT_NOMAP] = {"unknown code", "truncated_unknown_code"},
    [LJS_CUT_NOROW] = {"no unwind table", "truncated_no_unwind_table"},
    [LJS_CUT_MEMORY] = {"unreadable memory", "truncated_unreadable_memory"},
    [LJS_CUT_VM] = {"unknown VM state", "truncated_unknown_VM_state"},
    [LJS_CUT_STEPS] = {"too many steps", "truncated_steps"},
    [LJS_CUT_LOST] = {"unknown Lua function", "truncated_unknown_function"},
};

const char *ls_cut_name(unsigned cut)
{
  return cut < LJS_CUT_REASONS ? cuts[cut].name : "unknown";
}

const char *ls_cut_key(unsigned cut)
{
  return cuts[cut].key;
}

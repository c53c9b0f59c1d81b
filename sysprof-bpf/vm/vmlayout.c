/*
** The layouts of LuaJIT's objects.
**
** They have been the same since 2.1 began, but for a trace's counts of
** snapshots (see luasnapform.c): compared with the headers of 2.1.0-beta1, of
** January 2019 and March 2021, of Debian's 20220320, upstream's head,
** OpenResty's 20230119 and head, and Tarantool's of 2.6 and of today.
*/

#include "vmlayout.h"

/* References of 64 bits. */
static const struct ljs_vm fields64 = {
    .l_gct = 9,
    .l_glref = 16,
    .l_base = 32,
    .l_top = 40,
    .l_maxstack = 48,
    .l_stack = 56,
    .l_env = 72,
    .l_cframe = 80,
    .fn_ffid = 10,
    .fn_pc = 32,
    .fn_f = 40,
    .pt_size = 104,
    .pt_sizebc = 12,
    .pt_k = 32,
    .pt_sizekgc = 48,
    .pt_flags = 61,
    .pt_chunkname = 64,
    .pt_firstline = 72,
    .pt_numline = 76,
    .pt_lineinfo = 80,
    .pt_uvinfo = 88,
    .pt_varinfo = 96,
    .t_nsnap = 10,
    .t_nins = 12,
    .t_ir = 32,
    .t_nk = 40,
    .t_nsnapmap = 44,
    .t_snap = 48,
    .t_snapmap = 56,
    .t_startpt = 64,
    .t_startpc = 72,
    .t_startins = 80,
    .t_szmcode = 84,
    .t_mcode = 88,
    .t_spadjust = 102,
    .t_traceno = 104,
    .t_link = 106,
    .t_root = 108,
};
static const LsLayout layout64 = {
    .ref = 8,
    .marked = 8,
    .pt_numparams = 10,
    .pt_framesize = 11,
    .pt_uv = 40,
    .pt_sizekn = 52,
    .pt_sizept = 56,
    .pt_sizeuv = 60,
    .fn_nupvalues = 11,
    .fn_upvalue = 48,
    .fn_uvptr = 40,
    .uv_v = 32,
    .tab_array = 16,
    .tab_meta = 32,
    .tab_node = 40,
    .tab_asize = 48,
    .tab_hmask = 52,
    .node = 24,
    .t_mcloop = 96,
    .t_nextroot = 110,
};

/* Without GC64: references have 32 bits, L->base and L->top have 64. */
static const struct ljs_vm fields32 = {
    .l_gct = 5,
    .l_glref = 8,
    .l_base = 16,
    .l_top = 24,
    .l_maxstack = 32,
    .l_stack = 36,
    .l_env = 44,
    .l_cframe = 48,
    .fn_ffid = 6,
    .fn_pc = 16,
    .fn_f = 24,
    .pt_size = 64,
    .pt_sizebc = 8,
    .pt_k = 16,
    .pt_sizekgc = 24,
    .pt_flags = 37,
    .pt_chunkname = 40,
    .pt_firstline = 44,
    .pt_numline = 48,
    .pt_lineinfo = 52,
    .pt_uvinfo = 56,
    .pt_varinfo = 60,
    .t_nsnap = 6,
    .t_nins = 8,
    .t_ir = 16,
    .t_nk = 24,
    .t_nsnapmap = 28,
    .t_snap = 32,
    .t_snapmap = 40,
    .t_startpt = 48,
    .t_startpc = 52,
    .t_startins = 56,
    .t_szmcode = 60,
    .t_mcode = 64,
    .t_spadjust = 78,
    .t_traceno = 80,
    .t_link = 82,
    .t_root = 84,
};
static const LsLayout layout32 = {
    .ref = 4,
    .marked = 4,
    .pt_numparams = 6,
    .pt_framesize = 7,
    .pt_uv = 20,
    .pt_sizekn = 28,
    .pt_sizept = 32,
    .pt_sizeuv = 36,
    .fn_nupvalues = 7,
    .fn_upvalue = 32,
    .fn_uvptr = 20,
    .uv_v = 16,
    .tab_array = 8,
    .tab_meta = 16,
    .tab_node = 20,
    .tab_asize = 24,
    .tab_hmask = 28,
    .node = 24,
    .t_mcloop = 72,
    .t_nextroot = 86,
};

void ls_vm_fields(struct ljs_vm *vm)
{
  const unsigned char gc64 = vm->gc64;
  *vm = gc64 ? fields64 : fields32;
  vm->gc64 = gc64;
}

const LsLayout *ls_vm_layout(const struct ljs_vm *vm)
{
  return vm->gc64 ? &layout64 : &layout32;
}

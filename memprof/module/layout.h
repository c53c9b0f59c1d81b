/*
** What the recorder believes of a VM: offsets, sizes and numbers, by name.
**
** The core is compiled for one layout; it is used only in a VM that was found
** to have it, number by number: check.h.
*/

#ifndef LJM_LAYOUT_H
#define LJM_LAYOUT_H

#include <stdint.h>

/* clang-format off */
#define MP_LAYOUT(_) \
  /* References and slots of the stack. */ \
  _(refsize) _(slot) _(fr2) \
  _(tag_nil) _(tag_false) _(tag_str) _(tag_upval) _(tag_thread) _(tag_proto) \
  _(tag_func) _(tag_trace) _(tag_tab) \
  /* Any object, and lua_State. */ \
  _(nextgc) _(gct) _(marked) \
  _(L_glref) _(L_base) _(L_top) _(L_maxstack) _(L_stack) _(L_cframe) \
  /* global_State, and what is beside it. */ \
  _(GG_g) _(GG_J) _(GG_dispatch) _(ndispatch) \
  _(g_allocf) _(g_allocd) _(g_total) _(g_root) _(g_strtab) _(g_strmask) \
  _(g_strnum) _(g_strid) _(g_vmstate) _(g_mainthref) _(g_registry) _(g_uvnext) \
  _(g_hookmask) \
  _(g_cur_L) _(g_jit_base) _(g_white) _(g_state) \
  _(vm_interp) _(vm_c) _(vm_gc) _(gc_sweepstring) \
  /* Strings and tables. */ \
  _(str_hash) _(str_len) _(str_sid) _(str_size) \
  _(tab_array) _(tab_node) _(tab_hmask) \
  _(node_val) _(node_key) _(node_next) _(node_size) \
  /* Functions. */ \
  _(fn_ffid) _(fn_pc) _(fn_f) _(fn_uvptr) _(ff_lua) _(ff_c) \
  _(uv_immutable) _(uv_v) \
  _(pt_numparams) _(pt_framesize) _(pt_sizebc) _(pt_k) _(pt_sizekgc) \
  _(pt_sizekn) _(pt_sizept) _(pt_sizeuv) _(pt_flags) _(pt_trace) \
  _(pt_chunkname) _(pt_firstline) _(pt_numline) _(pt_lineinfo) _(pt_uvinfo) \
  _(pt_varinfo) _(pt_size) \
  _(bc_funcf) _(bc_gget) _(bc_uget) _(bc_tgets) _(bc_fnew) _(bc_callm) \
  _(bc_varg) _(bc_tnew) _(bc_itern) _(bc_iterc) _(bc_isnext) _(bc_retm) \
  _(bc_jmp) _(bc_tsets) _(bc_gset) _(bc_usetv) _(bc_mov) \
  /* C frames. */ \
  _(cf_L) _(cf_prev) _(cf_nres) _(cf_pc) _(cf_size) _(cf_sizejit) \
  /* The JIT compiler. */ \
  _(J_trace) _(J_sizetrace) _(J_prof_mode) \
  _(T_nins) _(T_nk) _(T_ir) _(T_nsnap) _(T_nsnapmap) _(T_snap) _(T_snapmap) \
  _(T_startpt) _(T_startpc) _(T_startins) _(T_mcode) _(T_szmcode) \
  _(T_spadjust) _(T_traceno) _(T_root) _(T_nextroot) _(T_size) \
  _(snap_mapofs) _(snap_mcofs) _(snap_nent) _(snap_size) \
  _(ir_o) _(ir_t) _(ir_size) _(ir_kgc) _(ir_knum) _(ir_knull)
/* clang-format on */

enum {
#define MP_LAYOUT_ENUM(name) MP_##name,
  MP_LAYOUT(MP_LAYOUT_ENUM)
#undef MP_LAYOUT_ENUM
      MP_LAYOUT_MAX
};

typedef struct MPLayout {
  const char *name; /* Of the VMs that have it. */
  int32_t n[MP_LAYOUT_MAX];
} MPLayout;

#endif

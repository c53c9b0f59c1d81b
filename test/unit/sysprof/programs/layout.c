/*
** Prints the layout of the VM that is built here, as LuaJIT's own headers have
** it: what is found in machine code must be the same.
*/

#include <stddef.h>
#include <stdio.h>

#define LUA_CORE
#include "lj_obj.h"
#include "lj_dispatch.h"
#include "lj_ff.h"
#include "lj_frame.h"
#include "lj_jit.h"

#define PRINT(name, value)       printf("%s %d\n", #name, (int)(value))
#define FIELD(name, type, field) PRINT(name, offsetof(type, field))

static void print_frame(void)
{
  PRINT(gc64, LJ_GC64);
  PRINT(jit, LJ_HASJIT);
  PRINT(frame, CFRAME_SIZE);
  PRINT(save_l, CFRAME_OFS_L);
  PRINT(save_pc, CFRAME_OFS_PC);
  PRINT(save_nres, CFRAME_OFS_NRES);
  PRINT(save_cframe, CFRAME_OFS_PREV);
  PRINT(bp, -16);
  PRINT(bx, -24);
}

static void print_global(void)
{
  PRINT(g2disp, GG_G2DISP);
  FIELD(vmstate, global_State, vmstate);
  FIELD(cur_l, global_State, cur_L);
#if LJ_HASJIT
  PRINT(jit_frame, CFRAME_SIZE_JIT - CFRAME_SIZE);
  FIELD(jit_base, global_State, jit_base);
  PRINT(trace, GG_OFS(J) - GG_OFS(g) + offsetof(jit_State, trace));
#else
  PRINT(jit_frame, 0);
  PRINT(jit_base, 0);
  PRINT(trace, 0);
#endif
}

static void print_state(void)
{
  FIELD(l_glref, lua_State, glref);
  FIELD(l_base, lua_State, base);
  FIELD(l_top, lua_State, top);
  FIELD(l_maxstack, lua_State, maxstack);
  FIELD(l_stack, lua_State, stack);
  FIELD(l_cframe, lua_State, cframe);
  FIELD(l_env, lua_State, env);
  FIELD(fn_ffid, GCfuncC, ffid);
  FIELD(fn_pc, GCfuncC, pc);
  FIELD(fn_f, GCfuncC, f);
}

static void print_proto(void)
{
  PRINT(pt_size, sizeof(GCproto));
  FIELD(pt_sizebc, GCproto, sizebc);
  FIELD(pt_chunkname, GCproto, chunkname);
  FIELD(pt_firstline, GCproto, firstline);
  FIELD(pt_numline, GCproto, numline);
  FIELD(pt_lineinfo, GCproto, lineinfo);
  FIELD(pt_k, GCproto, k);
  FIELD(pt_sizekgc, GCproto, sizekgc);
  FIELD(pt_uvinfo, GCproto, uvinfo);
  FIELD(pt_varinfo, GCproto, varinfo);
  FIELD(pt_flags, GCproto, flags);
}

static void print_trace(void)
{
  FIELD(t_nins, GCtrace, nins);
  FIELD(t_nsnap, GCtrace, nsnap);
  FIELD(t_ir, GCtrace, ir);
  FIELD(t_nk, GCtrace, nk);
  FIELD(t_nsnapmap, GCtrace, nsnapmap);
  FIELD(t_snap, GCtrace, snap);
  FIELD(t_snapmap, GCtrace, snapmap);
  FIELD(t_startpt, GCtrace, startpt);
  FIELD(t_startpc, GCtrace, startpc);
  FIELD(t_startins, GCtrace, startins);
  FIELD(t_szmcode, GCtrace, szmcode);
  FIELD(t_mcode, GCtrace, mcode);
  FIELD(t_spadjust, GCtrace, spadjust);
  FIELD(t_traceno, GCtrace, traceno);
  FIELD(t_link, GCtrace, link);
  FIELD(t_root, GCtrace, root);
}

/* What only names need: struct LsLayout. */
static void print_rest(void)
{
  PRINT(ref, sizeof(GCRef));
  FIELD(marked, GChead, marked);
  FIELD(pt_numparams, GCproto, numparams);
  FIELD(pt_framesize, GCproto, framesize);
  FIELD(pt_sizekn, GCproto, sizekn);
  FIELD(pt_sizept, GCproto, sizept);
  FIELD(pt_sizeuv, GCproto, sizeuv);
  FIELD(tab_node, GCtab, node);
  FIELD(tab_hmask, GCtab, hmask);
  PRINT(node, sizeof(Node));
  FIELD(t_mcloop, GCtrace, mcloop);
}

/* Which operations of the IR there are: LS_IRFORM_*. */
static void print_ir(void)
{
#if LJ_HASJIT
  PRINT(irform, 1 | (IR_LDEXP - IR_ABS == 2) << 1 |
                    (IR_STRREF - IR_FREF == 2) << 2 |
                    (IR_ASTORE - IR_VLOAD == 2) << 3);
  printf("library[0] %d\nlibrary[1] %d\nlibrary[2] %d\n", FF_assert,
         FF_math_abs, FF_bit_tobit);
  printf("library[3] %d\nlibrary[4] %d\n", FF_string_byte, FF_table_maxn);
  printf("library[5] %d\n", FF_unpack);
#else
  PRINT(irform, 0);
  printf("library[0] 0\nlibrary[1] 0\nlibrary[2] 0\nlibrary[3] 0\n");
  printf("library[4] 0\nlibrary[5] 0\n");
#endif
}

int main(void)
{
  print_frame();
  print_global();
  print_state();
  print_proto();
  print_trace();
  print_rest();
  print_ir();
  return 0;
}

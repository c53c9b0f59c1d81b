/*
** The check of what the recorder reads while the VM allocates, and of traces.
*/

#include "checking.h"

#include <string.h>
#include <sys/time.h>

#include "luajit.h"

#define TRACE_MAX 64 /* More traces than the check's program makes. */
#define REF_BIAS  0x8000u
#define REF_TRUE  (REF_BIAS - 3)
#define IRT_TAB   11
#define IRT_NUM   14

/* -- While the VM allocates ----------------------------------------------- */

/* The interpreter runs the function that has armed us. */
static void alloc_interp(MPCheck *ck)
{
  uint64_t l = check_addr(ck->L), cf = mp_check_cframeof(ck, l), bc, n;
  WANT(vm_interp,
       (int32_t)U32(ck->g + LAY(g_vmstate)) == (int32_t)LAY(vm_interp));
  WANT(g_cur_L, check_ref(ck, ck->g + LAY(g_cur_L)) == l);
  WANT(L_base, PTR(l + LAY(L_base)) == ck->callerbase);
  bc = CHECK_BC(ck->callerpt);
  n = 4 * U32(ck->callerpt + LAY(pt_sizebc));
  WANT(cf_pc, check_ref(ck, cf + LAY(cf_pc)) - bc - 4 < n);
  /* The instruction before it makes a table. */
  WANT(cf_pc, U8(check_ref(ck, cf + LAY(cf_pc)) - 4) == LAY(bc_tnew));
  ck->watch = WATCH_NOTHING;
  ck->seen++;
}

/* The trace of a number, or 0. */
static uint64_t trace_numbered(MPCheck *ck, uint64_t no)
{
  uint64_t J = ck->g - LAY(GG_g) + LAY(GG_J);
  if (no >= U32(J + LAY(J_sizetrace)))
    return 0;
  return check_ref(ck, PTR(J + LAY(J_trace)) + no * LAY(refsize));
}

/* A trace runs: where it returns to, and its base. */
static void alloc_trace(MPCheck *ck)
{
  int32_t st = (int32_t)U32(ck->g + LAY(g_vmstate));
  uint64_t T, cf, ret;
  if (st <= 0)
    return; /* The interpreter, the compiler, an exit. */
  T = trace_numbered(ck, (uint64_t)st);
  cf = mp_check_cframeof(ck, check_addr(ck->L));
  WANT(J_trace, T != 0 && IS(T, trace));
  ret = PTR(cf + LAY(cf_size) - LAY(cf_sizejit) - U16(T + LAY(T_spadjust)) - 8);
  WANT(T_spadjust, ret - PTR(T + LAY(T_mcode)) - 1 < U32(T + LAY(T_szmcode)));
  WANT(g_jit_base, check_ref(ck, ck->g + LAY(g_jit_base)) == ck->callerbase);
  ck->seen++;
}

/* The collector frees: strings in a phase of their own, then all else. */
static void alloc_gc(MPCheck *ck, uint64_t o)
{
  uint64_t state = U8(ck->g + LAY(g_state));
  WANT(vm_gc, (int32_t)U32(ck->g + LAY(g_vmstate)) == (int32_t)LAY(vm_gc));
  if (IS(o, str) && mp_check_isstr(ck, o, U32(o + LAY(str_len)))) {
    WANT(g_state, state == LAY(gc_sweepstring));
    ck->seen |= CHECK_SEENSTRING;
  } else if (IS(o, tab)) {
    WANT(gc_sweepstring, state == LAY(gc_sweepstring) + 1);
    ck->seen |= CHECK_SEENTABLE;
  }
}

void mp_check_alloc(MPCheck *ck, const void *block)
{
  if (ck->watch == WATCH_INTERP)
    alloc_interp(ck);
  else if (ck->watch == WATCH_TRACE)
    alloc_trace(ck);
  else if (ck->watch == WATCH_GC)
    alloc_gc(ck, check_addr(block));
}

/* -- Compiled traces ------------------------------------------------------ */

/* Its parts lie one behind the other, in one block. */
static void trace_parts(MPCheck *ck, uint64_t T)
{
  uint64_t nk = U32(T + LAY(T_nk)), nins = U32(T + LAY(T_nins));
  uint64_t ir = T + LAY(T_size), snap, map;
  WANT(T_nk, nk < REF_TRUE && nk > REF_BIAS - 512);
  WANT(T_nins, nins > REF_BIAS && nins < REF_BIAS + 1024);
  WANT(ir_size, LAY(ir_size) == 8);
  snap = ir + (nins - nk) * LAY(ir_size);
  map = snap + U16(T + LAY(T_nsnap)) * LAY(snap_size);
  WANT(T_ir, PTR(T + LAY(T_ir)) == ir - nk * LAY(ir_size));
  WANT(T_snap, PTR(T + LAY(T_snap)) == snap);
  WANT(T_snapmap, PTR(T + LAY(T_snapmap)) == map);
  WANT(T_nsnapmap,
       check_block(ck, T) == map + 4 * U32(T + LAY(T_nsnapmap)) - T);
}

/* Its start, and its machine code. */
static void trace_start(MPCheck *ck, uint64_t T, uint64_t no)
{
  uint64_t bc = CHECK_BC(ck->callerpt), pc = check_ref(ck, T + LAY(T_startpc));
  WANT(T_traceno, U16(T + LAY(T_traceno)) == no);
  WANT(T_startpt, check_ref(ck, T + LAY(T_startpt)) == ck->callerpt);
  WANT(T_startpc, pc - bc < 4 * U32(ck->callerpt + LAY(pt_sizebc)));
  WANT(T_szmcode,
       U32(T + LAY(T_szmcode)) > 16 && U32(T + LAY(T_szmcode)) < 65536);
  WANT(T_mcode, U8(PTR(T + LAY(T_mcode))) != ~(uint64_t)0);
  /* A root trace has put its number where the instruction had its own. */
  if (U16(T + LAY(T_root)) == 0) {
    WANT(T_startpc, U16(pc + 2) == no);
    WANT(T_startins, U8(T + LAY(T_startins)) + 2 == U8(pc) &&
                         U8(T + LAY(T_startins) + 1) == U8(pc + 1));
  }
}

/* Its snapshots: in order, and each at an instruction of the function. */
static void trace_snapshots(MPCheck *ck, uint64_t T)
{
  uint64_t n = U16(T + LAY(T_nsnap)), i, ofs = 0, mc = 0;
  uint64_t bc = CHECK_BC(ck->callerpt);
  WANT(T_nsnap, n > 1 && n < 256);
  for (i = 0; i < n; i++) {
    uint64_t snap = PTR(T + LAY(T_snap)) + i * LAY(snap_size);
    uint64_t at = U32(snap + LAY(snap_mapofs)), pc;
    uint64_t next = U16(snap + LAY(snap_mcofs));
    uint64_t entries = U8(snap + LAY(snap_nent));
    WANT(snap_mapofs, i == 0 ? at == 0 : at > ofs);
    WANT(snap_mapofs, at < U32(T + LAY(T_nsnapmap)));
    pc = PTR(T + LAY(T_snapmap)) + 4 * (at + entries);
    pc = LAY(refsize) == 8 ? GET(uint64_t, pc) >> 8 : U32(pc);
    WANT(snap_nent, pc - bc < 4 * U32(ck->callerpt + LAY(pt_sizebc)));
    WANT(snap_mcofs, next >= mc && next <= U32(T + LAY(T_szmcode)));
    ofs = at;
    mc = next;
  }
  WANT(snap_mcofs, mc > 0);
}

/* Its constants: a string and a number that the program has there, and that a
** table has no metatable.
*/
static void trace_constants(MPCheck *ck, uint64_t T)
{
  static const double known = 2.71828;
  uint64_t ref, found = 0, bits;
  memcpy(&bits, &known, sizeof(bits));
  for (ref = U32(T + LAY(T_nk)); ref < REF_TRUE; ref++) {
    uint64_t ir = PTR(T + LAY(T_ir)) + ref * 8, op = U8(ir + LAY(ir_o));
    uint64_t wide = LAY(refsize) == 8 ? ir + 8 : ir;
    if (op == LAY(ir_kgc)) {
      uint64_t o = check_ref(ck, wide);
      WANT(ir_kgc, IS(o, str) || IS(o, func) || IS(o, proto) || IS(o, tab));
      /* Types of constants are those of objects. */
      WANT(ir_t, (U8(ir + LAY(ir_t)) & 31) == U8(o + LAY(gct)));
      found |= 1;
    }
    if (op == LAY(ir_knum) && GET(uint64_t, ir + 8) == bits) {
      WANT(ir_t, (U8(ir + LAY(ir_t)) & 31) == IRT_NUM);
      found |= 2;
    }
    if (op == LAY(ir_knull) && (U8(ir + LAY(ir_t)) & 31) == IRT_TAB)
      found |= U32(ir) == 0 ? 4 : 0;
    if (op == LAY(ir_knum) || (op == LAY(ir_kgc) && LAY(refsize) == 8))
      ref++;
  }
  WANT(ir_kgc, found & 1);
  WANT(ir_knum, found & 2);
  WANT(ir_knull, found & 4);
}

/*
** The traces of the function that calls us: two loops, one behind the other,
** and a branch of the first.
*/
void mp_check_traces(MPCheck *ck)
{
  uint64_t no, T, root[2] = {0, 0}, roots = 0, side = 0, known = 0;
  for (no = 1; no < TRACE_MAX; no++) {
    T = trace_numbered(ck, no);
    if (T == 0)
      continue;
    WANT(tag_trace, IS(T, trace));
    trace_parts(ck, T);
    if (ck->bad == MP_CHECK_FITS)
      trace_start(ck, T, no);
    if (ck->bad == MP_CHECK_FITS)
      trace_snapshots(ck, T);
    if (ck->bad != MP_CHECK_FITS)
      return;
    known++;
    if (U16(T + LAY(T_root)) != 0)
      side = T;
    else if (roots++ < 2)
      root[roots - 1] = T;
  }
  if (known == 0) {
    ck->bad = MP_CHECK_NOTRACE;
    return;
  }
  WANT(T_root, roots == 2 && side != 0);
  WANT(T_root, U16(side + LAY(T_root)) == U16(root[0] + LAY(T_traceno)));
  WANT(T_nextroot, U16(root[0] + LAY(T_nextroot)) == 0);
  WANT(T_nextroot,
       U16(root[1] + LAY(T_nextroot)) == U16(root[0] + LAY(T_traceno)));
  WANT(pt_trace,
       U16(ck->callerpt + LAY(pt_trace)) == U16(root[1] + LAY(T_traceno)));
  trace_constants(ck, root[0]);
}

/* Arguments: a trace's number, its machine code, a string, and its address. */
void mp_check_mcode(MPCheck *ck)
{
  uint64_t T = trace_numbered(ck, (uint64_t)lua_tointeger(ck->L, 1));
  size_t len = 0;
  lua_tolstring(ck->L, 2, &len);
  WANT(T_szmcode, U32(T + LAY(T_szmcode)) == len);
  WANT(T_mcode, PTR(T + LAY(T_mcode)) == (uint64_t)lua_tonumber(ck->L, 3));
}

/* -- The compiler's mode, and the VM's tables ------------------------------ */

static void mode_sample(void *data, lua_State *L, int samples, int vmstate)
{
  (void)data;
  (void)L;
  (void)samples;
  (void)vmstate;
}

/* A LuaJIT before 2.1 has none of them: this library is to load there, too, and
** to say what it needs.
*/
#pragma weak luaJIT_profile_start
#pragma weak luaJIT_profile_stop

#define MODE_SECONDS 1000 /* So long that no signal comes meanwhile. */

/*
** Sets the compiler's mode, by way of the VM's profiler: there is one for all
** VMs, and it has the process's timer, which a host may use for its own ends.
** Returns 0 if it is in use.
*/
static int mode_set(MPCheck *ck, uint64_t at, uint64_t *mode)
{
  struct itimerval host, ours;
  int ok;
  if (luaJIT_profile_start == NULL)
    return 0;
  getitimer(ITIMER_PROF, &host);
  luaJIT_profile_start(ck->L, "li1000000", mode_sample, NULL);
  getitimer(ITIMER_PROF, &ours);
  ok = ours.it_interval.tv_sec == MODE_SECONDS;
  *mode = U32(at);
  luaJIT_profile_stop(ck->L);
  if (ok)
    setitimer(ITIMER_PROF, &host, NULL);
  return ok;
}

/* The VM's code that is nearest to an instruction's handler. */
static int mode_iscode(MPCheck *ck, uint64_t addr, uint64_t near)
{
  return addr - near + 65536 < 131072 && U8(addr) != ~(uint64_t)0;
}

/* The mode of the VM's profiler, and the table of handlers. */
void mp_check_mode(MPCheck *ck)
{
  uint64_t GG = ck->g - LAY(GG_g), J = GG + LAY(GG_J), at, mode, n, i;
  at = J + LAY(J_prof_mode);
  WANT(J_prof_mode, U32(at) == 0);
  if (!mode_set(ck, at, &mode)) {
    ck->bad = MP_CHECK_BUSY;
    return;
  }
  WANT(J_prof_mode, mode == 'l');
  luaJIT_setmode(ck->L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_FLUSH);
  /* Nothing is left, but the list has its size. */
  n = U32(J + LAY(J_sizetrace));
  WANT(J_sizetrace,
       n >= 8 && check_block(ck, PTR(J + LAY(J_trace))) == n * LAY(refsize));
  for (i = 1; i < n && i < TRACE_MAX; i++)
    WANT(J_trace, trace_numbered(ck, i) == 0);
  at = GG + LAY(GG_dispatch);
  for (i = 0; i < LAY(ndispatch) && i < 1024; i++)
    WANT(GG_dispatch, mode_iscode(ck, PTR(at + i * 8), PTR(at)));
  WANT(GG_dispatch, !mode_iscode(ck, PTR(at - 8), PTR(at)));
  WANT(ndispatch, !mode_iscode(ck, PTR(at + i * 8), PTR(at)));
}

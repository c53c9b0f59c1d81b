/*
** The check of states, values on the stack, and frames.
*/

#include "checking.h"

#include <string.h>

#define SLOT 8

/* The slot of an argument of ours, from 1. */
static uint64_t state_slot(MPCheck *ck, int idx)
{
  uint64_t base = PTR(check_addr(ck->L) + LAY(L_base));
  return GET(uint64_t, base + (uint64_t)(idx - 1) * SLOT);
}

/* True if an argument is an object of a tag. */
static int state_isobj(MPCheck *ck, int idx, int32_t tag)
{
  uint64_t raw = state_slot(ck, idx);
  return check_tag(ck, raw) == tag &&
         check_ptr(ck, raw) == check_addr(lua_topointer(ck->L, idx));
}

/*
** Arguments: 1234.5, nil, false, a string, a table, a function, a coroutine.
*/
void mp_check_values(MPCheck *ck)
{
  static const int tags[] = {MP_tag_upval, MP_tag_proto, MP_tag_trace};
  lua_State *L = ck->L;
  size_t i;
  uint64_t l = check_addr(L);
  double d = 1234.5;
  uint64_t bits;
  WANT(refsize, LAY(refsize) == 8 || LAY(refsize) == 4);
  WANT(slot, LAY(slot) == SLOT);
  for (i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
    if (!check_want(ck, tags[i], (ck->lay->n[tags[i]] & ~15) == ~15))
      return; /* They are looked for as bytes. */
  WANT(L_top, PTR(l + LAY(L_top)) - PTR(l + LAY(L_base)) ==
                  (uint64_t)lua_gettop(L) * SLOT);
  memcpy(&bits, &d, sizeof(bits));
  WANT(L_base, state_slot(ck, 1) == bits);
  WANT(tag_nil, check_tag(ck, state_slot(ck, 2)) == (int32_t)LAY(tag_nil));
  WANT(tag_false, check_tag(ck, state_slot(ck, 3)) == (int32_t)LAY(tag_false));
  WANT(tag_tab, state_isobj(ck, 5, (int32_t)LAY(tag_tab)));
  WANT(tag_func, state_isobj(ck, 6, (int32_t)LAY(tag_func)));
  WANT(tag_thread, state_isobj(ck, 7, (int32_t)LAY(tag_thread)));
  WANT(tag_str, check_tag(ck, state_slot(ck, 4)) == (int32_t)LAY(tag_str));
  WANT(str_size, check_ptr(ck, state_slot(ck, 4)) == check_str(ck, 4));
  WANT(gct, IS(check_addr(lua_topointer(L, 5)), tab));
  WANT(tag_func, IS(check_addr(lua_topointer(L, 6)), func));
  WANT(tag_thread, IS(check_addr(lua_topointer(L, 7)), thread));
  WANT(tag_str, IS(check_str(ck, 4), str));
}

/* The VM's state, whatever it does: nothing runs in it. */
void mp_check_global(MPCheck *ck)
{
  uint64_t l = check_addr(ck->L), g, main;
  void *ud;
  lua_Alloc f = lua_getallocf(ck->L, &ud);
  WANT(tag_thread, IS(l, thread));
  g = check_ref(ck, l + LAY(L_glref));
  WANT(g_allocf, PTR(g + LAY(g_allocf)) == (uint64_t)(uintptr_t)f);
  WANT(g_allocd, PTR(g + LAY(g_allocd)) == check_addr(ud));
  main = check_ref(ck, g + LAY(g_mainthref));
  WANT(GG_g, main + LAY(GG_g) == g);
  WANT(g_mainthref, IS(main, thread));
  WANT(g_mainthref, check_ref(ck, main + LAY(L_glref)) == g);
  ck->g = g;
}

/* The VM's state, while it runs a C function. */
void mp_check_state(MPCheck *ck)
{
  lua_State *L = ck->L;
  uint64_t l = check_addr(L), g, registry;
  mp_check_global(ck);
  if (ck->bad != MP_CHECK_FITS)
    return;
  g = ck->g;
  if (lua_pushthread(L))
    WANT(g_mainthref, check_ref(ck, g + LAY(g_mainthref)) == l);
  lua_pop(L, 1);
  WANT(g_cur_L, check_ref(ck, g + LAY(g_cur_L)) == l);
  WANT(g_vmstate, (int32_t)U32(g + LAY(g_vmstate)) == (int32_t)LAY(vm_c));
  WANT(g_jit_base, check_ref(ck, g + LAY(g_jit_base)) == 0);
  registry = GET(uint64_t, g + LAY(g_registry));
  WANT(g_registry, check_tag(ck, registry) == (int32_t)LAY(tag_tab));
  WANT(g_registry, check_ptr(ck, registry) ==
                       check_addr(lua_topointer(L, LUA_REGISTRYINDEX)));
  WANT(g_hookmask,
       (U8(g + LAY(g_hookmask)) & 0x0f) == (uint64_t)lua_gethookmask(L));
}

/* The function at a level of the stack. */
static uint64_t state_function(MPCheck *ck, int level)
{
  lua_State *L = ck->L;
  lua_Debug ar;
  uint64_t fn;
  memset(&ar, 0, sizeof(ar));
  if (!lua_getstack(L, level, &ar))
    return 0;
  lua_getinfo(L, "f", &ar);
  fn = check_addr(lua_topointer(L, -1));
  lua_pop(L, 1);
  return fn;
}

/* The function in the frame below a base. */
static uint64_t state_framefn(MPCheck *ck, uint64_t base)
{
  uint64_t raw = GET(uint64_t, base - SLOT - LAY(fr2) * SLOT);
  return LAY(refsize) == 8 ? check_ptr(ck, raw) : (uint32_t)raw;
}

/* From our frame to that of the Lua function that calls. */
void mp_check_frames(MPCheck *ck)
{
  uint64_t base = PTR(check_addr(ck->L) + LAY(L_base)), pc, a;
  ck->callerfn = state_function(ck, 1);
  WANT(fr2, LAY(fr2) <= 1 && LAY(fr2) == (LAY(refsize) == 8));
  WANT(L_base, state_framefn(ck, base) == state_function(ck, 0));
  pc = LAY(refsize) == 8 ? GET(uint64_t, base - SLOT)
                         : U32(base - SLOT + sizeof(uint32_t));
  WANT(fr2, (pc & 3) == 0);
  a = U8(pc - 4 + 1);
  ck->callerbase = base - SLOT * (1 + LAY(fr2) + a);
  WANT(fr2, state_framefn(ck, ck->callerbase) == ck->callerfn);
  ck->callerpt = CHECK_PT(ck->callerfn);
  WANT(pt_size, IS(ck->callerpt, proto));
  WANT(fn_pc,
       pc - CHECK_BC(ck->callerpt) <= 4 * U32(ck->callerpt + LAY(pt_sizebc)));
}

/* A new coroutine, the argument 7. */
void mp_check_coroutine(MPCheck *ck)
{
  uint64_t l = check_addr(lua_topointer(ck->L, 7));
  uint64_t stack = check_ref(ck, l + LAY(L_stack)), raw;
  WANT(L_stack, PTR(l + LAY(L_base)) == stack + SLOT * (1 + LAY(fr2)));
  raw = GET(uint64_t, stack); /* It holds the coroutine itself. */
  WANT(L_stack, check_ptr(ck, raw) == l);
  WANT(L_maxstack, check_ref(ck, l + LAY(L_maxstack)) ==
                       stack + SLOT * (2 * LUA_MINSTACK - 1));
  WANT(L_cframe, PTR(l + LAY(L_cframe)) == 0);
}

/* The C frame on top of a coroutine, without its flags. */
uint64_t mp_check_cframeof(MPCheck *ck, uint64_t L)
{
  return PTR(L + LAY(L_cframe)) & ~(uint64_t)3;
}

/* Our C frame: called by lua_call() for nres results, from an outer one. */
void mp_check_cframe(MPCheck *ck, uint64_t outer, uint64_t nres)
{
  uint64_t cf = mp_check_cframeof(ck, check_addr(ck->L));
  uint64_t here = check_addr(&cf);
  WANT(L_cframe, cf > here && cf - here < 65536 && outer > cf);
  WANT(cf_L, check_ref(ck, cf + LAY(cf_L)) == check_addr(ck->L));
  WANT(cf_nres, U32(cf + LAY(cf_nres)) == nres + 1);
  WANT(cf_prev, (PTR(cf + LAY(cf_prev)) & ~(uint64_t)3) == outer);
}

/* We are in a coroutine, resumed by the one that is the argument 1. */
void mp_check_resumed(MPCheck *ck)
{
  uint64_t resumer = check_addr(lua_topointer(ck->L, 1)), cf, prev;
  int n = 0;
  cf = mp_check_cframeof(ck, check_addr(ck->L));
  while ((prev = PTR(cf + LAY(cf_prev)) & ~(uint64_t)3) != 0 && n++ < 8)
    cf = prev;
  cf += LAY(cf_size);
  WANT(cf_size, check_ref(ck, cf + LAY(cf_L)) == resumer);
  WANT(cf_size, mp_check_cframeof(ck, resumer) == cf);
}

static void state_nohook(lua_State *L, lua_Debug *ar)
{
  (void)L;
  (void)ar;
}

/* The mask of hooks, set to one that we know. Not in a VM with hooks. */
void mp_check_hooks(MPCheck *ck)
{
  uint64_t seen;
  lua_sethook(ck->L, state_nohook, LUA_MASKCOUNT, 1 << 30);
  seen = U8(ck->g + LAY(g_hookmask));
  lua_sethook(ck->L, NULL, 0, 0);
  WANT(g_hookmask, (seen & 0x0f) == LUA_MASKCOUNT);
  WANT(g_hookmask, (U8(ck->g + LAY(g_hookmask)) & 0x0f) == 0);
}

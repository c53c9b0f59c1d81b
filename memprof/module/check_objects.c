/*
** The check of objects: the list of them, strings, tables, functions.
*/

#include "checking.h"

#include <stdio.h>
#include <string.h>

#include "lauxlib.h"

#include "format/ljm_leb.h"

/* -- The heap ------------------------------------------------------------- */

/* The list of objects, and the count of bytes. The collector is stopped. */
void mp_check_heap(MPCheck *ck)
{
  lua_State *L = ck->L;
  uint64_t a, b, size = LAY(refsize);
  lua_newtable(L);
  a = check_addr(lua_topointer(L, -1));
  lua_newtable(L);
  b = check_addr(lua_topointer(L, -1));
  WANT(g_root, check_ref(ck, ck->g + LAY(g_root)) == b);
  WANT(nextgc, check_ref(ck, b + LAY(nextgc)) == a);
  WANT(g_total, check_get(ck, ck->g + LAY(g_total), size) ==
                    (uint64_t)lua_gc(L, LUA_GCCOUNT, 0) * 1024 +
                        (uint64_t)lua_gc(L, LUA_GCCOUNTB, 0));
  lua_pop(L, 2);
}

/* The mark of what is new, one of two: the argument 1 says which. */
void mp_check_white(MPCheck *ck)
{
  uint64_t white, t;
  lua_newtable(ck->L);
  t = check_addr(lua_topointer(ck->L, -1));
  white = U8(ck->g + LAY(g_white)) & 3;
  WANT(g_white, white == 1 || white == 2);
  WANT(marked, (U8(t + LAY(marked)) & 7) == white);
  /* A cycle of the collector exchanges them. */
  WANT(g_white, white != ck->white);
  ck->white = white;
  lua_pop(ck->L, 1);
}

int mp_check_isstr(MPCheck *ck, uint64_t o, uint64_t len)
{
  uint64_t size = check_block(ck, o), text = LAY(str_size) + len + 1;
  return size == text || size == ((text + 3) & ~(uint64_t)3);
}

/* Strings: the newest is the first in its chain. */
void mp_check_strings(MPCheck *ck)
{
  int i;
  for (i = 0; i < 16; i++) {
    char text[64];
    size_t len = (size_t)snprintf(text, sizeof(text), "memprof %*d", i + 1, i);
    uint64_t o, chain, mask, num = U32(ck->g + LAY(g_strnum));
    lua_pushlstring(ck->L, text, len);
    WANT(g_strnum, U32(ck->g + LAY(g_strnum)) == num + 1);
    o = check_str(ck, -1);
    mask = U32(ck->g + LAY(g_strmask));
    WANT(str_len, U32(o + LAY(str_len)) == len);
    WANT(str_sid, U32(o + LAY(str_sid)) + 1 == U32(ck->g + LAY(g_strid)));
    WANT(str_size, mp_check_isstr(ck, o, len));
    WANT(g_strmask, (mask & (mask + 1)) == 0 && mask >= 255);
    chain = PTR(ck->g + LAY(g_strtab)) +
            (U32(o + LAY(str_hash)) & mask) * LAY(refsize);
    WANT(str_hash, (check_ref(ck, chain) & ~(uint64_t)1) == o);
    WANT(g_strtab, check_block(ck, PTR(ck->g + LAY(g_strtab))) ==
                       (mask + 1) * LAY(refsize));
    lua_pop(ck->L, 1);
  }
}

/* -- Tables --------------------------------------------------------------- */

#define TABLE_NODES 32
#define TABLE_KEYS  26 /* The table knows a free node. */

/* The value that a table's nodes have for the key on top of the stack. */
static uint64_t table_value(MPCheck *ck, uint64_t node)
{
  uint64_t str = check_str(ck, -1), i;
  for (i = 0; i < TABLE_NODES; i++) {
    uint64_t n = node + i * LAY(node_size);
    uint64_t key = GET(uint64_t, n + LAY(node_key));
    if (check_tag(ck, key) == (int32_t)LAY(tag_str) &&
        check_ptr(ck, key) == str)
      return GET(uint64_t, n + LAY(node_val));
  }
  return 0;
}

/* Chains of nodes: none comes twice. Keys that share a place make them. */
static void table_chains(MPCheck *ck, uint64_t node)
{
  uint64_t size = LAY(node_size), i, seen = 0;
  ck->links = 0;
  for (i = 0; i < TABLE_NODES; i++) {
    uint64_t next = check_ref(ck, node + i * size + LAY(node_next)), to;
    if (next == 0)
      continue;
    to = (next - node) / size;
    WANT(node_next, next >= node && to < TABLE_NODES &&
                        (next - node) % size == 0 && !(seen >> to & 1));
    seen |= (uint64_t)1 << to;
    ck->links++;
  }
}

/* A table with three numbers and some strings, others in each round. */
static void table_round(MPCheck *ck, int round)
{
  lua_State *L = ck->L;
  uint64_t t, array, node, bits;
  int i;
  lua_createtable(L, 3, TABLE_NODES);
  t = check_addr(lua_topointer(L, -1));
  for (i = 1; i <= 3; i++) {
    lua_pushnumber(L, i + 0.5);
    lua_rawseti(L, -2, i);
  }
  for (i = 0; i < TABLE_KEYS; i++) {
    /* Strings may have their places by turns: leave some out. */
    lua_pushfstring(L, "gap %d %d", round, i % 3 ? i : 0);
    lua_pop(L, 1);
    lua_pushfstring(L, "key %d %d", round, i);
    lua_pushnumber(L, i + 0.25);
    lua_rawset(L, -3);
  }
  array = check_ref(ck, t + LAY(tab_array));
  for (i = 1; i <= 3; i++) {
    double d = i + 0.5;
    memcpy(&bits, &d, sizeof(bits));
    WANT(tab_array, GET(uint64_t, array + (uint64_t)i * 8) == bits);
  }
  WANT(tab_hmask, U32(t + LAY(tab_hmask)) == TABLE_NODES - 1);
  node = check_ref(ck, t + LAY(tab_node));
  WANT(node_size, check_block(ck, node) == TABLE_NODES * LAY(node_size));
  for (i = 0; i < TABLE_KEYS; i++) {
    double d = i + 0.25;
    memcpy(&bits, &d, sizeof(bits));
    lua_pushfstring(L, "key %d %d", round, i);
    WANT(node_key, table_value(ck, node) == bits);
    lua_pop(L, 1);
  }
  table_chains(ck, node);
  lua_pop(L, 1);
}

/* Tables: where keys have their places is random, and now and then none meet.
 */
void mp_check_table(MPCheck *ck)
{
  int round = 0;
  ck->links = 0;
  while (ck->links < 2 && round < 10 && ck->bad == MP_CHECK_FITS)
    table_round(ck, round++);
  WANT(node_next, ck->links >= 2);
}

/* -- Functions ------------------------------------------------------------ */

/* Arguments: a C function, a Lua function, a builtin of the VM. */
void mp_check_functions(MPCheck *ck)
{
  lua_State *L = ck->L;
  uint64_t c = check_addr(lua_topointer(L, 1));
  uint64_t lua = check_addr(lua_topointer(L, 2));
  uint64_t builtin = check_addr(lua_topointer(L, 3));
  WANT(fn_f, PTR(c + LAY(fn_f)) == (uint64_t)(uintptr_t)lua_tocfunction(L, 1));
  WANT(ff_c, U8(c + LAY(fn_ffid)) == LAY(ff_c));
  WANT(ff_lua, U8(lua + LAY(fn_ffid)) == LAY(ff_lua));
  WANT(fn_ffid, U8(builtin + LAY(fn_ffid)) > LAY(ff_c));
  WANT(fn_pc, IS(CHECK_PT(lua), proto));
}

/*
** Arguments: a function whose first upvalue is the first variable of the
** function that calls us, and changes; one whose first never does; and
** one whose first changes, while its second and third do not.
*/
void mp_check_upvalues(MPCheck *ck)
{
  uint64_t fn = check_addr(lua_topointer(ck->L, 1));
  uint64_t uv = check_addr(lua_upvalueid(ck->L, 1, 1));
  uint64_t fixed = check_addr(lua_upvalueid(ck->L, 2, 1));
  int i;
  mp_check_frames(ck);
  WANT(fn_uvptr, check_ref(ck, fn + LAY(fn_uvptr)) == uv);
  WANT(tag_upval, IS(uv, upval));
  /* It is open: the newest one is at the head of their list. */
  WANT(g_uvnext, check_ref(ck, ck->g + LAY(g_uvnext)) == uv);
  WANT(uv_v, check_ref(ck, uv + LAY(uv_v)) == ck->callerbase);
  WANT(uv_immutable, U8(uv + LAY(uv_immutable)) == 0);
  WANT(uv_immutable, U8(fixed + LAY(uv_immutable)) == 1);
  /* More of them, or chance would let a wrong place pass. */
  for (i = 1; i <= 3; i++) {
    uv = check_addr(lua_upvalueid(ck->L, 3, i));
    WANT(uv_immutable, U8(uv + LAY(uv_immutable)) == (i != 1));
  }
}

/* What the VM itself writes of a function. */
typedef struct MPDump {
  unsigned char text[4096];
  size_t len, at;
} MPDump;

static int dump_writer(lua_State *L, const void *p, size_t size, void *ud)
{
  MPDump *d = (MPDump *)ud;
  (void)L;
  if (size > sizeof(d->text) - d->len)
    return 1;
  memcpy(d->text + d->len, p, size);
  d->len += size;
  return 0;
}

static unsigned dump_byte(MPDump *d)
{
  return d->at < d->len ? d->text[d->at++] : 0;
}

static uint32_t dump_uleb(MPDump *d)
{
  const uint8_t *p = d->text + d->at;
  unsigned bad = 0;
  uint64_t v = ljm_getuleb(&p, d->text + d->len, &bad);
  d->at = (size_t)(p - d->text);
  return (uint32_t)v;
}

/* The numbers of a proto, in the order of the dump's format. */
static void proto_head(MPCheck *ck, MPDump *d, uint64_t pt)
{
  uint32_t sizedbg;
  dump_uleb(d); /* Its length. */
  WANT(pt_flags, (U8(pt + LAY(pt_flags)) & 7) == dump_byte(d));
  WANT(pt_numparams, U8(pt + LAY(pt_numparams)) == dump_byte(d));
  WANT(pt_framesize, U8(pt + LAY(pt_framesize)) == dump_byte(d));
  WANT(pt_sizeuv, U8(pt + LAY(pt_sizeuv)) == dump_byte(d));
  WANT(pt_sizekgc, U32(pt + LAY(pt_sizekgc)) == dump_uleb(d));
  WANT(pt_sizekn, U32(pt + LAY(pt_sizekn)) == dump_uleb(d));
  WANT(pt_sizebc, U32(pt + LAY(pt_sizebc)) == dump_uleb(d) + 1);
  sizedbg = dump_uleb(d);
  WANT(pt_lineinfo, sizedbg != 0);
  WANT(pt_firstline, U32(pt + LAY(pt_firstline)) == dump_uleb(d));
  WANT(pt_numline, U32(pt + LAY(pt_numline)) == dump_uleb(d));
}

/* Finds a text in the dump's last part. Returns 0 if memory is not equal. */
static int proto_debug(MPCheck *ck, const MPDump *d, uint64_t addr, size_t from,
                       size_t size)
{
  unsigned char mem[256];
  return size <= sizeof(mem) && from + size <= d->len &&
         mp_peek(&ck->pk, addr, mem, size) &&
         memcmp(mem, d->text + from, size) == 0;
}

/* Dumps the function that is argument IDX, and checks it as far as its code. */
static void proto_dumped(MPCheck *ck, MPDump *d, int idx)
{
  memset(d, 0, sizeof(*d));
  lua_pushvalue(ck->L, idx);
  WANT(pt_size, lua_dump(ck->L, dump_writer, d) == 0);
  lua_pop(ck->L, 1);
  WANT(pt_size, d->len > 5 && d->text[0] == 0x1b && d->text[3] == 2);
  d->at = 4;
  dump_uleb(d); /* Flags, then the chunk's name. */
  d->at += dump_uleb(d);
  proto_head(ck, d, CHECK_PT(check_addr(lua_topointer(ck->L, idx))));
}

/* Arguments: functions of many kinds, which define none. */
void mp_check_protos(MPCheck *ck)
{
  MPDump d;
  int i;
  for (i = 1; i <= lua_gettop(ck->L) && ck->bad == MP_CHECK_FITS; i++)
    proto_dumped(ck, &d, i);
}

/*
** The function that calls us, against its dump. It has a constant "known", and
** its debug information fills the dump's end: lines, upvalues, variables.
*/
void mp_check_proto(MPCheck *ck)
{
  lua_State *L = ck->L;
  uint64_t pt = CHECK_PT(check_addr(lua_topointer(L, 1)));
  uint64_t chunk, k, i, nkgc, lines, uvs, vars, end;
  MPDump d;
  int found = 0;
  proto_dumped(ck, &d, 1);
  if (ck->bad != MP_CHECK_FITS)
    return;
  end = U32(pt + LAY(pt_sizebc)) - 1;
  WANT(pt_size, proto_debug(ck, &d, CHECK_BC(pt) + 4, d.at, end * 4));
  WANT(pt_sizept, check_block(ck, pt) == U32(pt + LAY(pt_sizept)));
  chunk = check_ref(ck, pt + LAY(pt_chunkname));
  lua_pushliteral(L, "=memprof");
  WANT(pt_chunkname, chunk == check_str(ck, -1));
  lua_pushliteral(L, "known");
  k = check_ref(ck, pt + LAY(pt_k));
  nkgc = U32(pt + LAY(pt_sizekgc));
  for (i = 1; i <= nkgc && i < 64; i++)
    found |= check_ref(ck, k - i * LAY(refsize)) == check_str(ck, -1);
  WANT(pt_k, found);
  lua_pop(L, 2);
  /* They lie one behind the other, as in the dump. */
  lines = check_ref(ck, pt + LAY(pt_lineinfo));
  uvs = check_ref(ck, pt + LAY(pt_uvinfo));
  vars = check_ref(ck, pt + LAY(pt_varinfo));
  end = pt + U32(pt + LAY(pt_sizept));
  WANT(pt_lineinfo, lines > pt && lines < uvs && uvs < vars && vars < end);
  WANT(pt_uvinfo,
       proto_debug(ck, &d, lines, d.len - 1 - (end - lines), end - lines));
  WANT(pt_uvinfo,
       mp_peek(&ck->pk, uvs, &d.text, 6) && memcmp(d.text, "probe", 6) == 0);
  WANT(pt_varinfo,
       mp_peek(&ck->pk, vars, &d.text, 6) && memcmp(d.text, "param", 6) == 0);
}

/*
** Arguments: the function "ops" of the check's program, whose instructions are
** known, and one without "...".
*/
void mp_check_ops(MPCheck *ck)
{
  static const struct {
    int entry;
    unsigned at;
  } ops[] = {
      {MP_bc_gset, 1},   {MP_bc_usetv, 2},  {MP_bc_gget, 3},
      {MP_bc_uget, 4},   {MP_bc_tgets, 5},  {MP_bc_tsets, 6},
      {MP_bc_fnew, 7},   {MP_bc_mov, 9},    {MP_bc_isnext, 13},
      {MP_bc_itern, 15}, {MP_bc_jmp, 20},   {MP_bc_iterc, 22},
      {MP_bc_varg, 25},  {MP_bc_callm, 26}, {MP_bc_tnew, 27},
      {MP_bc_retm, 31},
  };
  uint64_t bc = CHECK_BC(CHECK_PT(check_addr(lua_topointer(ck->L, 1))));
  size_t i;
  for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
    if (!check_want(ck, ops[i].entry,
                    U8(bc + ops[i].at * 4) ==
                        (uint64_t)ck->lay->n[ops[i].entry]))
      return;
  bc -= LAY(pt_size); /* It defines a function, and has "...". */
  WANT(pt_flags, (U8(bc + LAY(pt_flags)) & 7) == 3);
  bc = CHECK_BC(CHECK_PT(check_addr(lua_topointer(ck->L, 2))));
  WANT(bc_funcf, U8(bc) == LAY(bc_funcf));
}

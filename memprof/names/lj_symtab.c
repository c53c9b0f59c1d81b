/*
** Definitions: functions and sites, each written once, before their first use.
** Code that is freed is dropped, so that what comes to its address later gets
** an id of its own.
*/

#define lj_symtab_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdlib.h>
#include <string.h>

#include "lj_bc.h"
#include "lj_memprof_clock.h"
#include "lj_memprof_map.h"
#include "lj_memprof_name.h"
#include "lj_memprof_oldformat.h"
#include "lj_memprof_state.h"
#include "lj_symtab.h"
#include "lj_wbuf.h"
#include "format/ljm_crc32c.h"

/* -- Entries -------------------------------------------------------------- */

/* The map's key of an address. */
#define symtab_key(addr) ((uint64_t)(uintptr_t)(addr))

/* Looks an address up. */
static MPFunc *symtab_find(const MPState *mp, const void *addr)
{
  return (MPFunc *)(uintptr_t)lj_memprof_mapget(&mp->symtab.funcs,
                                                symtab_key(addr));
}

/*
** The entry of an address, made with the given name if there is none.
** Returns NULL without memory. It does not write to the stream.
*/
MPFunc *lj_symtab_entry(MPState *mp, const void *addr, const char *name,
                        size_t len)
{
  MPFunc *func = symtab_find(mp, addr);
  if (func != NULL)
    return func;
  func = (MPFunc *)calloc(1, sizeof(MPFunc) + len + 1);
  if (func == NULL)
    return NULL;
  func->addr = symtab_key(addr);
  memcpy(func->name, name, len);
  if (!lj_memprof_mapput(&mp->symtab.funcs, func->addr,
                         (uint64_t)(uintptr_t)func)) {
    free(func);
    return NULL;
  }
  return func;
}

/* The map's key of a site: functions and lines are less than 2^31. */
static uint64_t symtab_sitekey(const MPFunc *func, BCLine line, uint32_t flags)
{
  return ((uint64_t)func->id << 33) | ((uint64_t)(uint32_t)line << 2) | flags;
}

/* Forgets all sites of a function, in whichever way is shorter. */
static void symtab_dropsites(MPState *mp, const MPFunc *func)
{
  if ((uint32_t)func->numline < mp->symtab.sites.mask / 4) {
    BCLine i;
    uint32_t flags;
    for (i = -1; i <= func->numline; i++) {
      BCLine line = i < 0 ? 0 : func->firstline + i;
      for (flags = 0; flags < 4; flags++)
        lj_memprof_mapdel(&mp->symtab.sites, symtab_sitekey(func, line, flags));
    }
  } else {
    uint32_t i;
    for (i = 0; mp->symtab.sites.mask && i <= mp->symtab.sites.mask; i++)
      while (mp->symtab.sites.slot[2 * i] >> 33 == func->id)
        lj_memprof_mapdel(&mp->symtab.sites, mp->symtab.sites.slot[2 * i]);
  }
}

void lj_symtab_drop(MPState *mp, const void *addr)
{
  MPFunc *func = symtab_find(mp, addr);
  if (func == NULL)
    return;
  lj_memprof_mapdel(&mp->symtab.funcs, func->addr);
  if (func->id != 0)
    symtab_dropsites(mp, func);
  free(func);
}

void lj_symtab_undefine(MPState *mp)
{
  uint32_t i;
  for (i = 0; mp->symtab.funcs.mask && i <= mp->symtab.funcs.mask; i++) {
    MPFunc *func = (MPFunc *)(uintptr_t)mp->symtab.funcs.slot[2 * i + 1];
    if (func != NULL)
      func->id = 0;
  }
  lj_memprof_mapfree(&mp->symtab.sites);
  mp->symtab.nextfunc = 1;
  mp->symtab.nextsite = LJM_SITE_FIRST;
}

void lj_symtab_free(MPState *mp)
{
  uint32_t i;
  for (i = 0; mp->symtab.funcs.mask && i <= mp->symtab.funcs.mask; i++)
    free((void *)(uintptr_t)mp->symtab.funcs.slot[2 * i + 1]);
  lj_memprof_mapfree(&mp->symtab.funcs);
  lj_memprof_mapfree(&mp->symtab.sites);
}

/* -- Functions ------------------------------------------------------------ */

/* Begins a record, with room for all of it. */
static uint8_t *symtab_record(MPState *mp, int code)
{
  if (lj_wbuf_room(&mp->buf) < MP_RECORD_MAX)
    lj_memprof_flush(mp);
  return lj_wbuf_record(&mp->buf, code);
}

/* True for instructions that the JIT compiler patches: where traces start, and
** sizes of tables that it saw grow.
*/
static int symtab_ispatched(BCOp op)
{
  return (op >= BC_RETM && op <= BC_JMP) || op >= BC_FUNCF || op == BC_ITERC ||
         op == BC_ITERN || op == BC_ISNEXT || op == BC_TNEW;
}

/* True for functions of stripped code: they have no line of their own. */
static int symtab_isbyhash(const GCproto *pt)
{
  return pt->firstline == 0 && proto_lineinfo(pt) == NULL;
}

/* A checksum of a function's code that stays the same while it runs. */
static uint32_t symtab_hash(const GCproto *pt)
{
  const BCIns *bc = proto_bc(pt);
  uint32_t shape[5], crc;
  MSize i;
  shape[0] = pt->sizebc;
  shape[1] = pt->sizekgc;
  shape[2] = pt->sizekn;
  shape[3] = ((uint32_t)pt->numparams << 16) | pt->framesize;
  shape[4] = pt->sizeuv;
  crc = ljm_crc32c(0, shape, sizeof(shape));
  for (i = 0; i < pt->sizebc; i++)
    if (!symtab_ispatched(bc_op(bc[i])))
      crc = ljm_crc32c(crc, &bc[i], sizeof(BCIns));
  return crc;
}

/* Adds a constant of a function to a checksum: what is the same for the same
** code, whichever process has loaded it.
*/
static uint32_t symtab_hashkgc(uint32_t crc, GCobj *o)
{
  uint8_t gct = o->gch.gct;
  crc = ljm_crc32c(crc, &gct, 1);
  if (gct == (uint8_t)~LJ_TSTR) {
    const GCstr *s = gco2str(o);
    MSize len = s->len < LJM_HASH_STRING ? s->len : LJM_HASH_STRING;
    return ljm_crc32c(ljm_crc32c(crc, &len, sizeof(len)), strdata(s), len);
  }
  if (gct == (uint8_t)~LJ_TPROTO) {
    uint32_t child = symtab_hash(gco2pt(o));
    return ljm_crc32c(crc, &child, sizeof(child));
  }
  return crc;
}

/* The checksum that distinguishes functions: where nothing else does, it is of
** their constants, too.
*/
static uint32_t symtab_fullhash(GCproto *pt)
{
  uint32_t crc = symtab_hash(pt);
  MSize i;
  if (!symtab_isbyhash(pt))
    return crc;
  crc = ljm_crc32c(crc, mref(pt->k, void), pt->sizekn * sizeof(lua_Number));
  for (i = 0; i < pt->sizekgc && i < LJM_HASH_KGC; i++)
    crc = symtab_hashkgc(crc, proto_kgc(pt, ~(ptrdiff_t)i));
  return crc;
}

BCLine lj_symtab_line(GCproto *pt, ptrdiff_t pos)
{
  const void *info = proto_lineinfo(pt);
  BCLine first = pt->firstline > 0 ? pt->firstline : 0;
  if (info == NULL || pt->firstline < 0)
    return 0;
  if (pos <= 0 || pos >= (ptrdiff_t)pt->sizebc)
    return first;
  if (pt->numline < 256)
    return first + ((const uint8_t *)info)[pos - 1];
  if (pt->numline < 65536)
    return first + ((const uint16_t *)info)[pos - 1];
  return first + (BCLine)((const uint32_t *)info)[pos - 1];
}

/* Writes the definition of a proto. */
static void symtab_defproto(MPState *mp, GCproto *pt, const MPFunc *func)
{
  MPBuf *b = &mp->buf;
  GCstr *chunk = proto_chunkname(pt);
  uint8_t *mark = symtab_record(mp, LJM_REC_PROTO);
  lj_wbuf_uleb(b, func->id);
  lj_wbuf_uleb(b, (chunk->len > LJM_NAME_MAX ? LJM_PROTO_CUT : 0) |
                      (proto_lineinfo(pt) ? 0 : LJM_PROTO_STRIPPED) |
                      (symtab_isbyhash(pt) ? LJM_PROTO_BYHASH : 0));
  lj_wbuf_uleb(b, func->addr);
  lj_wbuf_uleb(b, symtab_fullhash(pt));
  lj_wbuf_uleb(b, (uint64_t)(int64_t)pt->firstline);
  lj_wbuf_uleb(b, (uint64_t)func->numline);
  lj_wbuf_string(b, strdata(chunk), chunk->len);
  lj_wbuf_string(b, func->name, strlen(func->name));
  lj_wbuf_recordend(b, mark);
}

MPFunc *lj_symtab_proto(MPState *mp, GCproto *pt)
{
  MPFunc *func = lj_symtab_entry(mp, pt, "", 0);
  if (func == NULL || func->id != 0)
    return func;
  func->id = mp->symtab.nextfunc++;
  /* Builtins that are written in Lua have a first line of -1. */
  func->firstline = pt->firstline > 0 ? pt->firstline : 0;
  func->numline = pt->firstline > 0 ? pt->numline : 0;
  if (mp->format == LUAM_PROF_COMPACT)
    symtab_defproto(mp, pt, func);
  else
    lj_memprof_oldproto(mp, pt);
  return func;
}

/* Writes the definition of a C function. */
static void symtab_defcfunc(MPState *mp, const MPFunc *func, const GCfunc *fn)
{
  MPBuf *b = &mp->buf;
  MPSymbol *sym = (MPSymbol *)calloc(1, sizeof(MPSymbol));
  const char *symbol = sym ? sym->symbol : "", *module = sym ? sym->module : "";
  char name[MP_CNAME_MAX];
  uint32_t flags = 0;
  uint8_t *mark;
  if (sym != NULL) /* Without memory, the address has to do. */
    lj_memprof_symbol((const void *)(uintptr_t)func->addr, sym);
  lj_memprof_cname(mp->g, fn, name, sizeof(name));
  if (*name)
    flags = isffunc(fn) ? LJM_CFUNC_BUILTIN : LJM_CFUNC_NAMED;
  mark = symtab_record(mp, LJM_REC_CFUNC);
  lj_wbuf_uleb(b, func->id);
  lj_wbuf_uleb(b, flags);
  lj_wbuf_uleb(b, func->addr);
  lj_wbuf_uleb(b, sym ? sym->offset : func->addr);
  lj_wbuf_string(b, module, strlen(module));
  lj_wbuf_string(b, flags ? name : symbol, strlen(flags ? name : symbol));
  if (flags & LJM_CFUNC_NAMED)
    lj_wbuf_string(b, symbol, strlen(symbol));
  lj_wbuf_recordend(b, mark);
  free(sym);
}

/*
** What distinguishes a C function from all others: its address. Some builtins
** share one (xpcall has that of pcall); their number is put above it.
*/
const void *lj_symtab_ckey(const GCfunc *fn)
{
  uint64_t key = (uint64_t)(uintptr_t)fn->c.f;
  if (isffunc(fn))
    key ^= (uint64_t)fn->c.ffid << (sizeof(void *) == 8 ? 48 : 24);
  return (const void *)(uintptr_t)key;
}

MPFunc *lj_symtab_cfunc(MPState *mp, GCfunc *fn)
{
  MPFunc *func = lj_symtab_entry(mp, lj_symtab_ckey(fn), "", 0);
  if (func == NULL || func->id != 0)
    return func;
  func->addr = (uint64_t)(uintptr_t)fn->c.f;
  func->id = mp->symtab.nextfunc++;
  func->iscfunc = 1;
  if (mp->format == LUAM_PROF_COMPACT)
    symtab_defcfunc(mp, func, fn);
  else
    lj_memprof_oldcfunc(mp, func);
  return func;
}

/* -- Sites ---------------------------------------------------------------- */

uint32_t lj_symtab_site(MPState *mp, MPFunc *func, BCLine line, uint32_t flags)
{
  uint64_t key = symtab_sitekey(func, line, flags);
  uint32_t site = (uint32_t)lj_memprof_mapget(&mp->symtab.sites, key);
  if (site != 0)
    return site;
  site = mp->symtab.nextsite;
  if (!lj_memprof_mapput(&mp->symtab.sites, key, site))
    return LJM_SITE_UNKNOWN;
  if (mp->format == LUAM_PROF_COMPACT) {
    MPBuf *b = &mp->buf;
    uint8_t *mark = symtab_record(mp, LJM_REC_SITE);
    lj_wbuf_uleb(b, site);
    lj_wbuf_uleb(b, flags);
    lj_wbuf_uleb(b, func->id);
    lj_wbuf_uleb(b, (uint64_t)line);
    lj_wbuf_recordend(b, mark);
  } else if (!lj_memprof_oldsite(mp, site, func, line)) {
    lj_memprof_mapdel(&mp->symtab.sites, key);
    return LJM_SITE_UNKNOWN;
  }
  mp->symtab.nextsite++;
  return site;
}

#if LJ_HASJIT

/* Writes the definition of a trace's start. */
static void symtab_deftrace(MPState *mp, const MPFunc *func, GCtrace *T)
{
  GCproto *pt = gco2pt(gcref(T->startpt));
  const MPFunc *start = lj_symtab_proto(mp, pt);
  MPBuf *b = &mp->buf;
  uint8_t *mark = symtab_record(mp, LJM_REC_TRACE);
  lj_wbuf_uleb(b, func->id);
  lj_wbuf_uleb(b, 0);
  lj_wbuf_uleb(b, T->traceno);
  lj_wbuf_uleb(b, start ? start->id : 0);
  lj_wbuf_uleb(b, (uint64_t)lj_symtab_line(pt, mref(T->startpc, const BCIns) -
                                                   proto_bc(pt)));
  lj_wbuf_recordend(b, mark);
}

/* The same, in the old formats: the function where it starts may be new, too.
 */
static void symtab_oldtrace(MPState *mp, const MPFunc *func, GCtrace *T,
                            BCLine line)
{
  lj_symtab_proto(mp, gco2pt(gcref(T->startpt)));
  lj_memprof_oldtrace(mp, func, T, line);
}

uint32_t lj_symtab_tracesite(MPState *mp, GCtrace *T)
{
  GCproto *pt = gco2pt(gcref(T->startpt));
  BCLine line =
      lj_symtab_line(pt, mref(T->startpc, const BCIns) - proto_bc(pt));
  const uint32_t flags = LJM_SITE_TRACE | LJM_SITE_APPROX;
  MPFunc *func;
  if (mp->format == LUAM_PROF_RFC) { /* It knows no traces. */
    func = lj_symtab_proto(mp, pt);
    return func ? lj_symtab_site(mp, func, line, flags) : LJM_SITE_UNKNOWN;
  }
  func = lj_symtab_entry(mp, T, "", 0);
  if (func == NULL)
    return LJM_SITE_UNKNOWN;
  if (func->id == 0) {
    func->id = mp->symtab.nextfunc++;
    func->traceno = T->traceno;
    if (mp->format == LUAM_PROF_COMPACT)
      symtab_deftrace(mp, func, T);
    else
      symtab_oldtrace(mp, func, T, line);
  }
  return lj_symtab_site(mp, func, 0, flags);
}

#endif

#endif

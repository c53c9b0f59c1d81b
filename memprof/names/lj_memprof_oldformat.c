/*
** The old formats: version 1 as the RFC has it, version 3 as Tarantool has it.
** Both name code by its address, so every site keeps one.
*/

#define lj_memprof_oldformat_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdlib.h>
#include <string.h>

#include "lj_memprof_clock.h"
#include "lj_memprof_name.h"
#include "lj_memprof_oldformat.h"
#include "lj_memprof_state.h"
#include "lj_wbuf.h"

/* Kinds of symbols in a symtab of version 3. */
enum { OLD_SYM_LUA, OLD_SYM_C, OLD_SYM_TRACE };

#define OLD_RFC_VERSION       1
#define OLD_TARANTOOL_VERSION 3
#define OLD_RFC_MARK          0x40 /* The T bit of the RFC's event header. */

/* The version byte of a recording. */
static uint8_t oldformat_version(const MPState *mp)
{
  return mp->format == LUAM_PROF_RFC ? OLD_RFC_VERSION : OLD_TARANTOOL_VERSION;
}

/* Makes room for a symbol. */
static void oldformat_room(MPState *mp)
{
  if (lj_wbuf_room(&mp->buf) < MP_RECORD_MAX)
    lj_memprof_flush(mp);
}

void lj_memprof_oldprologue(MPState *mp, char letter)
{
  const uint8_t prologue[LJM_PROLOGUE_LEN] = {'l', 'j', (uint8_t)letter,
                                              oldformat_version(mp)};
  memcpy(mp->buf.p, prologue, sizeof(prologue));
  mp->buf.p += sizeof(prologue);
}

/* Appends the symbol of a proto, without a header. */
static void oldformat_proto(MPBuf *b, GCproto *pt)
{
  GCstr *chunk = proto_chunkname(pt);
  lj_wbuf_uleb(b, (uint64_t)(uintptr_t)pt);
  lj_wbuf_string(b, strdata(chunk), chunk->len);
  lj_wbuf_uleb(b, (uint64_t)(int64_t)pt->firstline);
}

void lj_memprof_oldsymbol(MPState *mp, GCproto *pt)
{
  oldformat_room(mp);
  *mp->buf.p++ = OLD_SYM_LUA;
  oldformat_proto(&mp->buf, pt);
}

/* Appends the header of a symbol that comes between events. */
static void oldformat_symbolevent(MPState *mp, int source)
{
  oldformat_room(mp);
  *mp->buf.p++ = (uint8_t)(source << 2);
}

void lj_memprof_oldproto(MPState *mp, GCproto *pt)
{
  if (mp->format != LUAM_PROF_TARANTOOL)
    return; /* The RFC has no place for it: the reader shows the address. */
  oldformat_symbolevent(mp, MP_SOURCE_LUA);
  oldformat_proto(&mp->buf, pt);
}

void lj_memprof_oldcfunc(MPState *mp, const MPFunc *func)
{
  MPBuf *b = &mp->buf;
  MPSymbol *sym;
  if (mp->format != LUAM_PROF_TARANTOOL)
    return;
  sym = (MPSymbol *)malloc(sizeof(MPSymbol));
  if (sym == NULL)
    return;
  lj_memprof_symbol((const void *)(uintptr_t)func->addr, sym);
  if (sym->symbol[0] != '\0') {
    oldformat_symbolevent(mp, MP_SOURCE_C);
    lj_wbuf_uleb(b, func->addr);
    lj_wbuf_string(b, sym->symbol, strlen(sym->symbol));
  }
  free(sym);
}

#if LJ_HASJIT
void lj_memprof_oldtrace(MPState *mp, const MPFunc *func, GCtrace *T,
                         BCLine line)
{
  MPBuf *b = &mp->buf;
  oldformat_symbolevent(mp, MP_SOURCE_TRACE);
  lj_wbuf_uleb(b, func->traceno);
  lj_wbuf_uleb(b, (uint64_t)(uintptr_t)gcref(T->startpt));
  lj_wbuf_uleb(b, (uint64_t)line);
}
#endif

int lj_memprof_oldsite(MPState *mp, uint32_t site, const MPFunc *func,
                       BCLine line)
{
  MPOldSite *s;
  if (site >= mp->old.size) {
    uint32_t size = mp->old.size ? 2 * mp->old.size : 256;
    s = (MPOldSite *)realloc(mp->old.site, size * sizeof(MPOldSite));
    if (s == NULL)
      return 0;
    mp->old.site = s;
    mp->old.size = size;
  }
  s = &mp->old.site[site];
  s->line = (uint32_t)line;
  s->addr = func->addr;
  s->source = MP_SOURCE_LUA;
  if (func->traceno != 0) {
    s->source = MP_SOURCE_TRACE;
    s->addr = func->traceno;
  } else if (func->iscfunc) {
    s->source = MP_SOURCE_C;
  }
  return 1;
}

void lj_memprof_oldevent(MPState *mp, int kind, uint32_t site, const void *optr,
                         size_t osize, const void *nptr, size_t nsize)
{
  uint8_t *h = mp->buf.p, *p = h + 1;
  int header = kind | (MP_SOURCE_INTERNAL << 2);
  if (site >= LJM_SITE_FIRST) {
    const MPOldSite *s = &mp->old.site[site];
    header = kind | (s->source << 2);
    p = ljm_putuleb(p, s->addr);
    if (s->source == MP_SOURCE_LUA)
      p = ljm_putuleb(p, s->line);
  }
  if (kind != LJM_ALLOC) {
    p = ljm_putuleb(p, (uint64_t)(uintptr_t)optr);
    p = ljm_putuleb(p, osize);
  }
  if (kind != LJM_FREE) {
    p = ljm_putuleb(p, (uint64_t)(uintptr_t)nptr);
    p = ljm_putuleb(p, nsize);
  }
  if (mp->old.mark && mp->format == LUAM_PROF_RFC) {
    header |= OLD_RFC_MARK;
    mp->old.mark = 0;
  }
  *h = (uint8_t)header;
  mp->buf.p = p;
}

void lj_memprof_freeold(MPState *mp)
{
  free(mp->old.site);
}

#endif

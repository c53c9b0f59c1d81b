/*
** Heap dump: any object, with its size as the VM counts it and all of its
** references. Of what the collector is about to free, only its own memory is
** looked at: what it refers to may be gone.
*/

#define lj_heapobj_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <string.h>

#include "lj_buf.h"
#include "lj_heapobj.h"
#include "lj_str.h"
#if LJ_HASFFI
#include "lj_cdata.h"
#include "lj_ctype.h"
#endif

/* -- Strings, upvalues ----------------------------------------------------- */

/* Writes a string, with the beginning of its text. */
static void heap_string(MPDump *d, const GCstr *s)
{
  uint32_t n = s->len < d->stringmax ? s->len : d->stringmax;
  int flags = (n > 0 ? LJM_STRING_TEXT : 0) |
              (s->marked & LJ_GC_FIXED ? LJM_STRING_FIXED : 0);
  lj_heap_begin(d, obj2gco(s), LJM_TYPE_STRING, flags,
                s == &d->g->strempty ? 0 : lj_str_size(s->len));
  lj_heap_uleb(d, s->len);
  memcpy(d->buf.p, strdata(s), n);
  d->buf.p += n;
}

/* Writes an upvalue. */
static void heap_upvalue(MPDump *d, GCupval *uv)
{
  const GCobj *o = lj_heap_valueof(uvval(uv));
  lj_heap_begin(d, obj2gco(uv), LJM_TYPE_UPVALUE,
                (uv->closed ? 0 : LJM_UPVALUE_OPEN) |
                    (o != NULL ? LJM_UPVALUE_REF : 0),
                sizeof(GCupval));
  if (!uv->closed)
    lj_heap_near(d, uvval(uv));
  if (o != NULL)
    lj_heap_ref(d, o);
}

/* -- Userdata, cdata ------------------------------------------------------- */

/* Writes a userdata. A buffer has its memory, unless it has borrowed that. */
static void heap_userdata(MPDump *d, GCudata *ud)
{
  const SBufExt *sbx = NULL;
  size_t size = sizeudata(ud), own = 0;
  const GCobj *mt = gcref(ud->metatable);
#if LJ_HASBUFFER
  if (ud->udtype == UDTYPE_BUFFER) {
    sbx = (const SBufExt *)uddata(ud);
    own = sbufiscoworborrow(sbx) ? 0 : sbufsz(sbx);
  }
#endif
  lj_heap_begin(d, obj2gco(ud), LJM_TYPE_USERDATA,
                (mt ? LJM_UDATA_META : 0) | (own ? LJM_UDATA_BUFFER : 0),
                size + own);
  lj_heap_uleb(d, ud->udtype);
  lj_heap_ref(d, gcref(ud->env));
  if (mt)
    lj_heap_ref(d, mt);
  if (own) {
    lj_heap_uleb(d, own);
    lj_heap_near(d, sbx->b);
  }
#if LJ_HASBUFFER
  if (sbx != NULL) {
    if (sbufiscow(sbx))
      lj_heap_link(d, "content", gcref(sbx->cowref));
    lj_heap_link(d, "dictionary", gcref(sbx->dict_str));
    lj_heap_link(d, "metatables", gcref(sbx->dict_mt));
  }
#endif
}

#if LJ_HASFFI
/* Writes a cdata. */
static void heap_cdata(MPDump *d, GCcdata *cd)
{
  CTState *cts = ctype_ctsG(d->g);
  int finalizer = cd->marked & LJ_GC_CDATA_FIN ? LJM_CDATA_FINALIZER : 0;
  if (cdataisv(cd)) {
    lj_heap_begin(d, obj2gco(cd), LJM_TYPE_CDATA, finalizer | LJM_CDATA_BASE,
                  sizecdatav(cd));
    lj_heap_near(d, memcdatav(cd));
  } else {
    const CType *ct = ctype_raw(cts, cd->ctypeid);
    CTSize size = ctype_hassize(ct->info) ? ct->size : CTSIZE_PTR;
    lj_heap_begin(d, obj2gco(cd), LJM_TYPE_CDATA, finalizer,
                  sizeof(GCcdata) + size);
  }
  lj_heap_uleb(d, cd->ctypeid);
}
#endif

/* -- Any object ------------------------------------------------------------ */

void lj_heap_object(MPDump *d, GCobj *o)
{
  d->owner = 0;
  lj_heap_room(d, HEAP_ITEM_MAX);
  switch (o->gch.gct) {
  case ~LJ_TSTR:
    heap_string(d, gco2str(o));
    break;
  case ~LJ_TUPVAL:
    heap_upvalue(d, gco2uv(o));
    break;
  case ~LJ_TTHREAD:
    lj_heap_thread(d, gco2th(o));
    break;
  case ~LJ_TPROTO:
    lj_heap_proto(d, gco2pt(o));
    break;
  case ~LJ_TFUNC:
    lj_heap_function(d, gco2func(o));
    break;
#if LJ_HASJIT
  case ~LJ_TTRACE:
    lj_heap_trace(d, gco2trace(o));
    break;
#endif
#if LJ_HASFFI
  case ~LJ_TCDATA:
    heap_cdata(d, gco2cd(o));
    break;
#endif
  case ~LJ_TTAB:
    lj_heap_table(d, gco2tab(o));
    break;
  case ~LJ_TUDATA:
    heap_userdata(d, gco2ud(o));
    break;
  default:
    break;
  }
}

#endif

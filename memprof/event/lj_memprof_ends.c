/*
** How a recording begins and ends: its prologues, what it records about itself,
** and the totals by which a reader can prove that nothing was lost.
*/

#define lj_memprof_ends_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <string.h>

#include "lj_memprof_clock.h"
#include "lj_memprof_ends.h"
#include "lj_memprof_meta.h"
#include "lj_memprof_name.h"
#include "lj_memprof_oldformat.h"
#include "lj_memprof_state.h"
#include "lj_memprof_tail.h"
#include "lj_memprof_time.h"
#include "lj_wbuf.h"

/* -- Metadata ------------------------------------------------------------- */

/* Appends the metadata of a recording that begins now. */
static void stream_meta(MPState *mp, uint64_t live)
{
  MPBuf *b = &mp->buf;
  MPOrigin origin;
  uint8_t *mark;
  b->keep = 1;
  lj_memprof_origin(&origin);
  mp->stream.monotonic = origin.monotonic;
  mp->stream.realtime = origin.realtime;
  mark = lj_memprof_metabegin(b, &origin);
  if (mp->segment.number == 0) /* Others have more room for events. */
    lj_memprof_metaname(b, "command", origin.line);
  mp->stream.live = live;
  lj_memprof_metaint(b, "live", live);
  lj_memprof_metaint(b, "lines", (uint64_t)mp->lines);
  lj_memprof_metaint(b, "stack", mp->depth);
  if (mp->sample != NULL) {
    lj_memprof_metaint(b, "sample", mp->sampling.bytes);
    lj_memprof_metaint(b, "seed", mp->sampling.seed);
  }
  if (mp->clock.marks != MP_MARKS)
    lj_memprof_metaint(b, "marks", mp->clock.marks);
  if (mp->segment.max != 0) {
    if (mp->segment.number == 0)
      mp->segment.recording = origin.monotonic;
    lj_memprof_metaint(b, "segment", mp->segment.number);
    lj_memprof_metaint(b, "first_event", mp->segment.events);
    lj_memprof_metaint(b, "recording", mp->segment.recording);
  }
  lj_wbuf_recordend(b, mark);
}

/* -- Beginning ------------------------------------------------------------ */

/* Appends bytes as they are. */
static void stream_bytes(MPState *mp, const void *p, size_t len)
{
  memcpy(mp->buf.p, p, len);
  mp->buf.p += len;
}

void lj_memprof_beginsegment(MPState *mp, uint64_t live)
{
  static const char syms[LJM_PROLOGUE_LEN] = {'l', 'j', 's', LJM_VERSION};
  static const char body[LJM_PROLOGUE_LEN] = {'l', 'j', 'm', LJM_VERSION};
  /* The prologues are no block: they go out without a header. */
  mp->buf.blocks = 0;
  lj_wbuf_begin(&mp->buf);
  stream_bytes(mp, syms, sizeof(syms));
  lj_wbuf_uleb(&mp->buf, (uint64_t)(uintptr_t)mp->g);
  *mp->buf.p++ = LJM_SYM_FINAL;
  stream_bytes(mp, body, sizeof(body));
  lj_memprof_write(mp, 1);
  mp->buf.blocks = 1;
  lj_wbuf_begin(&mp->buf);
  lj_memprof_beginblock(mp);
  stream_meta(mp, live);
  lj_memprof_flush(mp);
}

/*
** Writes the prologues of an old format and, between them, all functions that
** are loaded.
*/
static void stream_beginold(MPState *mp)
{
  MPBuf *b = &mp->buf;
  GCobj *o;
  lj_memprof_oldprologue(mp, 's');
  if (mp->format == LUAM_PROF_RFC)
    lj_wbuf_uleb(b, (uint64_t)(uintptr_t)mp->g);
  MP_FOREACH(mp->g, o, ~LJ_TPROTO)
  {
    MPFunc *func = lj_symtab_entry(mp, o, "", 0);
    lj_memprof_oldsymbol(mp, gco2pt(o));
    if (func != NULL) { /* It needs no definition any more. */
      func->id = mp->symtab.nextfunc++;
      func->firstline = gco2pt(o)->firstline > 0 ? gco2pt(o)->firstline : 0;
      func->numline = gco2pt(o)->firstline > 0 ? gco2pt(o)->numline : 0;
    }
  }
  *b->p++ = LJM_SYM_FINAL;
  lj_memprof_oldprologue(mp, 'm');
}

void lj_memprof_begin(MPState *mp)
{
  if (mp->format != LUAM_PROF_COMPACT) {
    stream_beginold(mp);
    lj_memprof_flush(mp);
    return;
  }
  lj_memprof_beginsegment(mp, (uint64_t)mp->g->gc.total);
  lj_memprof_tailbegin(mp);
  lj_memprof_nameheap(mp);
}

/* -- End ------------------------------------------------------------------ */

/* Appends the totals, the last record. */
static void stream_totals(MPState *mp, unsigned flags, uint64_t live)
{
  const MPForeign *f = &mp->foreign;
  MPBuf *b = &mp->buf;
  uint8_t *mark;
  if (lj_wbuf_room(b) < MP_RECORD_MAX)
    lj_memprof_flush(mp);
  b->keep = 1;
  mark = lj_wbuf_record(b, LJM_REC_TOTALS);
  lj_wbuf_uleb(b, flags | (mp->stream.lost ? LJM_TOTALS_LOST : 0) |
                      (mp->sample ? LJM_TOTALS_SAMPLED : 0) |
                      (mp->stream.dropblocks ? LJM_TOTALS_DROPPED : 0));
  lj_wbuf_uleb(b, mp->total.nevents[LJM_ALLOC]);
  lj_wbuf_uleb(b, mp->total.nevents[LJM_REALLOC]);
  lj_wbuf_uleb(b, mp->total.nevents[LJM_FREE]);
  lj_wbuf_uleb(b, mp->total.bytesin);
  lj_wbuf_uleb(b, mp->total.bytesout);
  lj_wbuf_uleb(b, live);
  lj_wbuf_uleb(b, mp->stream.lost);
  lj_wbuf_uleb(b, mp->clock.seen - mp->clock.start);
  lj_wbuf_uleb(b, f->nevents[LJM_ALLOC]);
  lj_wbuf_uleb(b, f->nevents[LJM_REALLOC]);
  lj_wbuf_uleb(b, f->nevents[LJM_FREE]);
  lj_wbuf_uleb(b, f->bytesin);
  lj_wbuf_uleb(b, f->bytesout);
  if (mp->stream.dropblocks != 0) {
    lj_wbuf_uleb(b, mp->stream.dropblocks);
    lj_wbuf_uleb(b, mp->stream.dropevents);
    lj_wbuf_uleb(b, mp->stream.dropbytes);
  }
  lj_wbuf_recordend(b, mark);
}

/* Samples do not add up; then it is the VM's own count, which may change. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
__attribute__((no_sanitize("thread")))
#endif
#elif defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize_thread))
#endif
uint64_t
lj_memprof_estimate(const MPState *mp)
{
  if (mp->sample != NULL)
    return (uint64_t) * (const volatile GCSize *)&mp->g->gc.total;
  return mpforeign_count(mp);
}

void lj_memprof_endsegment(MPState *mp, uint64_t live)
{
  stream_totals(mp, LJM_TOTALS_SEGMENT, live);
  lj_memprof_write(mp, 1);
}

void lj_memprof_finish(MPState *mp, int swapped, uint64_t live)
{
  mp->clock.seen = lj_memprof_now();
  if (mp->format == LUAM_PROF_COMPACT)
    stream_totals(mp, swapped ? LJM_TOTALS_SWAPPED : 0, live);
  else
    *mp->buf.p++ = LJM_SYM_FINAL;
  lj_memprof_write(mp, 1);
  lj_memprof_tailend(mp);
}

#endif

/*
** Decodes legacy formats: the RFC's version 1, and versions 1 to 3 of other
** recorders.
**
** These streams have neither lengths nor checksums: a reader that is lost stays
** lost, so at the first byte that cannot be it says so and stops.
*/

#include <stdlib.h>
#include <string.h>

#include "legacy.h"
#include "legacy_names.h"
#include "leb.h"
#include "mem.h"
#include "prologue.h"

#define LEGACY_FINAL 0x80 /* Ends the symtab, ends the events. */
#define LEGACY_TIMER 0x40 /* A second has passed; only the RFC has it. */

#define LEGACY_NAME_MAX (16u << 20) /* No name is longer than this. */

/* Lines of traces are below this, prototypes never are. */
#define LEGACY_LINE_MAX (64u << 10)

typedef enum LegacyResult { LEGACY_STOP, LEGACY_NEXT, LEGACY_END } LegacyResult;

/* A trace as defined in the symtab. */
typedef struct LegacyTrace {
  uint64_t no, addr, proto, line;
} LegacyTrace;

typedef struct Legacy {
  LpInput *in;
  const LpSink *sink;
  unsigned symver;    /* Version of the symtab. */
  unsigned evver;     /* Version of the events; 0 until they begin. */
  LegacyTrace *trace; /* Traces of the symtab that wait for its end. */
  size_t ntrace;
  size_t room;
  uint64_t sec; /* Seconds since the start. */
  size_t n;     /* Events that wait to be handed over. */
  LpEvent ev[LP_BATCH];
  LegacyNames names;
} Legacy;

/* Hand over the events that wait. */
static void legacy_flush(Legacy *l)
{
  if (l->n)
    l->sink->events(l->sink->ctx, l->ev, l->n);
  l->n = 0;
}

/* The stream cannot be read on from here. */
static LegacyResult legacy_stop(Legacy *l, const char *expected, int ended)
{
  LpDamageKind kind = !l->evver                         ? LP_NOTHING
                      : ended || l->in->p == l->in->end ? LP_OPEN
                                                        : LP_CUT;
  legacy_flush(l);
  if (l->in->p == l->in->end)
    lp_damage_report(l->sink, kind, lp_input_offset(l->in),
                     "expected %s, the stream ends", expected);
  else if (ended)
    lp_damage_report(l->sink, kind, lp_input_offset(l->in),
                     "expected %s, the stream ends inside of it", expected);
  else
    lp_damage_report(l->sink, kind, lp_input_offset(l->in),
                     "expected %s, found 0x%02x", expected, *l->in->p);
  return LEGACY_STOP;
}

/* Is there more behind what is in the buffer? A stream ends without padding,
** so only what is known to be missing is waited for.
*/
static int legacy_more(Legacy *l)
{
  size_t have = (size_t)(l->in->end - l->in->p);
  legacy_flush(l);
  return lp_input_want(l->in, have + 1) > have;
}

/* -- Symbols -------------------------------------------------------------- */

/* Only the beginning of a long name is kept; a hash distinguishes them. */
static void legacy_cut(LpFunc *f)
{
  if (f->chunk.n > LJM_NAME_MAX) {
    f->hash = lp_hash_bytes(f->chunk.s, f->chunk.n);
    f->flags = LJM_PROTO_CUT;
    f->chunk.n = LJM_NAME_MAX;
  }
}

/* A function, behind this byte: address, name and, for a Lua function, the line
** of its definition.
*/
static LegacyResult legacy_function(Legacy *l, LegacySource src)
{
  LpInput *in = l->in;
  const uint8_t *p;
  unsigned bad = 0;
  uint64_t addr, n, first;
  size_t at;
  LpFunc f = {.kind = src == LEGACY_LUA ? LP_FUNC_LUA : LP_FUNC_C};
  LpStr name;
  do {
    p = in->p + 1;
    addr = ljm_getuleb_fast(&p, &bad);
    n = ljm_getuleb_fast(&p, &bad);
  } while (p > in->end && legacy_more(l));
  if (bad || n > LEGACY_NAME_MAX || p > in->end)
    return legacy_stop(l, "a symbol", p > in->end);
  at = (size_t)(p - in->p);
  if (lp_input_want(in, at + n) < at + n)
    return legacy_stop(l, "a symbol", 1);
  do {
    p = in->p + at + n;
    first = src == LEGACY_LUA ? ljm_getuleb_fast(&p, &bad) : 0;
  } while (p > in->end && legacy_more(l));
  name = (LpStr){(const char *)in->p + at, n};
  if (src == LEGACY_LUA) {
    f.chunk = name;
    f.addr = addr;
    f.first = first;
    legacy_cut(&f);
  } else {
    f.name = name;
    f.name.n = n < LJM_NAME_MAX ? n : LJM_NAME_MAX;
    f.offset = addr;
  }
  if (bad || p > in->end)
    return legacy_stop(l, "a symbol", p > in->end);
  lp_legacy_define(&l->names, src, addr, 0, &f);
  lp_input_skip(in, (size_t)(p - in->p));
  return LEGACY_NEXT;
}

/* From here on a number means this trace. */
static void legacy_define_trace(Legacy *l, const LegacyTrace *t)
{
  LpFunc f = {.kind = LP_FUNC_TRACE, .traceno = t->no, .addr = t->addr};
  f.line = t->line;
  f.start = lp_legacy_function(&l->names, LEGACY_LUA, t->proto, 0);
  if (f.start == LP_NONE)
    f.start = LP_FUNC_NONE;
  lp_legacy_define(&l->names, LEGACY_TRACE, t->no, t->addr, &f);
}

/* A trace, behind this byte: number, in symtab 2 the address of its code,
** prototype and line where it starts. For some days symtab 2 had no address:
** then the third number is a line. In the symtab it may come before its
** prototype, so there it waits for the end.
*/
static LegacyResult legacy_trace(Legacy *l)
{
  LpInput *in = l->in;
  const uint8_t *p;
  unsigned bad = 0;
  LegacyTrace t = {0};
  do {
    p = in->p + 1;
    t.no = ljm_getuleb_fast(&p, &bad);
    t.proto = ljm_getuleb_fast(&p, &bad);
    t.line = ljm_getuleb_fast(&p, &bad);
    if (l->symver == 2 && !l->evver && t.line >= LEGACY_LINE_MAX) {
      t.addr = t.proto;
      t.proto = t.line;
      t.line = ljm_getuleb_fast(&p, &bad);
    }
  } while (p > in->end && legacy_more(l));
  if (bad || p > in->end)
    return legacy_stop(l, "a trace", p > in->end);
  if (l->evver) {
    legacy_define_trace(l, &t);
  } else {
    l->trace = lp_grow(l->trace, &l->room, l->ntrace + 1, sizeof(t));
    l->trace[l->ntrace++] = t;
  }
  lp_input_skip(in, (size_t)(p - in->p));
  return LEGACY_NEXT;
}

/* A symbol of the symtab. */
static LegacyResult legacy_symbol(Legacy *l)
{
  unsigned head;
  if (!lp_input_want(l->in, 1))
    return legacy_stop(l, "a symbol", 1);
  head = *l->in->p;
  if (head & LEGACY_FINAL) {
    lp_input_skip(l->in, 1);
    return LEGACY_END;
  }
  if (head == 0)
    return legacy_function(l, LEGACY_LUA);
  if (head == 1 && l->symver >= 3)
    return legacy_function(l, LEGACY_C);
  if (head == 2 && l->symver >= 2)
    return legacy_trace(l);
  return legacy_stop(l, "a symbol", 0);
}

/* The draft has the VM's address behind the first prologue, what was shipped
** has not: there a symbol begins, or the end of the symtab.
*/
static void legacy_vm_addr(Legacy *l)
{
  size_t have = lp_input_want(l->in, 4);
  const uint8_t *p = l->in->p;
  unsigned bad = 0;
  if (l->symver != 1 || have == 0 || p[0] == 0)
    return;
  if (have >= 4 && p[0] == LEGACY_FINAL && memcmp(p + 1, "ljm", 3) == 0)
    return;
  lp_input_want(l->in, LJM_ULEB_MAX); /* Less than what must follow it. */
  p = l->in->p;
  ljm_getuleb_fast(&p, &bad);
  if (!bad && p <= l->in->end)
    lp_input_skip(l->in, (size_t)(p - l->in->p));
}

/* All of the symtab. */
static LegacyResult legacy_symtab(Legacy *l)
{
  LegacyResult res;
  size_t i;
  legacy_vm_addr(l);
  do
    res = legacy_symbol(l);
  while (res == LEGACY_NEXT);
  for (i = 0; i < l->ntrace; i++)
    legacy_define_trace(l, &l->trace[i]);
  free(l->trace);
  return res;
}

/* -- Events --------------------------------------------------------------- */

/* A second has passed, says the RFC's mark. */
static void legacy_tick(Legacy *l)
{
  legacy_flush(l);
  l->sink->time(l->sink->ctx, ++l->sec * 1000000000u);
}

/* The event that is here, of KIND, from SRC. */
static LegacyResult legacy_event(Legacy *l, unsigned kind, LegacySource src)
{
  const uint8_t *p;
  unsigned bad = 0;
  uint64_t a = 0, b = 0;
  LpEvent e = {.kind = (uint8_t)kind};
  do {
    p = l->in->p + 1;
    if (src != LEGACY_INTERNAL)
      a = ljm_getuleb_fast(&p, &bad);
    if (src == LEGACY_LUA || (src == LEGACY_TRACE && l->evver == 2))
      b = ljm_getuleb_fast(&p, &bad);
    if (kind != LJM_ALLOC) {
      e.oaddr = ljm_getuleb_fast(&p, &bad);
      e.osize = ljm_getuleb_fast(&p, &bad);
    }
    if (kind != LJM_FREE) {
      e.naddr = ljm_getuleb_fast(&p, &bad);
      e.nsize = ljm_getuleb_fast(&p, &bad);
    }
  } while (p > l->in->end && legacy_more(l));
  if (bad || p > l->in->end)
    return legacy_stop(l, "an event", p > l->in->end);
  e.site = lp_legacy_site(&l->names, src, a, b);
  l->ev[l->n] = e;
  lp_input_skip(l->in, (size_t)(p - l->in->p));
  if (++l->n == LP_BATCH)
    legacy_flush(l);
  return LEGACY_NEXT;
}

/* The event, symbol or end that is here. */
static LegacyResult legacy_next(Legacy *l)
{
  static const char expected[] = "an event or the final byte";
  unsigned head, kind, src, rest;
  if (l->in->p == l->in->end && !legacy_more(l))
    return legacy_stop(l, expected, 1);
  head = *l->in->p;
  kind = head & LJM_KIND_MASK;
  src = head >> 2 & (l->evver == 1 ? 3 : 7);
  rest = head & (l->evver == 1 ? 0x30 : 0x60); /* Never used. */
  if (head & LEGACY_FINAL) {
    lp_input_skip(l->in, 1);
    return LEGACY_END;
  }
  if (rest || src < LEGACY_INTERNAL || src > LEGACY_TRACE)
    return legacy_stop(l, expected, 0);
  if (kind != LJM_RECORD) {
    if (l->evver == 1 && (head & LEGACY_TIMER))
      legacy_tick(l);
    return legacy_event(l, kind, src);
  }
  if (l->evver < 3 || src == LEGACY_INTERNAL)
    return legacy_stop(l, expected, 0);
  return src == LEGACY_TRACE ? legacy_trace(l) : legacy_function(l, src);
}

/* All of the events. */
static void legacy_events(Legacy *l)
{
  LegacyResult res;
  do
    res = legacy_next(l);
  while (res == LEGACY_NEXT);
  legacy_flush(l);
  l->in->complete = res == LEGACY_END;
  if (res == LEGACY_END && lp_input_want(l->in, 1))
    lp_damage_report(l->sink, LP_ODD, lp_input_offset(l->in),
                     "expected the end of the stream behind its final byte");
}

/* -- All of it ------------------------------------------------------------ */

/* The version of the events, as a fact. */
static void legacy_version(const LpSink *sink, unsigned version)
{
  static const char key[] = "legacy";
  const LpMeta m = {
      .key = {key, sizeof(key) - 1}, .tag = LJM_META_UINT, .u = version};
  sink->meta(sink->ctx, &m);
}

void lp_legacy_read(LpInput *in, const LpSink *sink)
{
  Legacy *l = lp_zalloc(1, sizeof(Legacy));
  unsigned version;
  int body;
  l->in = in;
  l->sink = sink;
  l->symver = in->p[3];
  l->names.sink = sink;
  lp_input_skip(in, LJM_PROLOGUE_LEN);
  if (legacy_symtab(l) == LEGACY_END) {
    body = lp_prologue_body(in, sink, "m", &version);
    if (!body || (body > 0 && (version < 1 || version > 3)))
      lp_damage_report(sink, LP_NOTHING, lp_input_offset(in),
                       "expected the prologue of the events (ljm 1, 2 or 3)");
    else if (body > 0) {
      l->evver = version;
      sink->body(sink->ctx, body);
      legacy_version(sink, version);
      lp_input_skip(in, LJM_PROLOGUE_LEN);
      legacy_events(l);
    }
  }
  lp_legacy_names_close(&l->names);
  free(l);
}

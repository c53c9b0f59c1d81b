/*
** Recordings of more than 16 KiB, of every version.
*/

#include <string.h>

#include "craft.h"
#include "ljm_format.h"
#include "recording.h"

#define SIZE (16u << 10) /* A recording is a little larger. */

/* -- What happens --------------------------------------------------------- */

#define SLOTS 300 /* Places where an object may be. */
#define HEAP  0x7f0000000000u

/* A program: which objects it has, by place; 0 is a free one. */
typedef struct World {
  uint64_t draws;
  uint64_t size[SLOTS];
} World;

/* What it does next. */
typedef struct Deed {
  unsigned kind; /* LJM_ALLOC and so on. */
  uint64_t oaddr, osize, naddr, nsize;
} Deed;

/* A number below N. */
static uint64_t draw(World *w, uint64_t n)
{
  uint64_t x = ++w->draws * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
  return (x ^ x >> 29) % n;
}

/* An object of some size comes to a place. */
static void world_put(World *w, Deed *d, uint64_t slot)
{
  d->naddr = HEAP + slot * 1024;
  d->nsize = w->size[slot] = 8 + draw(w, 100) * 8;
}

static Deed world_next(World *w)
{
  uint64_t from = draw(w, SLOTS), to = draw(w, SLOTS);
  Deed d = {.kind = LJM_ALLOC};
  if (!w->size[from]) {
    world_put(w, &d, from);
    return d;
  }
  d.kind = draw(w, 3) ? LJM_FREE : LJM_REALLOC;
  d.oaddr = HEAP + from * 1024;
  d.osize = w->size[from];
  w->size[from] = 0;
  if (d.kind == LJM_REALLOC)
    world_put(w, &d, w->size[to] ? from : to);
  return d;
}

/* -- Version 0x10 --------------------------------------------------------- */

/* End a block. */
static void recording_flush(Recording *r, Craft *c)
{
  size_t i = r->nblock++;
  r->at[i] = c->out.n;
  r->first[i] = c->events;
  craft_flush(c);
  r->at[i + 1] = c->out.n;
  r->first[i + 1] = c->events;
}

/* What a block begins with: a function, and two sites in it. Their numbers are
** told by that of the block.
*/
static void recording_define(Recording *r, Craft *c)
{
  uint64_t id = r->nblock + 1;
  char name[16];
  strcpy(name, "function__");
  name[9] = (char)('a' + id % 26);
  craft_time(c, r->nblock * 10000000);
  craft_proto(c, id, 0, id * 77, id * 10, "@program.lua", name);
  craft_site(c, 2 * id, LJM_SITE_TRACE, id, id * 10 + 1);
  craft_site(c, 2 * id + 1, 0, id, id * 10 + 2);
}

/* A site that is defined. */
static uint64_t recording_site(const Recording *r, World *w)
{
  return 2 + draw(w, 2 * (r->nblock + 1));
}

/* Now and then some return, and some call, so that the stack is neither empty
** nor deep.
*/
static void recording_calls(Recording *r, Craft *c, World *w, uint64_t *depth)
{
  uint64_t pops = draw(w, *depth + 1);
  uint64_t site[3] = {recording_site(r, w), recording_site(r, w),
                      recording_site(r, w)};
  size_t n = draw(w, 4);
  if (draw(w, 4))
    return;
  craft_change_of(c, pops, site, n);
  *depth += n - pops;
}

/* An event of version 0x10. */
static void recording_event(Recording *r, Craft *c, World *w)
{
  uint64_t site = draw(w, 5) ? recording_site(r, w) : LJM_SITE_INTERNAL;
  Deed d = world_next(w);
  c->type = (unsigned)draw(w, 13);
  if (d.kind == LJM_ALLOC)
    craft_alloc(c, site, d.naddr, d.nsize);
  else if (d.kind == LJM_FREE)
    craft_free(c, site, d.oaddr, d.osize);
  else
    craft_realloc(c, site, d.oaddr, d.osize, d.naddr, d.nsize);
}

/* The blocks of a recording of either kind. */
static void recording_blocks(Recording *r, Craft *c, World *w, int cpu)
{
  r->body = c->out.n;
  while (c->out.n < SIZE) {
    uint64_t depth = 0;
    int i;
    recording_define(r, c);
    if (r->nblock == 0 && cpu) {
      craft_meta_cpu(c, 99);
      craft_process(c, 1, 4711, "program");
      craft_thread(c, 1, 1, 4711, "thread");
    } else if (r->nblock == 0) {
      craft_meta(c, 0);
    }
    for (i = 0; i < 40; i++) {
      recording_calls(r, c, w, &depth);
      if (cpu)
        craft_sample(c, 0, draw(w, 2), 1 + draw(w, 300));
      else
        recording_event(r, c, w);
    }
    recording_flush(r, c);
  }
}

static void recording_memory(Recording *r)
{
  World w = {0};
  Craft c;
  craft_open(&c, 1);
  c.stack = 8;
  recording_blocks(r, &c, &w, 0);
  craft_time(&c, c.ns);
  recording_event(r, &c, &w);
  craft_totals(&c, 0, 0);
  recording_flush(r, &c);
  r->b = c.out;
  r->events = c.events;
  c.out = (LpBuf){0};
  craft_close(&c);
}

static void recording_cpu(Recording *r)
{
  static const CraftBook books[] = {{"dropped", 0}};
  World w = {0};
  Craft c;
  craft_open_cpu(&c);
  recording_blocks(r, &c, &w, 1);
  craft_time(&c, c.ns);
  craft_sample(&c, 0, 0, 1);
  craft_books(&c, books, 1);
  recording_flush(r, &c);
  r->b = c.out;
  r->events = c.events;
  c.out = (LpBuf){0};
  craft_close(&c);
}

/* -- Versions 1 to 3 ------------------------------------------------------ */

#define PROTOS    20
#define PROTO(i)  (0x7f1000000000u + (i)*128)
#define CFUNC     0x55550000u
#define HEAD_LUA  (2u << 2)
#define HEAD_C    (3u << 2)
#define HEAD_MARK 0x40u

/* Add the numbers of a deed. */
static void old_deed(LpBuf *b, const Deed *d)
{
  if (d->kind != LJM_ALLOC) {
    craft_uleb(b, d->oaddr);
    craft_uleb(b, d->osize);
  }
  if (d->kind != LJM_FREE) {
    craft_uleb(b, d->naddr);
    craft_uleb(b, d->nsize);
  }
}

/* An event, from Lua, C, a trace or the VM itself. */
static void old_event(LpBuf *b, World *w, unsigned version)
{
  Deed d = world_next(w);
  unsigned from = (unsigned)draw(w, version == 1 ? 3 : 4);
  unsigned mark = version == 1 && draw(w, 50) == 0 ? HEAD_MARK : 0;
  craft_byte(b, d.kind | mark | (from + 1) << 2);
  if (from == 1) {
    craft_uleb(b, PROTO(draw(w, PROTOS + 1)));
    craft_uleb(b, draw(w, 200));
  } else if (from == 2) {
    craft_uleb(b, CFUNC + draw(w, 2));
  } else if (from == 3) {
    craft_uleb(b, 1 + draw(w, 3));
    if (version == 2)
      craft_uleb(b, 0x66000000u);
  }
  old_deed(b, &d);
}

/* Now and then code is loaded while version 3 records. */
static void old_loaded(LpBuf *b, World *w)
{
  craft_old_lua(b, HEAD_LUA, PROTO(draw(w, PROTOS + 1)), "@late.lua", 1);
  craft_old_event(b, HEAD_C, CFUNC + 1);
  craft_str(b, "late_function");
}

static void recording_old(Recording *r, unsigned version, uint64_t vm)
{
  World w = {0};
  uint64_t i;
  craft_old_open(&r->b, version);
  if (vm)
    craft_uleb(&r->b, vm);
  for (i = 0; i < PROTOS; i++)
    craft_old_lua(&r->b, 0, PROTO(i), i % 2 ? "@program.lua" : "=(load)", i);
  if (version == 2)
    craft_old_event(&r->b, 2, 1, 0x66000000u, PROTO(3), 7);
  if (version == 3) {
    craft_old_event(&r->b, 2, 1, PROTO(3), 7);
    craft_old_event(&r->b, 1, CFUNC);
    craft_str(&r->b, "early_function");
  }
  craft_old_body(&r->b, version);
  r->body = r->b.n;
  for (; r->b.n < SIZE; r->events++) {
    if (version == 3 && r->events % 100 == 50)
      old_loaded(&r->b, &w);
    old_event(&r->b, &w, version);
  }
  craft_byte(&r->b, 0x80);
}

/* -- All of them ---------------------------------------------------------- */

void recording_make(Recording *r, RecordingKind kind)
{
  memset(r, 0, sizeof(*r));
  if (kind == REC_MEMORY)
    recording_memory(r);
  else if (kind == REC_CPU)
    recording_cpu(r);
  else if (kind == REC_DRAFT)
    recording_old(r, 1, 0x7f12345678c0);
  else
    recording_old(r, kind - REC_1 + 1, 0);
}

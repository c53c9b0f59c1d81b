/*
** Streams made by hand, for tests.
*/

#include <string.h>

#include "craft.h"
#include "ljm_crc32c.h"
#include "ljm_format.h"

/* The next number of a series that looks random, below N. */
uint64_t craft_random(uint64_t n)
{
  static uint64_t s = 88172645463325252u;
  s ^= s << 13;
  s ^= s >> 7;
  s ^= s << 17;
  return s % n;
}

/* -- Any version ---------------------------------------------------------- */

void craft_byte(LpBuf *b, unsigned byte)
{
  char c = (char)byte;
  lp_buf_add(b, &c, 1);
}

void craft_uleb(LpBuf *b, uint64_t v)
{
  for (; v >= 0x80; v >>= 7)
    craft_byte(b, (unsigned)(v & 0x7f) | 0x80);
  craft_byte(b, (unsigned)v);
}

void craft_str(LpBuf *b, const char *s)
{
  craft_uleb(b, strlen(s));
  lp_buf_puts(b, s);
}

/* -- Version 0x10: records ------------------------------------------------ */

void craft_open(Craft *c, uint64_t vm)
{
  memset(c, 0, sizeof(*c));
  lp_buf_add(&c->out, "ljs\x10\0\0", 7);
  craft_uleb(&c->out, vm);
  craft_byte(&c->out, LJM_SYM_FINAL);
  lp_buf_add(&c->out, "ljm\x10\0\0", 7);
}

void craft_record(Craft *c, unsigned code, const void *p, size_t n)
{
  craft_byte(&c->block, LJM_RECORD_BYTE(code));
  craft_uleb(&c->block, n);
  lp_buf_add(&c->block, p, n);
}

static void craft_put(Craft *c, unsigned code, LpBuf *b)
{
  craft_record(c, code, b->s, b->n);
  lp_buf_free(b);
}

static void craft_key(LpBuf *b, const char *key, uint64_t value)
{
  craft_str(b, key);
  craft_byte(b, LJM_META_UINT);
  craft_uleb(b, value);
}

void craft_meta(Craft *c, uint64_t live)
{
  LpBuf b = {0};
  craft_str(&b, "producer");
  craft_byte(&b, LJM_META_STRING);
  craft_str(&b, "craft");
  craft_key(&b, "live", live);
  c->live = live;
  if (c->stack)
    craft_key(&b, "stack", c->stack);
  if (c->sample)
    craft_key(&b, "sample", c->sample);
  if (c->realtime)
    craft_key(&b, "realtime", c->realtime);
  if (c->monotonic)
    craft_key(&b, "monotonic", c->monotonic);
  craft_put(c, LJM_REC_META, &b);
}

void craft_proto(Craft *c, uint64_t id, unsigned flags, uint64_t hash,
                 uint64_t first, const char *chunk, const char *name)
{
  LpBuf b = {0};
  craft_uleb(&b, id);
  craft_uleb(&b, flags);
  craft_uleb(&b, 0x7f0000001000 + id * 64);
  craft_uleb(&b, hash);
  craft_uleb(&b, first);
  craft_uleb(&b, 10);
  craft_str(&b, chunk);
  craft_str(&b, name);
  craft_put(c, LJM_REC_PROTO, &b);
}

/* A C function with a name in Lua. */
void craft_cnamed(Craft *c, uint64_t id, uint64_t offset, const char *module,
                  const char *name, const char *symbol)
{
  LpBuf b = {0};
  craft_uleb(&b, id);
  craft_uleb(&b, LJM_CFUNC_NAMED);
  craft_uleb(&b, 0);
  craft_uleb(&b, offset);
  craft_str(&b, module);
  craft_str(&b, name);
  craft_str(&b, symbol);
  craft_put(c, LJM_REC_CFUNC, &b);
}

void craft_cflags(Craft *c, uint64_t id, unsigned flags, uint64_t offset,
                  const char *module, const char *symbol)
{
  LpBuf b = {0};
  craft_uleb(&b, id);
  craft_uleb(&b, flags);
  craft_uleb(&b, 0x7f0000000000 + offset);
  craft_uleb(&b, offset);
  craft_str(&b, module);
  craft_str(&b, symbol);
  craft_put(c, LJM_REC_CFUNC, &b);
}

void craft_cfunc(Craft *c, uint64_t id, uint64_t offset, const char *module,
                 const char *symbol)
{
  craft_cflags(c, id, 0, offset, module, symbol);
}

void craft_trace(Craft *c, uint64_t id, uint64_t no, uint64_t func,
                 uint64_t line)
{
  LpBuf b = {0};
  craft_uleb(&b, id);
  craft_uleb(&b, 0);
  craft_uleb(&b, no);
  craft_uleb(&b, func);
  craft_uleb(&b, line);
  craft_put(c, LJM_REC_TRACE, &b);
}

void craft_site(Craft *c, uint64_t id, unsigned flags, uint64_t func,
                uint64_t line)
{
  LpBuf b = {0};
  craft_uleb(&b, id);
  craft_uleb(&b, flags);
  craft_uleb(&b, func);
  craft_uleb(&b, line);
  craft_put(c, LJM_REC_SITE, &b);
}

void craft_time(Craft *c, uint64_t ns)
{
  LpBuf b = {0};
  craft_uleb(&b, c->ns = ns);
  craft_put(c, LJM_REC_TIME, &b);
}

void craft_totals(Craft *c, unsigned flags, uint64_t lost)
{
  LpBuf b = {0};
  craft_uleb(&b, flags);
  craft_uleb(&b, c->allocs);
  craft_uleb(&b, c->reallocs);
  craft_uleb(&b, c->frees);
  craft_uleb(&b, c->in);
  craft_uleb(&b, c->out_bytes);
  craft_uleb(&b, c->live + c->in - c->out_bytes - (c->fin - c->fout));
  craft_uleb(&b, lost);
  craft_uleb(&b, c->ns);
  if (c->tells) {
    craft_uleb(&b, c->fallocs);
    craft_uleb(&b, c->freallocs);
    craft_uleb(&b, c->ffrees);
    craft_uleb(&b, c->fin);
    craft_uleb(&b, c->fout);
  }
  craft_put(c, LJM_REC_TOTALS, &b);
}

/* -- Version 0x10: the stack ---------------------------------------------- */

/* POPS sites return, then these N call. */
void craft_change_of(Craft *c, uint64_t pops, const uint64_t *site, size_t n)
{
  unsigned p = pops < LJM_STACK_MOREPOPS ? (unsigned)pops : LJM_STACK_MOREPOPS;
  unsigned q = n < LJM_STACK_MOREPUSHES ? (unsigned)n : LJM_STACK_MOREPUSHES;
  craft_byte(&c->block, LJM_STACK_BYTE(p, q));
  if (p == LJM_STACK_MOREPOPS)
    craft_uleb(&c->block, pops - p);
  if (q == LJM_STACK_MOREPUSHES)
    craft_uleb(&c->block, n - q);
  while (n--)
    craft_uleb(&c->block, *site++);
}

/* The whole stack. */
void craft_stack_of(Craft *c, unsigned flags, const uint64_t *site, size_t n)
{
  LpBuf b = {0};
  craft_uleb(&b, flags);
  while (n--)
    craft_uleb(&b, *site++);
  craft_put(c, LJM_REC_STACK, &b);
}

/* -- Version 0x10: events ------------------------------------------------- */

/* The header and the site; Z is already in HEAD. */
static void craft_head(Craft *c, unsigned head, uint64_t site)
{
  unsigned kind = head & LJM_KIND_MASK;
  int same = c->site[kind] == site;
  craft_byte(&c->block, head | (same ? LJM_SAMESITE : 0));
  if (!same)
    craft_uleb(&c->block, c->site[kind] = site);
  c->fresh++;
}

/* If the event that was made is foreign, say so; N counts those of its kind. */
static void craft_whose(Craft *c, uint64_t *n, uint64_t osize, uint64_t nsize)
{
  if (!c->foreign)
    return;
  ++*n;
  c->fin += nsize;
  c->fout += osize;
  if (n != &c->fallocs)
    craft_record(c, LJM_REC_FOREIGN, "", 0);
}

void craft_alloc(Craft *c, uint64_t site, uint64_t addr, uint64_t size)
{
  uint64_t *last = &c->allocsize[site % LJM_ALLOCSIZES];
  int same = *last == size;
  unsigned type = c->foreign ? LJM_TYPE_FOREIGN : c->type;
  craft_head(c, LJM_ALLOC | type << LJM_TYPE_SHIFT | (same ? LJM_SAMESIZE : 0),
             site);
  craft_uleb(&c->block, ljm_zigzag(ljm_turn(addr) - c->alloc));
  c->alloc = ljm_turn(addr);
  if (!same)
    craft_uleb(&c->block, *last = size);
  c->allocs++;
  c->in += size;
  craft_whose(c, &c->fallocs, 0, size);
}

void craft_free(Craft *c, uint64_t site, uint64_t addr, uint64_t size)
{
  unsigned class = (unsigned)(size / 3 % LJM_FREESIZES); /* As good as any. */
  uint64_t *last = &c->freesize[class];
  int same = *last == size;
  craft_head(c, LJM_FREE | class << LJM_TYPE_SHIFT | (same ? LJM_SAMESIZE : 0),
             site);
  craft_uleb(&c->block, ljm_zigzag(ljm_turn(addr) - c->free));
  c->free = ljm_turn(addr);
  if (!same)
    craft_uleb(&c->block, *last = size);
  c->frees++;
  c->out_bytes += size;
  craft_whose(c, &c->ffrees, size, 0);
}

void craft_realloc(Craft *c, uint64_t site, uint64_t oaddr, uint64_t osize,
                   uint64_t naddr, uint64_t nsize)
{
  int same = oaddr == naddr;
  craft_head(c, LJM_REALLOC | (same ? LJM_INPLACE : 0) | (int)c->sampled, site);
  craft_uleb(&c->block, ljm_zigzag(ljm_turn(oaddr) - c->alloc));
  if (!same)
    craft_uleb(&c->block, ljm_zigzag(ljm_turn(naddr) - ljm_turn(oaddr)));
  craft_uleb(&c->block, osize);
  craft_uleb(&c->block, nsize);
  c->alloc = ljm_turn(naddr);
  c->reallocs++;
  c->in += nsize;
  c->out_bytes += osize;
  craft_whose(c, &c->freallocs, osize, nsize);
}

/* -- Version 0x10: blocks ------------------------------------------------- */

static void craft_fixed(LpBuf *b, uint64_t v, int n)
{
  for (; n; n--, v >>= 8)
    craft_byte(b, (unsigned)(v & 0xff));
}

/* End the block. */
void craft_flush(Craft *c)
{
  LpBuf b = {0};
  craft_fixed(&b, c->block.n, 4);
  craft_fixed(&b, c->events, 8);
  lp_buf_add(&b, c->block.s, c->block.n);
  lp_buf_puts(&c->out, LJM_BLOCK_MAGIC);
  craft_fixed(&c->out, ljm_crc32c(0, b.s, b.n), 4);
  lp_buf_add(&c->out, b.s, b.n);
  lp_buf_free(&b);
  c->block.n = 0;
  c->events += c->fresh;
  c->fresh = 0;
  memset(c->site, 0, sizeof(c->site));
  memset(c->allocsize, 0, sizeof(c->allocsize));
  memset(c->freesize, 0, sizeof(c->freesize));
  c->alloc = c->free = 0;
}

void craft_close(Craft *c)
{
  lp_buf_free(&c->out);
  lp_buf_free(&c->block);
}

/* -- Versions 1 to 3 ------------------------------------------------------ */

void craft_old_open(LpBuf *b, unsigned version)
{
  lp_buf_puts(b, "ljs");
  craft_byte(b, version);
  lp_buf_add(b, "\0\0", 3);
}

/* A Lua function: HEAD is 0 in the symtab, 8 among events. */
void craft_old_lua(LpBuf *b, unsigned head, uint64_t addr, const char *chunk,
                   uint64_t line)
{
  craft_byte(b, head);
  craft_uleb(b, addr);
  craft_str(b, chunk);
  craft_uleb(b, line);
}

/* End the symtab, begin the events. */
void craft_old_body(LpBuf *b, unsigned version)
{
  craft_byte(b, 0x80);
  lp_buf_puts(b, "ljm");
  craft_byte(b, version);
  lp_buf_add(b, "\0\0", 3);
}

/* A header and N numbers. */
void craft_old_numbers(LpBuf *b, unsigned head, const uint64_t *v, size_t n)
{
  craft_byte(b, head);
  while (n--)
    craft_uleb(b, *v++);
}

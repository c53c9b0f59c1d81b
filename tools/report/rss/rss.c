/*
** The memory of a process, part by part.
*/

#include "rss.h"
#include "text.h"

/* A difference, or 0. */
static uint64_t rss_less(uint64_t a, uint64_t b)
{
  return a > b ? a - b : 0;
}

/* The part that an object belongs to. */
static LpRssPart rss_part(const LpHeap *h, uint32_t id)
{
  if (id == LP_NONE || lp_dominators_has(&h->dom, id))
    return LP_RSS_USED;
  return lp_heap_isunknown(h, id) ? LP_RSS_UNKNOWN : LP_RSS_GARBAGE;
}

/* What Lua has, of which pages may not be resident. */
static void rss_lua(const LpHeap *h, LpRss *r)
{
  const LpDump *d = &h->dump;
  size_t i;
  r->part[LP_RSS_UNKNOWN].bytes = h->unknown.all.bytes;
  r->part[LP_RSS_GARBAGE].bytes = h->garbage.all.bytes;
  r->part[LP_RSS_USED].bytes =
      rss_less(d->end.total, h->unknown.all.bytes + h->garbage.all.bytes);
  for (i = LP_RSS_USED; i <= LP_RSS_GARBAGE; i++)
    r->part[i].resident = r->part[i].bytes;
  for (i = 0; i < d->nabsent; i++) {
    LpPresence *p = &r->part[rss_part(h, d->absent[i].id)];
    p->resident = rss_less(p->resident, d->absent[i].bytes);
  }
}

/* What the process has besides, if it has more than what is known. If it has
** less, what the VM has apart from its allocator's pages cannot be there.
*/
static void rss_other(LpRss *r)
{
  uint64_t left = r->all;
  int i;
  for (i = LP_RSS_CODE; i >= 0; i--) {
    if (r->part[i].resident > left)
      r->part[i].resident = left;
    left -= r->part[i].resident;
  }
  r->part[LP_RSS_OTHER] = (LpPresence){left, left};
}

/* The rest of the allocator's pages, of which MAKING bytes have no owner. */
static LpPresence rss_free(const LpDump *d, uint64_t making)
{
  LpPresence p = {rss_less(d->pages.all.bytes, d->inside.bytes + making),
                  rss_less(d->pages.all.resident, d->inside.resident + making)};
  if (p.resident > p.bytes) /* Blocks overlap: it is no dump of the recorder. */
    p.resident = p.bytes;
  return p;
}

int lp_rss(const LpHeap *h, LpRss *r)
{
  const LpDump *d = &h->dump;
  uint64_t making = rss_less(d->end.total, d->end.bytes + d->end.parts);
  *r = (LpRss){.all = d->rss};
  if (!d->rss || lp_dump_ispart(d))
    return 0;
  rss_lua(h, r);
  r->part[LP_RSS_FREE] = rss_free(d, making);
  r->part[LP_RSS_CODE] = d->code.all;
  rss_other(r);
  return 1;
}

/* Append a name and a size. */
static void rss_append(LpBuf *b, const char *name, uint64_t bytes)
{
  lp_buf_printf(b, "%s ", name);
  lp_text_size(b, bytes, 1);
}

void lp_rss_sentence(LpBuf *b, const LpHeap *h)
{
  static const char *const name[LP_RSS_PARTS] = {
      ": Lua in use",       ", unknown",      ", garbage",
      ", allocator's free", ", machine code", ", C and others"};
  uint64_t absent = 0;
  LpRss r;
  int i;
  if (!lp_rss(h, &r))
    return;
  rss_append(b, "  RSS", r.all);
  for (i = 0; i < LP_RSS_PARTS; i++) {
    if (i <= LP_RSS_GARBAGE)
      absent += r.part[i].bytes - r.part[i].resident;
    if (i != LP_RSS_UNKNOWN || r.part[i].bytes)
      rss_append(b, name[i], r.part[i].resident);
  }
  if (absent)
    rss_append(b, "; of Lua not resident:", absent);
  if (h->dump.swap)
    rss_append(b, "; of the process in swap:", h->dump.swap);
  if (h->dump.malloced) {
    rss_append(b, "; malloc has", h->dump.malloced);
    rss_append(b, " in use,", h->dump.mallocfree);
    lp_buf_puts(b, " free");
  }
  lp_buf_puts(b, "\n");
}

/*
** Sentences about memory that is no object: of C, which finalizers free, and of
** the VM itself.
*/

#include <inttypes.h>
#include <string.h>

#include "heap_join.h"
#include "heap_suspects.h"
#include "text.h"

#define FINALIZER_KINDS 3          /* That are named. */
#define PART_LEAST      (64 << 10) /* Bytes: each VM has smaller parts. */
#define PART_PERCENT    20         /* Of all: the table of strings may have. */
#define PART_CTYPES     "FFI: types" /* As the writer calls it. */

/* Puts the kinds of cdata with finalizers that most objects are into TOP.
** Returns how many kinds there are.
*/
static size_t finalizer_kinds(const LpHeap *h, uint32_t top[FINALIZER_KINDS])
{
  const LpShapeSum *shape = h->shapes.shape;
  size_t n = 0, at;
  uint32_t i;
  for (i = 0; i < h->shapes.keys.n; i++) {
    if (shape[i].type != LJM_TYPE_CDATA || !shape[i].objects ||
        lp_idmap_get(&h->finalizers, shape[i].one) == LP_NONE)
      continue;
    at = n < FINALIZER_KINDS ? n : FINALIZER_KINDS;
    for (; at > 0 && shape[top[at - 1]].objects < shape[i].objects; at--)
      if (at < FINALIZER_KINDS)
        top[at] = top[at - 1];
    if (at < FINALIZER_KINDS)
      top[at] = i;
    n++;
  }
  return n;
}

/* Append which cdata have finalizers. Returns 0 if there are none. */
static int note_finalizers(LpBuf *b, const LpHeap *h)
{
  uint32_t top[FINALIZER_KINDS];
  size_t i, n = finalizer_kinds(h, top);
  for (i = 0; i < n && i < FINALIZER_KINDS; i++) {
    lp_buf_printf(b, "%s%" PRIu64 " x ", i ? "; " : "",
                  h->shapes.shape[top[i]].objects);
    lp_shape_name(b, h, top[i]);
  }
  if (n > FINALIZER_KINDS)
    lp_buf_printf(b, "; and %zu more kinds", n - FINALIZER_KINDS);
  if (n)
    lp_buf_puts(b, ": memory of C that finalizers free is not in a dump");
  return n != 0;
}

/* The number of the largest part of the VM, or npart. */
static size_t part_largest(const LpDump *d)
{
  size_t most = 0, i;
  for (i = 1; i < d->npart; i++)
    if (d->part[i].size > d->part[most].size)
      most = i;
  return most;
}

/* Append who changed the size of a part of the VM last: others may have made
** most of it. What the VM does by itself says nothing.
*/
static void part_site(LpBuf *b, const LpSubject *subject, size_t at)
{
  uint32_t site =
      subject->join ? lp_join_part(subject->join, at) : (uint32_t)LP_NONE;
  if (site == LP_NONE || site < LP_SITE_FIRST)
    return;
  lp_buf_puts(b, ", last resized at ");
  lp_join_site(b, subject->prof, site);
}

int lp_heap_part_islarge(uint64_t bytes, uint64_t all)
{
  return bytes >= PART_LEAST && bytes >= all / 100 * PART_PERCENT;
}

void lp_heap_part_hint(LpBuf *b, const char *name, size_t n)
{
  if (n == strlen(PART_CTYPES) && memcmp(name, PART_CTYPES, n) == 0)
    lp_buf_puts(b, ": types of C are never freed");
}

/* Append what part of the VM is large. Returns 0 if none is. */
static int note_part(LpBuf *b, const LpSubject *subject)
{
  const LpDump *d = &subject->heap->dump;
  size_t at = part_largest(d), n;
  const char *name;
  if (!d->ended || at == d->npart ||
      !lp_heap_part_islarge(d->part[at].size, d->end.total))
    return 0;
  lp_buf_printf(b, "%.1f%% of all (",
                lp_text_percent(d->part[at].size, d->end.total));
  lp_text_size(b, d->part[at].size, 1);
  name = lp_intern_get(&d->graph.names, d->part[at].name, &n);
  lp_buf_printf(b, ") is memory of the VM itself, \"%.*s\"", (int)n, name);
  part_site(b, subject, at);
  lp_heap_part_hint(b, name, n);
  return 1;
}

/* The size of a part of the VM in an older dump. */
static uint64_t part_before(const LpDump *base, const char *name, size_t n)
{
  size_t i, m;
  for (i = 0; i < base->npart; i++) {
    const char *s = lp_intern_get(&base->graph.names, base->part[i].name, &m);
    if (m == n && memcmp(s, name, n) == 0)
      return base->part[i].size;
  }
  return 0;
}

/* Append what part of the VM has grown by most. Returns 0 if that is not much
** of all that has.
*/
static int note_grown(LpBuf *b, const LpSubject *subject)
{
  const LpDump *d = &subject->heap->dump, *base = &subject->baseheap->dump;
  uint64_t most = 0, before = 0;
  size_t best = 0, n, i;
  const char *name;
  if (lp_dump_ispart(d) || lp_dump_ispart(base))
    return 0;
  for (i = 0; i < d->npart; i++) {
    uint64_t size = d->part[i].size, was;
    name = lp_intern_get(&d->graph.names, d->part[i].name, &n);
    was = part_before(base, name, n);
    if (size > was && size - was > most) {
      most = size - was;
      before = was;
      best = i;
    }
  }
  if (!lp_heap_part_islarge(most, d->end.total > base->end.total
                                      ? d->end.total - base->end.total
                                      : 0))
    return 0;
  name = lp_intern_get(&d->graph.names, d->part[best].name, &n);
  lp_buf_printf(b, "Memory of the VM itself, \"%.*s\", has grown by ", (int)n,
                name);
  lp_text_size(b, most, 1);
  lp_buf_puts(b, ", from ");
  lp_text_size(b, before, 1);
  part_site(b, subject, best);
  lp_heap_part_hint(b, name, n);
  return 1;
}

size_t lp_heap_notes(LpBuf text[LP_HEAP_NOTES], const LpSubject *subject)
{
  size_t n = 0;
  if (subject->baseheap)
    return (size_t)note_grown(&text[0], subject);
  n += (size_t)note_finalizers(&text[n], subject->heap);
  n += (size_t)note_part(&text[n], subject);
  return n;
}

/*
** The sentence about cdata with finalizers: what they free is not in a dump.
*/

#include <inttypes.h>

#include "heap_suspects.h"

#define FINALIZER_KINDS 3 /* That are named. */

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

int lp_heap_finalizers(LpBuf *b, const LpHeap *h)
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

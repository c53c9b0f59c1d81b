/*
** Any bytes as two heap dumps, the older one first, which are compared.
*/

#include <stdlib.h>

#include "births.h"
#include "fuzz_dump.h"
#include "report.h"

/* What is below a pair and below that, and so on, is all that it keeps. */
static void changes_below(const LpPairing *g, LpPair top, uint64_t apart,
                          uint64_t bytes[LP_NSIDE])
{
  LpPairs stack = {0};
  stack.p = lp_grow(stack.p, &stack.cap, 1, sizeof(*stack.p));
  stack.p[stack.n++] = top;
  while (stack.n) {
    LpPair p = stack.p[--stack.n];
    LpPairs below;
    size_t i;
    lp_pair_absorb(&p, g);
    below = lp_pairs_below(g, &p, 0, apart);
    for (i = 0; i < below.n; i++) {
      stack.p = lp_grow(stack.p, &stack.cap, stack.n + 1, sizeof(*stack.p));
      stack.p[stack.n++] = below.p[i];
      below.p[i] = (LpPair){0};
    }
    bytes[LP_NOW] += p.g[LP_NOW].bytes;
    bytes[LP_BASE] += p.g[LP_BASE].bytes;
    lp_pairs_free(&below);
    lp_pair_free(&p);
  }
  free(stack.p);
}

/* No byte of either dump is lost; of each shape, new objects and deleted ones
** are no more than it has.
*/
static void changes_check(const LpHeap *now, const LpHeap *base, size_t n)
{
  LpPairing g = lp_pairing(now, base);
  LpBirths b = lp_births(&g);
  uint64_t bytes[LP_NSIDE] = {0};
  unsigned side;
  uint32_t i;
  changes_below(&g, lp_pair_root(&g), n % 300, bytes);
  must(bytes[LP_NOW] == lp_heap_reached(now));
  must(bytes[LP_BASE] == lp_heap_reached(base));
  for (side = LP_NOW; side < LP_NSIDE && b.known; side++)
    for (i = 0; i < g.h[side]->shapes.keys.n; i++)
      must(b.one[side][i] <= g.h[side]->shapes.shape[i].objects);
  lp_births_close(&b);
  lp_pairing_close(&g);
}

/* Write a report, of NOW alone if BASE is NULL. */
static void changes_report(LpHeap *now, LpHeap *base, const char *format,
                           const char *view)
{
  LpProfile *prof = lp_profile_new();
  const LpSubject subject = {.prof = prof, .heap = now, .baseheap = base};
  LpReportOptions opt = {.base = base ? "base" : NULL};
  LpOut out;
  prof->of = LP_OF_HEAP;
  prof->baseline.present = base != NULL;
  lp_out_open(&out, -1);
  lp_report_write(format, view, &out, &subject, &opt);
  fuzz_heap_text(&out, !view);
  lp_out_close(&out);
  lp_profile_free(prof);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  static const char *const view[] = {"summary", "tree", "shapes", "retained",
                                     "types"};
  static const char *const format[] = {"text", "csv", "json"};
  LpHeap *heap[2];
  const char *v = view[n % 5];
  fuzz_dumps(p, n, heap, 2);
  changes_check(heap[1], heap[0], n);
  changes_report(heap[1], heap[0], n % 5 ? format[n / 5 % 3] : "text", v);
  changes_report(heap[1], heap[0], "html", NULL);
  changes_report(heap[1], NULL, "html", NULL);
  lp_heap_free(heap[0]);
  lp_heap_free(heap[1]);
  return 0;
}

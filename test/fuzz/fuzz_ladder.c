/*
** Any bytes as a ladder of heap dumps, the oldest one first.
*/

#include "fuzz_dump.h"
#include "report.h"

#define DUMPS 4

/* A ladder of all dumps. */
static LpLadder *ladder_read(const uint8_t *p, size_t n)
{
  LpHeap *heap[DUMPS];
  size_t i, count = fuzz_dumps(p, n, heap, DUMPS);
  LpLadder *l = lp_ladder_new(count);
  l->page = 1;
  for (i = count; i-- > 0;)
    lp_ladder_add(l, "dump", heap[i], NULL);
  lp_ladder_judge(l);
  return l;
}

/* Nothing keeps more than there is; what can be compared is known at both ends.
 */
static void ladder_check(const LpLadder *l)
{
  uint32_t row;
  size_t i;
  for (row = 0; row < l->paths.names.n; row++) {
    const uint64_t *bytes = lp_growths_bytes(&l->paths, row);
    int known = l->paths.row[row].verdict != LP_UNCOMPARABLE;
    must(known == (l->keeps && !l->paths.row[row].cut));
    must(!known || bytes[0] != LP_LADDER_UNKNOWN);
    must(!known || bytes[l->n - 1] != LP_LADDER_UNKNOWN);
    for (i = 0; i < l->n; i++)
      must(bytes[i] == LP_LADDER_UNKNOWN || bytes[i] <= l->rung[i].reached);
  }
}

/* Write a view. */
static void ladder_report(const LpLadder *l, const char *format,
                          const char *view)
{
  LpProfile *prof = lp_profile_new();
  const LpSubject subject = {.prof = prof, .ladder = l};
  LpReportOptions opt = {.human = 1};
  LpOut out;
  prof->of = LP_OF_LADDER;
  lp_out_open(&out, -1);
  lp_report_write(format, view, &out, &subject, &opt);
  fuzz_heap_text(&out, !view);
  lp_out_close(&out);
  lp_profile_free(prof);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  static const char *const view[] = {"retained", "shared", "shapes"};
  static const char *const format[] = {"text", "csv", "json"};
  LpLadder *l = ladder_read(p, n);
  ladder_check(l);
  ladder_report(l, "text", "summary");
  ladder_report(l, format[n % 3], view[n / 3 % 3]);
  ladder_report(l, "html", NULL);
  lp_ladder_free(l);
  return 0;
}

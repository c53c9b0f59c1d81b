/*
** --format=heapsnapshot.
*/

#include <errno.h>
#include <stdio.h>

#include "heap_report.h"
#include "heapsnapshot.h"

/* Files are written in full unless --min or --top ask for less, or viewers
** would not open them.
*/
static void heap_snapshot_write(LpOut *out, const LpSubject *subject,
                                const LpReportOptions *opt)
{
  const LpHeap *h = subject->heap;
  LpSnapshotLimits limits = {.most = LP_SNAPSHOT_MOST, .top = opt->top};
  double percent = opt->min / 100 * (double)lp_heap_bytes(h);
  LpBuf note = {0};
  limits.least = (uint64_t)percent;
  if (limits.least < opt->least)
    limits.least = opt->least;
  lp_heap_snapshot(out, h, &limits, &note);
  if (note.n)
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, note.s);
  lp_buf_free(&note);
}

const LpReport lp_report_heap_snapshot = {.format = "heapsnapshot",
                                          .of = LP_OF_HEAP,
                                          .takes = LP_TAKES_MIN | LP_TAKES_TOP,
                                          .write = heap_snapshot_write};

/*
** What all fuzz targets do with a stream: read it, check the books, report.
*/

#include <stdlib.h>

#include "fuzz.h"
#include "reader.h"
#include "report.h"
#include "stream.h"

/* End the program where something does not hold. */
static void must(int holds)
{
  if (!holds)
    abort();
}

/* Every event is in one row, every byte is somewhere. */
static void fuzz_books(const LpProfile *prof, const LpStream *st)
{
  uint64_t events = 0, live = 0, arrived = 0, taken = 0;
  size_t i;
  for (i = 0; i < prof->sitekeys.n; i++) {
    const LpRow *r = &prof->row[i];
    events += r->allocs + r->reallocs + r->frees;
    live += r->live;
    arrived += r->arrived;
  }
  for (i = 0; i < prof->taken.size; i++)
    taken += prof->taken.entry[i].w.n;
  must(events == st->allocs + st->reallocs + st->frees);
  must(arrived == st->allocs + st->reallocs);
  must(taken == st->reallocs + st->frees);
  must(live == st->base + st->in - st->out);
  must(!st->ndamage == !st->damage.what[0]);
}

/* Read a stream of N bytes. */
void fuzz_stream(const void *p, size_t n)
{
  static const LpReportOptions opt[] = {{0}, {.human = 1}};
  LpProfile *prof = lp_profile_new();
  LpStream st;
  LpSink sink = lp_stream_open(&st, prof);
  LpInput in;
  LpOut out;
  lp_input_memory(&in, p, n);
  lp_reader_run(&in, &sink);
  must(lp_input_offset(&in) <= n);
  lp_stream_close(&st, lp_input_offset(&in));
  lp_input_close(&in);
  fuzz_books(prof, &st);
  lp_out_open(&out, -1);
  lp_report_sites.write(&out, prof, &opt[n & 1]);
  must(out.buf.n > 0);
  lp_out_close(&out);
  lp_profile_free(prof);
}

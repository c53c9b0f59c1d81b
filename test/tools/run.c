/*
** From bytes in memory to a report, for tests.
*/

#include <check.h>
#include <string.h>

#include "label.h"
#include "reader.h"
#include "run.h"

const LpReportOptions run_plain = {0};

/* Read all of an input into the profile, and close it. */
void run_add(Run *r, LpInput *in)
{
  LpSink sink = lp_stream_open(&r->st, r->prof);
  lp_reader_run(in, &sink);
  lp_stream_close(&r->st, lp_input_offset(in));
  lp_input_close(in);
  r->status = lp_stream_status(&r->st);
  r->events = r->st.allocs + r->st.reallocs + r->st.frees;
}

/* Read all of an input, and close it. */
Run run_input(LpInput *in)
{
  Run r = {.prof = lp_profile_new()};
  run_add(&r, in);
  return r;
}

/* Read N bytes. */
Run run_memory(const void *p, size_t n)
{
  LpInput in;
  lp_input_memory(&in, p, n);
  return run_input(&in);
}

/* Read what was crafted so far. */
Run run_craft(Craft *c)
{
  return run_memory(c->out.s, c->out.n);
}

/* The text report. */
const char *run_text(Run *r, const LpReportOptions *opt)
{
  LpOut out;
  lp_buf_free(&r->text);
  lp_out_open(&out, -1);
  lp_report_sites.write(&out, r->prof, opt);
  r->text = out.buf;
  return r->text.s;
}

/* The first row of that label, or NULL. */
const LpRow *run_row(const Run *r, const char *label)
{
  uint32_t i;
  for (i = 0; i < r->prof->sitekeys.n; i++) {
    LpBuf b = {0};
    int same;
    lp_label_site(&b, r->prof, i);
    same = strcmp(b.s, label) == 0;
    lp_buf_free(&b);
    if (same)
      return &r->prof->row[i];
  }
  return NULL;
}

/* What must hold of any profile of one stream, however damaged. */
void run_books(const Run *r)
{
  LpRow sum = {0};
  uint64_t taken = 0;
  size_t i;
  for (i = 0; i < r->prof->sitekeys.n; i++) {
    const LpRow *row = &r->prof->row[i];
    sum.allocs += row->allocs;
    sum.reallocs += row->reallocs;
    sum.frees += row->frees;
    sum.alloc_bytes += row->alloc_bytes + row->realloc_in;
    sum.free_bytes += row->free_bytes + row->realloc_out;
    sum.live += row->live;
    sum.arrived += row->arrived;
    sum.left += row->left;
  }
  for (i = 0; i < r->prof->taken.size; i++)
    taken += r->prof->taken.entry[i].w.n;
  ck_assert_uint_eq(sum.allocs, r->st.allocs);
  ck_assert_uint_eq(sum.reallocs, r->st.reallocs);
  ck_assert_uint_eq(sum.frees, r->st.frees);
  ck_assert_uint_eq(taken, r->st.reallocs + r->st.frees);
  ck_assert_uint_eq(sum.alloc_bytes, r->st.in);
  ck_assert_uint_eq(sum.free_bytes, r->st.out);
  ck_assert_uint_eq(sum.arrived, r->st.allocs + r->st.reallocs);
  ck_assert_uint_eq(sum.live, r->st.base + r->st.in - r->st.out);
}

/* Give the memory back. */
void run_close(Run *r)
{
  lp_profile_free(r->prof);
  lp_buf_free(&r->text);
}

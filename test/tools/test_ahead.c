/*
** With a second thread that hands events on, everything is as without.
*/

#include <string.h>

#include "ahead.h"
#include "reader.h"
#include "recording.h"
#include "run.h"
#include "suites.h"

/* What is read of N bytes, where the thread is started AFTER so many events. */
static Run read_after(const void *p, size_t n, const LpWanted *wanted,
                      uint64_t after)
{
  Run r = {.prof = lp_profile_new()};
  LpSink sink = lp_stream_open(&r.st, r.prof);
  LpAhead *a = lp_ahead_open(&sink, after);
  LpInput in;
  r.prof->wanted = *wanted;
  sink = lp_ahead_sink(a);
  lp_input_memory(&in, p, n);
  lp_reader_run(&in, &sink);
  lp_ahead_close(a);
  lp_stream_close(&r.st, lp_input_offset(&in));
  lp_input_close(&in);
  r.status = lp_stream_status(&r.st);
  return r;
}

/* Reports that have all numbers, and the order in which things became known. */
static void compare(Run *a, Run *b)
{
  static const char *const format[] = {"json", "folded", "csv", "speedscope"};
  size_t i;
  ck_assert_int_eq(a->status, b->status);
  ck_assert_uint_eq(a->st.ndamage, b->st.ndamage);
  ck_assert_str_eq(a->st.damage.what, b->st.damage.what);
  ck_assert_uint_eq(a->st.ns, b->st.ns);
  ck_assert_uint_eq(a->prof->origins.n, b->prof->origins.n);
  ck_assert_uint_eq(a->prof->origins.nnode, b->prof->origins.nnode);
  for (i = 0; i < sizeof(format) / sizeof(*format); i++)
    ck_assert_str_eq(run_report(a, format[i], NULL, &run_plain),
                     run_report(b, format[i], NULL, &run_plain));
}

/* N bytes, read in every way. */
static void ways(const void *p, size_t n)
{
  static const LpWanted wanted[] = {
      {.to = UINT64_MAX},
      {.what = ~0u,
       .temporary = 100,
       .young = 10,
       .to = UINT64_MAX,
       .snap = 1000000},
  };
  static const uint64_t after[] = {0, 700};
  size_t i, j;
  for (i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
    Run plain = read_after(p, n, &wanted[i], UINT64_MAX);
    for (j = 0; j < sizeof(after) / sizeof(*after); j++) {
      Run r = read_after(p, n, &wanted[i], after[j]);
      compare(&plain, &r);
      run_close(&r);
    }
    run_close(&plain);
  }
}

START_TEST(test_same)
{
  Recording rec;
  size_t n;
  recording_make(&rec, (RecordingKind)_i);
  ways(rec.b.s, rec.b.n);
  for (n = 1; n < rec.b.n; n += rec.b.n / 3)
    ways(rec.b.s, n);
  for (n = 0; n < rec.nblock; n += 25) { /* A gap. */
    rec.b.s[rec.at[n + 1] - 1] ^= 1;
    ways(rec.b.s, rec.b.n);
  }
  lp_buf_free(&rec.b);
}
END_TEST

/* -- More than the ring holds --------------------------------------------- */

/* A sink that knows what comes next. */
typedef struct Order {
  uint64_t events; /* So far. */
  uint64_t nodes;
  uint64_t times;
  uint64_t damages;
} Order;

static void order_events(void *ctx, const LpEvent *ev, size_t n)
{
  Order *o = ctx;
  size_t i;
  ck_assert_uint_le(n, LP_BATCH);
  for (i = 0; i < n; i++) {
    ck_assert_uint_eq(ev[i].naddr, o->events++);
    ck_assert_uint_eq(ev[i].node, ev[i].site); /* As order_node has it. */
  }
}

static uint32_t order_node(void *ctx, uint32_t callers, uint32_t site)
{
  ((Order *)ctx)->nodes++;
  ck_assert_uint_lt(callers, site);
  return site;
}

static void order_time(void *ctx, uint64_t ns)
{
  Order *o = ctx;
  ck_assert_uint_eq(ns, o->events);
  o->times++;
}

static void order_damage(void *ctx, const LpDamage *d)
{
  Order *o = ctx;
  ck_assert_uint_eq(d->events, o->events);
  o->damages++;
}

#define ORDER_EVENTS 300000
#define ORDER_NODES  20000

/* Batches of all lengths, new nodes and known ones, marks and damage between
** them: all come in order, with the numbers that the sink gave.
*/
START_TEST(test_order)
{
  Order o = {0};
  LpSink sink = {.ctx = &o,
                 .events = order_events,
                 .node = order_node,
                 .time = order_time,
                 .damage = order_damage};
  LpAhead *a = lp_ahead_open(&sink, 1000);
  uint64_t n = 0, times = 0, damages = 0;
  uint32_t node[ORDER_NODES] = {[0] = LP_NODE_ROOT};
  sink = lp_ahead_sink(a);
  while (n < ORDER_EVENTS) {
    LpEvent ev[LP_BATCH];
    size_t len = n * 7 % LP_BATCH + 1, i;
    for (i = 0; i < len; i++) {
      uint32_t site = (uint32_t)((n + i) * 31 % (ORDER_NODES - 1)) + 1;
      node[site] = sink.node(sink.ctx, node[site - 1], site);
      if (node[site - 1] == LP_NODE_ROOT && site > 1)
        node[site] = sink.node(sink.ctx, LP_NODE_ROOT, site);
      ev[i] = (LpEvent){.naddr = n + i, .node = node[site], .site = site};
    }
    sink.events(sink.ctx, ev, len);
    n += len;
    if (n % 5 == 0)
      sink.time(sink.ctx, n), times++;
    if (n % 97 == 0)
      sink.damage(sink.ctx, &(LpDamage){.events = n}), damages++;
  }
  lp_ahead_wait(a);
  ck_assert_uint_eq(o.events, n);
  lp_ahead_close(a);
  ck_assert_uint_eq(o.events, n);
  ck_assert_uint_eq(o.times, times);
  ck_assert_uint_eq(o.damages, damages);
  ck_assert_uint_gt(damages, 10);
}
END_TEST

Suite *suite_ahead(void)
{
  Suite *s = suite_create("ahead");
  TCase *t = tcase_create("ahead");
  tcase_add_loop_test(t, test_same, 0, NRECORDING);
  tcase_add_test(t, test_order);
  tcase_set_timeout(t, 120);
  suite_add_tcase(s, t);
  return s;
}

/*
** Recordings of some size, of every version: cut at every byte, and with every
** block broken.
*/

#include <string.h>

#include "harm.h"
#include "recording.h"
#include "run.h"
#include "suites.h"

/* Reports are made of some of the cuts only, in time that does not matter; so
** many cuts are from one to the next.
*/
#define REPORT_EVERY 97
#define WANTED_EVERY 11 /* And all that can be wanted is counted. */

/* -- Cut ------------------------------------------------------------------ */

/* Events of whole blocks within N bytes. */
static uint64_t whole(const Recording *r, size_t n)
{
  size_t i = 0;
  while (i < r->nblock && r->at[i + 1] <= n)
    i++;
  return r->first[i];
}

/* What was read of N bytes; SEEN events of one less. */
static void cut(const Recording *rec, size_t n, uint64_t *seen)
{
  LpInput in;
  Run r;
  if (n % WANTED_EVERY) {
    lp_input_memory(&in, rec->b.s, n);
    r = run_input(&in);
  } else {
    r = run_memory(rec->b.s, n);
  }
  ck_assert_int_eq(r.status, n == rec->b.n    ? LP_WHOLE
                             : n >= rec->body ? LP_PART
                                              : LP_UNREADABLE);
  ck_assert_uint_eq(r.st.ndamage, n != rec->b.n);
  ck_assert_uint_le(r.st.damage.offset, n);
  ck_assert_uint_ge(r.events, *seen);
  if (rec->nblock)
    ck_assert_uint_eq(r.events, whole(rec, n));
  run_books(&r);
  if (n % REPORT_EVERY == 0 || n == rec->b.n)
    run_reports(&r);
  *seen = r.events;
  run_close(&r);
}

START_TEST(test_cut)
{
  Recording rec;
  uint64_t seen = 0;
  size_t n;
  recording_make(&rec, (RecordingKind)_i);
  ck_assert_uint_ge(rec.b.n, 16u << 10);
  ck_assert_uint_le(rec.b.n, 64u << 10);
  for (n = 0; n <= rec.b.n; n++)
    cut(&rec, n, &seen);
  ck_assert_uint_eq(seen, rec.events);
  ck_assert_uint_ge(seen, 800);
  lp_buf_free(&rec.b);
}
END_TEST

/* -- Broken --------------------------------------------------------------- */

/* Block I of version 0x10 is harmed: its events are lost, or not needed. */
static void broken(const Recording *rec, size_t i, Harm harm)
{
  LpBuf h = harm_bytes(rec->b.s, rec->b.n, rec->at[i], rec->at[i + 1], harm);
  const HarmInfo *info = HARM_INFO(harm);
  uint64_t lost = info->lost ? rec->first[i + 1] - rec->first[i] : 0;
  Run r = run_memory(h.s, h.n);
  ck_assert_int_eq(r.status, LP_PART);
  ck_assert_uint_ge(r.st.ndamage, 1);
  ck_assert_uint_eq(r.st.damage.offset,
                    info->behind ? rec->at[i + 1] : rec->at[i]);
  ck_assert_uint_eq(r.events, rec->events - lost);
  run_books(&r);
  if (harm <= HARM_FLIP) /* The others come to the same. */
    run_reports(&r);
  run_close(&r);
  lp_buf_free(&h);
}

START_TEST(test_broken)
{
  Recording rec;
  size_t i;
  Harm harm;
  recording_make(&rec, (RecordingKind)_i);
  ck_assert_uint_ge(rec.nblock, 20);
  for (i = 0; i < rec.nblock; i++)
    for (harm = 0; harm < NHARM; harm++)
      broken(&rec, i, harm);
  lp_buf_free(&rec.b);
}
END_TEST

#define PIECE 61 /* In place of a block, where there are none. */

/* The old versions have no checksums: anything may come of it, but what there
** is adds up, and where something was found to be wrong it is told.
*/
START_TEST(test_broken_old)
{
  Recording rec;
  size_t at, told = 0, runs = 0;
  Harm harm;
  recording_make(&rec, (RecordingKind)_i);
  for (at = 0; at + PIECE < rec.b.n; at += PIECE) {
    for (harm = 0; harm <= HARM_FLIP; harm++, runs++) {
      LpBuf h = harm_bytes(rec.b.s, rec.b.n, at, at + PIECE, harm);
      Run r = run_memory(h.s, h.n);
      ck_assert_int_eq(r.status == LP_WHOLE, r.st.ndamage == 0);
      ck_assert_uint_le(r.st.damage.offset, h.n);
      ck_assert_int_eq(r.st.ndamage == 0, r.st.damage.what[0] == '\0');
      run_books(&r);
      if ((at / PIECE) % (HARM_FLIP + 1) == harm) /* Each in turn. */
        run_reports(&r);
      told += r.st.ndamage != 0;
      run_close(&r);
      lp_buf_free(&h);
    }
  }
  ck_assert_uint_ge(told, runs / 2);
  lp_buf_free(&rec.b);
}
END_TEST

Suite *suite_every(void)
{
  Suite *s = suite_create("every");
  TCase *tc = tcase_create("every");
  tcase_set_timeout(tc, 600);
  tcase_add_loop_test(tc, test_cut, 0, NRECORDING);
  tcase_add_loop_test(tc, test_broken, 0, REC_CPU + 1);
  tcase_add_loop_test(tc, test_broken_old, REC_DRAFT, NRECORDING);
  suite_add_tcase(s, tc);
  return s;
}

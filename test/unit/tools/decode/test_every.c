/*
** Recordings of some size, of every version: cut at every byte, and with every
** block broken.
*/

#include <string.h>

#include "ljm_format.h"
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

/* What is done to a block. */
typedef enum Harm {
  HARM_ZEROS,
  HARM_TWICE,
  HARM_GONE,
  HARM_FLIP, /* From here on: a broken byte, more and more to its end. */
  NHARM = HARM_FLIP + LJM_BLOCK_HEADER + 3
} Harm;

/* The recording, with the bytes from AT to END harmed. */
static LpBuf harmed(const LpBuf *b, size_t at, size_t end, int harm)
{
  LpBuf h = {0};
  lp_buf_add(&h, b->s, harm == HARM_GONE ? at : end);
  if (harm == HARM_ZEROS)
    memset(h.s + at, 0, end - at);
  if (harm == HARM_TWICE)
    lp_buf_add(&h, b->s + at, end - at);
  if (harm >= HARM_FLIP) {
    size_t i = (size_t)(harm - HARM_FLIP);
    if (i > LJM_BLOCK_HEADER)
      i = i == LJM_BLOCK_HEADER + 1 ? (end - at) / 2 : end - at - 1;
    h.s[at + i] ^= 0x55;
  }
  lp_buf_add(&h, b->s + end, b->n - end);
  return h;
}

/* Block I of version 0x10 is harmed: its events are lost, or not needed. */
static void broken(const Recording *rec, size_t i, int harm)
{
  LpBuf h = harmed(&rec->b, rec->at[i], rec->at[i + 1], harm);
  uint64_t lost = harm == HARM_TWICE ? 0 : rec->first[i + 1] - rec->first[i];
  Run r = run_memory(h.s, h.n);
  ck_assert_int_eq(r.status, LP_PART);
  ck_assert_uint_ge(r.st.ndamage, 1);
  ck_assert_uint_eq(r.st.damage.offset,
                    harm == HARM_TWICE ? rec->at[i + 1] : rec->at[i]);
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
  int harm;
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
  int harm;
  recording_make(&rec, (RecordingKind)_i);
  for (at = 0; at + PIECE < rec.b.n; at += PIECE) {
    for (harm = 0; harm <= HARM_FLIP; harm++, runs++) {
      LpBuf h = harmed(&rec.b, at, at + PIECE, harm);
      Run r = run_memory(h.s, h.n);
      ck_assert_int_eq(r.status == LP_WHOLE, r.st.ndamage == 0);
      ck_assert_uint_le(r.st.damage.offset, h.n);
      ck_assert_int_eq(r.st.ndamage == 0, r.st.damage.what[0] == '\0');
      run_books(&r);
      if ((at / PIECE) % (HARM_FLIP + 1) == (size_t)harm) /* Each in turn. */
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

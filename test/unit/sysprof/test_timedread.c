/*
** Reading memory that may never come. The functions that read are those of the
** test; of processes only the numbers are used, and none of them exists.
*/

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "suites.h"
#include "timedread.h"

#define NOBODY 0x7ff00000 /* The first of numbers that no process has. */
#define LARGE  200000     /* More than is read at once. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int open_now;

/* Memory whose bytes follow from their addresses. */
static ssize_t plain(pid_t pid, uint64_t addr, void *buf, size_t n)
{
  uint8_t *p = buf;
  size_t i;
  for (i = 0; i < n; i++)
    p[i] = (uint8_t)((addr + i) * 7 + (uint64_t)pid);
  return (ssize_t)n;
}

/* Ends in the middle. */
static ssize_t short_one(pid_t pid, uint64_t addr, void *buf, size_t n)
{
  return plain(pid, addr, buf, n / 2);
}

/* Comes when the gate is opened. */
static ssize_t gate(pid_t pid, uint64_t addr, void *buf, size_t n)
{
  pthread_mutex_lock(&lock);
  while (!open_now)
    pthread_cond_wait(&opened, &lock);
  pthread_mutex_unlock(&lock);
  return plain(pid, addr, buf, n);
}

/* Uses a CPU for longer than a reader may wait. */
static ssize_t busy(pid_t pid, uint64_t addr, void *buf, size_t n)
{
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do
    clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - start.tv_sec) * 1000 +
             (now.tv_nsec - start.tv_nsec) / 1000000 <
         2 * LS_TIMEDREAD_MS + LS_TIMEDREAD_MS / 2);
  return plain(pid, addr, buf, n);
}

static void open_gate(int now)
{
  pthread_mutex_lock(&lock);
  open_now = now;
  pthread_cond_broadcast(&opened);
  pthread_mutex_unlock(&lock);
}

static void pause_ms(long ms)
{
  struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

/* Reads until it is permitted; the test's own limit of time ends it. */
static void read_at_last(pid_t pid)
{
  char c;
  while (ls_timedread(plain, pid, 0, &c, 1))
    pause_ms(50);
}

START_TEST(test_parts)
{
  static uint8_t buf[LARGE];
  size_t i;
  ck_assert_int_eq(ls_timedread(plain, NOBODY, 1000, buf, LARGE), 0);
  for (i = 0; i < LARGE; i++)
    ck_assert_uint_eq(buf[i], (uint8_t)((1000 + i) * 7 + NOBODY));
  memset(buf, 1, 100);
  ck_assert_int_eq(ls_timedread(short_one, NOBODY, 0, buf, 100), -1);
  ck_assert_uint_eq(buf[0], 1);
  ck_assert_uint_eq(ls_timedread_held(NOBODY), 0);
}
END_TEST

/* A reader that has much to do, or gets no CPU, is held up by nobody. */
START_TEST(test_busy)
{
  uint8_t c = 1;
  ck_assert_int_eq(ls_timedread(busy, NOBODY, 3, &c, 1), 0);
  ck_assert_uint_eq(c, (uint8_t)(3 * 7 + NOBODY));
  ck_assert_uint_eq(ls_timedread_held(NOBODY), 0);
}
END_TEST

/* Whoever holds up is not read from until the reader has returned, and not at
** once then. The others are.
*/
START_TEST(test_held)
{
  uint8_t c = 1, other;
  open_gate(0);
  ck_assert_int_eq(ls_timedread(gate, NOBODY, 0, &c, 1), -1);
  ck_assert_uint_eq(ls_timedread_held(NOBODY), 1);
  ck_assert_int_eq(ls_timedread(plain, NOBODY, 0, &c, 1), -1);
  ck_assert_uint_eq(ls_timedread_held(NOBODY), 1);
  ck_assert_int_eq(ls_timedread(plain, NOBODY + 1, 0, &other, 1), 0);
  pause_ms(1100);
  ck_assert_int_eq(ls_timedread(plain, NOBODY, 0, &c, 1), -1);
  open_gate(1);
  read_at_last(NOBODY);
  ck_assert_uint_eq(c, 1); /* Nothing came late. */
  open_gate(0);
  ck_assert_int_eq(ls_timedread(gate, NOBODY, 0, &c, 1), -1);
  ck_assert_uint_eq(ls_timedread_held(NOBODY), 2);
  open_gate(1);
  ck_assert_int_eq(ls_timedread(plain, NOBODY, 0, &c, 1), -1);
}
END_TEST

/* One user's processes hold up so many readers, and no more. */
START_TEST(test_user)
{
  int i;
  char c;
  open_gate(0);
  for (i = 0; i < LS_TIMEDREAD_USER; i++) {
    ck_assert_int_eq(ls_timedread(gate, NOBODY + i, 0, &c, 1), -1);
    ck_assert_uint_eq(ls_timedread_held(NOBODY + i), 1);
  }
  ck_assert_int_eq(ls_timedread(plain, NOBODY + i, 0, &c, 1), -1);
  ck_assert_uint_eq(ls_timedread_held(NOBODY + i), 0);
  ck_assert_int_eq(ls_timedread(plain, 1, 0, &c, 1), 0); /* Root's. */
  open_gate(1);
  read_at_last(NOBODY + i);
}
END_TEST

Suite *suite_timedread(void)
{
  const TTest *tests[] = {test_parts, test_busy, test_held, test_user, NULL};
  return suite_of("timedread", tests);
}

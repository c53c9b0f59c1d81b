/*
** Several VMs, each in a thread of its own, are profiled at the same time.
** ThreadSanitizer has to find nothing here.
*/

#include "rec.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 4
#define ROUNDS  25

/* What one thread does; it tells its failure instead of asserting it. */
typedef struct Worker {
  pthread_t thread;
  int id;
  const char *failure;
  RecStream stream; /* The last one. */
  int64_t sum;
} Worker;

static atomic_bool finished;

#define NEED(w, cond)                                                          \
  do {                                                                         \
    if (!(cond)) {                                                             \
      (w)->failure = #cond;                                                    \
      return false;                                                            \
    }                                                                          \
  } while (0)

/* One recording of a VM. */
static bool record(Worker *w, lua_State *L, int round)
{
  struct luam_Prof_options opt =
      rec_options(&w->stream, (w->id + round) % REC_FORMATS);
  int64_t live = rec_live(L);
  NEED(w, luaM_memprof_start(L, &opt) == LUAM_PROFILE_SUCCESS);
  NEED(w, luaM_memprof_isrunning());
  NEED(w, luaM_memprof_start(L, &opt) == LUAM_PROFILE_ERR);
  NEED(w, luaL_loadstring(L, rec_small) == 0);
  NEED(w, lua_pcall(L, 0, 0, 0) == 0);
  NEED(w, luaM_memprof_isrunning());
  NEED(w, luaM_memprof_stop(L) == LUAM_PROFILE_SUCCESS);
  NEED(w, w->stream.stops == 1);
  w->sum = rec_live(L) - live;
  return true;
}

/* Many recordings, of several VMs. */
static bool work(Worker *w)
{
  int round;
  lua_State *L = NULL;
  for (round = 0; round < ROUNDS; round++) {
    if (L == NULL) {
      L = luaL_newstate();
      NEED(w, L != NULL);
      luaL_openlibs(L);
    }
    rec_free(&w->stream);
    if (!record(w, L, round))
      return false;
    if (round % 5 == 4) { /* Some VMs go away while they are profiled. */
      RecStream s = {0};
      struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
      NEED(w, luaM_memprof_start(L, &opt) == LUAM_PROFILE_SUCCESS);
      lua_close(L);
      L = NULL;
      NEED(w, s.stops == 1);
      rec_free(&s);
    }
  }
  if (L != NULL)
    lua_close(L);
  return true;
}

static void *worker_main(void *arg)
{
  work(arg);
  return NULL;
}

/* Looks all the time whether anything runs. */
static void *watcher_main(void *arg)
{
  size_t *looks = arg;
  do {
    luaM_memprof_isrunning();
    ++*looks;
  } while (!finished);
  return NULL;
}

START_TEST(many_threads)
{
  static Worker workers[THREADS];
  pthread_t watcher;
  size_t looks = 0;
  int i;
  ck_assert_int_eq(pthread_create(&watcher, NULL, watcher_main, &looks), 0);
  for (i = 0; i < THREADS; i++) {
    workers[i].id = i;
    ck_assert_int_eq(
        pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]), 0);
  }
  for (i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
  finished = true;
  ck_assert_int_eq(pthread_join(watcher, NULL), 0);
  ck_assert(!luaM_memprof_isrunning());
  for (i = 0; i < THREADS; i++) {
    ck_assert_msg(workers[i].failure == NULL, "thread %d: %s", i,
                  workers[i].failure);
    rec_checkwhole(&workers[i].stream, workers[i].sum);
    rec_free(&workers[i].stream);
  }
  ck_assert_uint_gt(looks, 0);
}
END_TEST

/* -- A VM that moves from thread to thread ----------------------------------
 */

static void *run_once(void *arg)
{
  rec_run(arg, rec_large);
  return NULL;
}

static void *stop_once(void *arg)
{
  ck_assert_int_eq(luaM_memprof_stop(arg), LUAM_PROFILE_SUCCESS);
  return NULL;
}

START_TEST(moving_vm)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  int64_t live = rec_live(L);
  pthread_t thread;
  int i;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  for (i = 0; i < 3; i++) {
    ck_assert_int_eq(pthread_create(&thread, NULL, run_once, L), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
  }
  ck_assert_int_eq(pthread_create(&thread, NULL, stop_once, L), 0);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  ck_assert_int_eq(s.stops, 1);
  rec_checkwhole(&s, rec_live(L) - live);
  lua_close(L);
  rec_free(&s);
}
END_TEST

int main(void)
{
  const TTest *tests[] = {many_threads, moving_vm};
  return REC_MAIN("threads", tests);
}

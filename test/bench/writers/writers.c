/*
** How long an event takes the VM, by where the recording goes:
**
**   writers [EVENTS [BYTES]]
**
** EVENTS (4,000,000) tables are made, each timed on its own. The throttled disk
** is a writer that takes BYTES a second (4 MiB) and sleeps for the rest. For
** each writer: nanoseconds of the median event, of percentiles, of the slowest,
** and what was dropped. The collector runs between the events that are timed.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lauxlib.h"
#include "lmisclib.h"
#include "lualib.h"

#define BENCH_CYCLE 10000 /* Events between two collections. */
#define BENCH_RING  ((size_t)1 << 20)

static uint64_t bench_events = 4000000;
static uint64_t bench_rate = (uint64_t)4 << 20;

static char bench_ring[BENCH_RING];

static uint64_t bench_now(void)
{
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* -- Writers --------------------------------------------------------------- */

/* Memory that is there already; what does not fit overwrites the beginning. */
static size_t bench_memory(const void *data, size_t len, void *arg)
{
  static size_t at;
  if (at + len > BENCH_RING)
    at = 0;
  (void)arg;
  memcpy(bench_ring + at, data, len);
  at += len;
  return len;
}

/* A disk that is slow. */
static size_t bench_disk(const void *data, size_t len, void *arg)
{
  uint64_t ns = (uint64_t)len * 1000000000u / bench_rate;
  struct timespec ts = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  bench_memory(data, len, arg);
  nanosleep(&ts, NULL);
  return len;
}

static int bench_stop(void *arg)
{
  (void)arg;
  return 0;
}

/* -- Measuring ------------------------------------------------------------- */

static int bench_order(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Makes tables; fills ns with the time of each. */
static void bench_run(lua_State *L, uint32_t *ns)
{
  uint64_t i;
  lua_gc(L, LUA_GCSTOP, 0);
  for (i = 0; i < bench_events; i++) {
    uint64_t from = bench_now(), to;
    lua_newtable(L);
    to = bench_now();
    lua_pop(L, 1);
    ns[i] = (uint32_t)(to - from < UINT32_MAX ? to - from : UINT32_MAX);
    if (i % BENCH_CYCLE == BENCH_CYCLE - 1)
      lua_gc(L, LUA_GCCOLLECT, 0);
  }
}

static void bench_print(const char *name, uint32_t *ns, double seconds)
{
  static const double at[] = {0.5, 0.99, 0.999, 0.9999, 0.99999};
  size_t i;
  qsort(ns, bench_events, sizeof(*ns), bench_order);
  printf("%-34s", name);
  for (i = 0; i < sizeof(at) / sizeof(at[0]); i++)
    printf(" %9u", ns[(size_t)(at[i] * (double)(bench_events - 1))]);
  printf(" %10u %6.2f\n", ns[bench_events - 1], seconds);
}

/* Records with a writer and a value of the option THREAD. */
static int bench_writer(const char *name,
                        size_t (*writer)(const void *, size_t, void *),
                        uint64_t thread, uint32_t *ns)
{
  struct luam_Prof_options opt = {.writer = writer, .on_stop = bench_stop};
  lua_State *L = luaL_newstate();
  uint64_t from = bench_now();
  int status;
  opt.reserved[LUAM_PROF_THREAD] = thread;
  if (writer != NULL && luaM_memprof_start(L, &opt) != LUAM_PROFILE_SUCCESS) {
    fprintf(stderr, "writers: %s: no start\n", name);
    return 0;
  }
  bench_run(L, ns);
  bench_print(name, ns, (double)(bench_now() - from) / 1e9);
  status = writer != NULL ? luaM_memprof_stop(L) : LUAM_PROFILE_SUCCESS;
  lua_close(L);
  return status == LUAM_PROFILE_SUCCESS;
}

int main(int argc, char **argv)
{
  uint32_t *ns;
  int good;
  if (argc > 1)
    bench_events = strtoull(argv[1], NULL, 10);
  if (argc > 2)
    bench_rate = strtoull(argv[2], NULL, 10);
  if (bench_events == 0 || bench_rate == 0)
    return 1;
  ns = calloc(bench_events, sizeof(*ns));
  if (ns == NULL)
    return 1;
  memset(ns, 1, bench_events * sizeof(*ns)); /* Its pages are there. */
  printf("%-34s %9s %9s %9s %9s %9s %10s %6s\n", "ns of an event", "50%", "99%",
         "99.9%", "99.99%", "99.999%", "most", "s");
  good =
      bench_writer("not recording", NULL, 0, ns) &&
      bench_writer("memory", bench_memory, 0, ns) &&
      bench_writer("slow disk", bench_disk, 0, ns) &&
      bench_writer("slow disk, thread, drops", bench_disk,
                   LUAM_THREAD(0, LUAM_THREAD_DROP, 0), ns) &&
      bench_writer("slow disk, thread, waits, 64 MiB", bench_disk,
                   LUAM_THREAD((uint64_t)64 << 20, LUAM_THREAD_WAIT, 0), ns) &&
      bench_writer("slow disk, thread, waits, 4 MiB", bench_disk,
                   LUAM_THREAD(0, LUAM_THREAD_WAIT, 0), ns);
  free(ns);
  return !good;
}

/*
** The sampler's writer of streams: its bytes, its numbers, its errors.
*/

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stream.h"
#include "ljm_format.h"
#include "run.h"
#include "suites.h"

static const LsStreamInfo info = {.event = "cpu-clock", .hz = 100};

/* A Lua site. */
static LsSite lua(const char *chunk, const char *name, uint64_t first,
                  uint64_t line)
{
  LsSite s = {.kind = LS_LUA, .chunk = chunk, .name = name, .first = first};
  s.chunklen = strlen(chunk);
  s.lines = 10;
  s.line = line;
  return s;
}

/* All that was written to a file. */
static LpBuf written(int fd)
{
  LpBuf b = {0};
  char buf[4096];
  ssize_t n;
  ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
  while ((n = read(fd, buf, sizeof(buf))) > 0)
    lp_buf_add(&b, buf, (size_t)n);
  close(fd);
  return b;
}

/* -- Bytes ---------------------------------------------------------------- */

/* What the document says: PROTO as the writer has it, whose address is 0. */
static void proto(Craft *c, uint64_t id, const char *name)
{
  LpBuf b = {0};
  craft_uleb(&b, id);
  craft_uleb(&b, 0);
  craft_uleb(&b, 0);
  craft_uleb(&b, 0);
  craft_uleb(&b, 3);
  craft_uleb(&b, 10);
  craft_str(&b, "@a.lua");
  craft_str(&b, name);
  craft_record(c, LJM_REC_PROTO, b.s, b.n);
  lp_buf_free(&b);
}

/* The stream of test_bytes, by hand. */
static void by_hand(Craft *c)
{
  const CraftBook book[] = {{"fired", 6}, {"delivered", 6}};
  craft_open_cpu(c);
  craft_time(c, 0);
  craft_meta_cpu(c, 100);
  craft_module(c, 1, "\x01\x02", "/lib/x.so");
  proto(c, 1, "f");
  craft_site(c, 2, LJM_SITE_TRACE, 1, 5);
  craft_native(c, 2, 0, 1, 0x100, "n");
  craft_site(c, 3, 0, 2, 0);
  craft_native(c, 3, LJM_NATIVE_KERNEL, 0, 0, "k");
  craft_site(c, 4, 0, 3, 0);
  craft_native(c, 4, LJM_NATIVE_NOSYMBOL, 0, 0x7000, "");
  craft_site(c, 5, 0, 4, 0);
  craft_named(c, 5, LJM_CFUNC_BUILTIN, "string.rep");
  craft_site(c, 6, 0, 5, 0);
  craft_named(c, 6, LJM_CFUNC_MARK, "(lost)");
  craft_site(c, 7, 0, 6, 0);
  craft_cnamed(c, 7, 0x200, "/lib/x.so", "x.f", "x_f");
  craft_site(c, 8, 0, 7, 0);
  craft_process_in(c, 1, 10, "cmd", "/box/1");
  craft_thread(c, 1, 1, 11, "t");
  craft_flush(c);
  craft_time(c, 1000);
  craft_change(c, 0, 2, 3);
  craft_sample(c, 0, 1, 1);
  craft_change(c, 1, 4, 5, 6, 7);
  craft_sample(c, 0, 1, 2);
  craft_sample(c, 0, 1, 1);
  craft_stack(c, LJM_STACK_CUT, 2);
  craft_sample(c, LJM_SAMPLE_CUT, 1, 1);
  craft_change(c, 1);
  craft_sample(c, LJM_SAMPLE_CUT, 0, 1);
  craft_flush(c);
  craft_time(c, 2000);
  craft_books(c, book, 2);
  craft_flush(c);
}

/* Byte for byte what a hand would write. */
START_TEST(test_bytes)
{
  int fd = memfd_create("w", MFD_CLOEXEC);
  LsStream *s = ls_stream_open(fd, &info);
  uint32_t mod = ls_stream_module(s, "/lib/x.so", (const uint8_t *)"\1\2", 2);
  LsSite site = lua("@a.lua", "f", 3, 5);
  LsSite n = {.kind = LS_NATIVE, .name = "n", .module = mod, .addr = 0x100};
  LsSite k = {.kind = LS_KERNEL, .name = "k", .addr = 0xffffffff81000000};
  LsSite a = {.kind = LS_NATIVE, .addr = 0x7000};
  LsSite b = {.kind = LS_BUILTIN, .name = "string.rep"};
  LsSite m = {.kind = LS_MARK, .name = "(lost)"};
  LsSite f = {.kind = LS_CFUNC,
              .chunk = "/lib/x.so",
              .chunklen = 9,
              .name = "x.f",
              .symbol = "x_f",
              .addr = 0x200};
  LsProcess p = {10, 4026531836, 12345, "cmd", "/box/1"};
  const LsStatistic stat[] = {{"fired", 6}, {"delivered", 6}};
  uint32_t id[6], t;
  Craft c;
  LpBuf got;
  site.flags = LS_TRACE;
  id[0] = ls_stream_site(s, &site);
  id[1] = ls_stream_site(s, &n);
  id[2] = ls_stream_site(s, &k);
  id[3] = ls_stream_site(s, &a);
  id[4] = ls_stream_site(s, &b);
  id[5] = ls_stream_site(s, &m);
  ck_assert_uint_eq(ls_stream_site(s, &f), id[5] + 1);
  t = ls_stream_thread(s, ls_stream_process(s, &p), 11, "t");
  ls_stream_time(s, 1000);
  ls_stream_sample(s, t, id, 2, 0, 1);
  ls_stream_sample(s, t, (uint32_t[]){id[0], id[2], id[3], id[4], id[5]}, 5, 0,
                   2);
  ls_stream_sample(s, t, (uint32_t[]){id[0], id[2], id[3], id[4], id[5]}, 5, 0,
                   1);
  ls_stream_sample(s, t, id, 1, 1, 1);
  ls_stream_sample(s, t, id, 1, 1, 0); /* Never met: nothing to tell. */
  ls_stream_sample(s, 0, id, 0, 1, 1);
  ls_stream_time(s, 1500); /* Nothing happened: no block. */
  ls_stream_time(s, 2000);
  ck_assert_int_eq(ls_stream_close(s, stat, 2), 0);
  got = written(fd);
  by_hand(&c);
  ck_assert_uint_eq(got.n, c.out.n);
  ck_assert_mem_eq(got.s, c.out.s, got.n);
  lp_buf_free(&got);
  craft_close(&c);
}
END_TEST

/* What is the same has the same number, and what is not has another. */
START_TEST(test_numbers)
{
  int fd = memfd_create("w", MFD_CLOEXEC);
  LsStream *s = ls_stream_open(fd, &info);
  LsSite base = lua("@a.lua", "f", 3, 5), other;
  char copy[] = "@a.lua";
  uint32_t id = ls_stream_site(s, &base), last = id;
  other = base;
  other.chunk = copy;
  ck_assert_uint_eq(id, LJM_SITE_FIRST);
  ck_assert_uint_eq(ls_stream_site(s, &other), id);
#define OTHER(field, value)                                                    \
  do {                                                                         \
    other = base;                                                              \
    other.field = (value);                                                     \
    ck_assert_uint_eq(ls_stream_site(s, &other), ++last);                      \
    ck_assert_uint_eq(ls_stream_site(s, &other), last);                        \
  } while (0)
  OTHER(line, 6);
  OTHER(flags, LS_APPROX);
  OTHER(flags, LS_STRIPPED);
  OTHER(flags, LS_STRIPPED | LS_BYHASH);
  OTHER(first, 4);
  OTHER(hash, 1);
  OTHER(name, "g");
  OTHER(name, NULL);
  OTHER(chunklen, 5);
  OTHER(kind, LS_BUILTIN);
  OTHER(kind, LS_MARK);
  OTHER(kind, LS_NATIVE);
  OTHER(kind, LS_KERNEL);
  OTHER(kind, LS_CFUNC);
  base = other;
  OTHER(symbol, "f");
  OTHER(addr, 1);
  base = lua("@a.lua", "f", 3, 5);
  id = LJM_SITE_FIRST;
  other = base;
  other.flags = ~31u; /* Flags of the future are not the stream's. */
  ck_assert_uint_eq(ls_stream_site(s, &other), id);
  ck_assert_uint_eq(ls_stream_module(s, "a", NULL, 0), 1);
  ck_assert_uint_eq(ls_stream_module(s, "a", (const uint8_t *)"", 1), 2);
  ck_assert_uint_eq(ls_stream_module(s, "a", NULL, 0), 1);
  ck_assert_uint_eq(ls_stream_thread(s, 0, 1, NULL), 1);
  ck_assert_uint_eq(ls_stream_thread(s, 1, 1, NULL), 2);
  ck_assert_uint_eq(ls_stream_thread(s, 0, 1, ""), 1);
  ck_assert_int_eq(ls_stream_close(s, NULL, 0), 0);
  close(fd);
}
END_TEST

/* Long names are cut, and so are stacks; all fits into blocks. */
START_TEST(test_large)
{
  int fd = memfd_create("w", MFD_CLOEXEC);
  LsStream *s = ls_stream_open(fd, &info);
  static char chunk[100000];
  static uint32_t ids[5000];
  const LsStatistic stat = {"delivered", 300};
  LpBuf b;
  Run r;
  uint32_t i;
  memset(chunk, 'x', sizeof(chunk) - 1);
  chunk[0] = '=';
  for (i = 0; i < 5000; i++) {
    LsSite site = lua(chunk, chunk, i % 50, i);
    ids[i] = ls_stream_site(s, &site);
  }
  for (i = 0; i < 300; i++) {
    ids[0] = ids[i]; /* Nothing in common with the one before. */
    ls_stream_sample(s, 0, ids, 5000 - i % 7 * 800, (int)(i & 1), 1);
  }
  ck_assert_int_eq(ls_stream_close(s, &stat, 1), 0);
  b = written(fd);
  r = run_memory(b.s, b.n);
  ck_assert_str_eq(r.st.damage.what, "");
  ck_assert_uint_eq(r.prof->cpu.samples, 300);
  ck_assert_uint_eq(r.prof->funckeys.n, 51);
  run_close(&r);
  lp_buf_free(&b);
}
END_TEST

/* Without statistics a reader takes it for cut. */
START_TEST(test_given_up)
{
  int fd = memfd_create("w", MFD_CLOEXEC);
  LsStream *s = ls_stream_open(fd, &info);
  LpBuf b;
  Run r;
  ls_stream_sample(s, 0, NULL, 0, 0, 3);
  ck_assert_int_eq(ls_stream_close(s, NULL, 0), 0);
  b = written(fd);
  r = run_memory(b.s, b.n);
  ck_assert_int_eq(r.status, LP_PART);
  ck_assert_uint_eq(r.prof->cpu.samples, 3);
  run_close(&r);
  lp_buf_free(&b);
}
END_TEST

/* -- Errors --------------------------------------------------------------- */

/* Write N samples of many sites in intervals, and the statistics. */
static int write_many(LsStream *s, unsigned n)
{
  LsStatistic stat = {"delivered", n};
  unsigned i;
  for (i = 0; i < n; i++) {
    LsSite site = lua("@a.lua", "f", i, i);
    uint32_t id = ls_stream_site(s, &site);
    ls_stream_sample(s, 0, &id, 1, 0, 1);
    if (i % 100 == 99)
      ls_stream_time(s, i);
  }
  return ls_stream_close(s, &stat, 1);
}

/* The first error is told, by all that is asked for it. */
START_TEST(test_errors)
{
  int fd = open("/dev/full", O_WRONLY | O_CLOEXEC), pipefd[2];
  LsStream *s = ls_stream_open(fd, &info);
  ck_assert_int_eq(ls_stream_error(s), ENOSPC);
  ck_assert_int_eq(write_many(s, 1000), ENOSPC);
  close(fd);
  signal(SIGPIPE, SIG_IGN);
  ck_assert_int_eq(pipe(pipefd), 0);
  s = ls_stream_open(pipefd[1], &info);
  ck_assert_int_eq(ls_stream_error(s), 0);
  close(pipefd[0]);
  ck_assert_int_eq(write_many(s, 1000), EPIPE);
  close(pipefd[1]);
  s = ls_stream_open(-1, &info);
  ck_assert_int_eq(write_many(s, 1), EBADF);
}
END_TEST

static void on_alarm(int signo)
{
  (void)signo;
}

/* Through a small pipe that is read slowly, while signals come: writes are
** short or interrupted, or, with NONBLOCK, refused; nothing is lost.
*/
static void through_pipe(int nonblock)
{
  struct sigaction act = {.sa_handler = on_alarm}; /* No SA_RESTART. */
  struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  int fd[2], status;
  pid_t pid;
  ck_assert_int_eq(pipe(fd), 0);
  ck_assert_int_ge(fcntl(fd[1], F_SETPIPE_SZ, 4096), 0);
  pid = fork();
  if (pid == 0) {
    LsStream *s;
    int res;
    close(fd[0]);
    if (nonblock)
      fcntl(fd[1], F_SETFL, O_NONBLOCK);
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    s = ls_stream_open(fd[1], &info);
    res = write_many(s, 20000);
    setitimer(ITIMER_REAL, &never, NULL);
    _exit(res);
  }
  close(fd[1]);
  {
    LpBuf b = {0};
    char buf[3000];
    ssize_t n;
    Run r;
    while ((n = read(fd[0], buf, sizeof(buf))) > 0) {
      lp_buf_add(&b, buf, (size_t)n);
      usleep(300);
    }
    close(fd[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    r = run_memory(b.s, b.n);
    ck_assert_str_eq(r.st.damage.what, "");
    ck_assert_uint_eq(r.prof->cpu.samples, 20000);
    run_close(&r);
    lp_buf_free(&b);
  }
}

START_TEST(test_slow)
{
  through_pipe(_i);
}
END_TEST

Suite *suite_writer(void)
{
  const TTest *tests[] = {test_bytes,    test_numbers, test_large,
                          test_given_up, test_errors,  NULL};
  Suite *s = suite_of("writer", tests);
  TCase *tc = tcase_create("pipes");
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, test_slow, 0, 2);
  suite_add_tcase(s, tc);
  return s;
}

/*
** The file writer in a host: its signals, its limits, several VMs.
*/

#include "rec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[] = "/tmp/ljprof-file-XXXXXX";

static void make_path(void)
{
  int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  close(fd);
}

static void remove_path(void)
{
  char old[sizeof(path) + 4];
  snprintf(old, sizeof(old), "%s.old", path);
  ck_assert_int_eq(unlink(path), 0);
  ck_assert_int_eq(unlink(old), 0); /* Each has recorded twice. */
}

/* Calls misc.memprof's function. Returns its second result, or NULL. */
static const char *call(lua_State *L, const char *code)
{
  lua_settop(L, 0);
  if (luaL_dostring(L, code) != 0)
    ck_abort_msg("%s", lua_tostring(L, -1));
  return lua_toboolean(L, 1) ? NULL : lua_tostring(L, 2);
}

/* Starts a recording to the path. */
static const char *start(lua_State *L, const char *options)
{
  char code[256];
  snprintf(code, sizeof(code), "return misc.memprof.start('%s', {%s})", path,
           options);
  return call(L, code);
}

static const char *stop(lua_State *L)
{
  return call(L, "return misc.memprof.stop()");
}

/* -- Signals --------------------------------------------------------------- */

static volatile sig_atomic_t caught;

static void catch (int signo)
{
  (void)signo;
  caught++;
}

/* How this process takes a signal. */
typedef struct Taking {
  struct sigaction action;
  sigset_t mask;
  sigset_t pending;
} Taking;

static Taking taking(int signo)
{
  Taking t;
  memset(&t, 0, sizeof(t));
  sigaction(signo, NULL, &t.action);
  sigprocmask(SIG_SETMASK, NULL, &t.mask);
  sigpending(&t.pending);
  return t;
}

static bool is_taken(int signo, const Taking *t)
{
  Taking now = taking(signo);
  int i;
  for (i = 1; i < NSIG; i++)
    if (sigismember(&now.mask, i) != sigismember(&t->mask, i) ||
        sigismember(&now.pending, i) != sigismember(&t->pending, i))
      return false;
  return now.action.sa_handler == t->action.sa_handler &&
         now.action.sa_flags == t->action.sa_flags;
}

/* Limits the size of files, or takes the limit back. Check writes some, too. */
static void limit_size(bool limited)
{
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = limited ? 30000 : limit.rlim_max;
  setrlimit(RLIMIT_FSIZE, &limit);
}

/*
** Records until a write fails, with a signal as it is taken now, and the same
** at the end.
*/
static void record_failing(lua_State *L, int signo)
{
  Taking t = taking(signo);
  int before = caught;
  const char *message;
  bool good;
  limit_size(signo == SIGXFSZ);
  rec_run(L, rec_large);
  good = is_taken(signo, &t);
  message = stop(L);
  good = good && is_taken(signo, &t);
  limit_size(false);
  ck_assert(good);
  ck_assert_ptr_nonnull(message);
  ck_assert_int_eq(caught, before);
}

/* The ways to take a signal: default, a handler, ignored; blocked, pending. */
static void each_way(int signo, const char *(*begin)(lua_State *L))
{
  void (*const handlers[])(int) = {SIG_DFL, catch, SIG_IGN};
  sigset_t set;
  int h, how;
  sigemptyset(&set);
  sigaddset(&set, signo);
  for (h = 0; h < 3; h++) {
    for (how = 0; how < 3; how++) { /* Open, blocked, blocked and pending. */
      lua_State *L = rec_open();
      struct sigaction action = {.sa_handler = handlers[h]};
      sigaction(signo, &action, NULL);
      ck_assert_ptr_null(begin(L));
      if (how > 0)
        sigprocmask(SIG_BLOCK, &set, NULL);
      if (how > 1)
        raise(signo);
      record_failing(L, signo);
      if (how > 1) {
        int got = 0;
        ck_assert_int_eq(sigwait(&set, &got), 0);
        ck_assert_int_eq(got, signo);
      }
      sigprocmask(SIG_UNBLOCK, &set, NULL);
      if (handlers[h] == catch) {
        int before = caught;
        raise(signo);
        ck_assert_int_eq(caught, before + 1);
      }
      lua_close(L);
    }
  }
}

static const char *begin_limited(lua_State *L)
{
  return start(L, "buffer = 16384");
}

START_TEST(size_limit)
{
  make_path();
  each_way(SIGXFSZ, begin_limited);
  remove_path();
}
END_TEST

/* A pipe whose reader is gone when the start has written. */
static const char *begin_pipe(lua_State *L)
{
  char code[128];
  const char *message;
  int p[2];
  ck_assert_int_eq(pipe(p), 0);
  snprintf(code, sizeof(code),
           "return misc.memprof.start(nil, {fd = %d, buffer = 16384})", p[1]);
  message = call(L, code);
  close(p[0]);
  close(p[1]);
  return message;
}

START_TEST(no_reader)
{
  each_way(SIGPIPE, begin_pipe);
}
END_TEST

/* -- Descriptors ----------------------------------------------------------- */

/* A pipe that does not block is written to as one that does. */
START_TEST(pipe_that_does_not_block)
{
  lua_State *L = rec_open();
  char code[128], data[4096];
  size_t got = 0;
  ssize_t n;
  int p[2], status;
  pid_t pid;
  ck_assert_int_eq(pipe2(p, O_NONBLOCK), 0);
  pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) { /* Reads slowly, to the end. */
    close(p[1]);
    fcntl(p[0], F_SETFL, 0);
    while ((n = read(p[0], data, sizeof(data))) > 0) {
      got += (size_t)n;
      usleep(1000);
    }
    _exit(got > 100000 ? 0 : 1);
  }
  close(p[0]);
  snprintf(code, sizeof(code), "return misc.memprof.start(nil, {fd = %d})",
           p[1]);
  ck_assert_ptr_null(call(L, code));
  close(p[1]);
  rec_run(L, rec_large);
  ck_assert_ptr_null(stop(L));
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert_int_eq(status, 0);
  lua_close(L);
}
END_TEST

/* The descriptor is not one of the standard streams, if they are closed. */
START_TEST(standard_streams_are_closed)
{
  lua_State *L = rec_open();
  struct stat st, own;
  int saved[3], fd;
  make_path();
  for (fd = 0; fd < 3; fd++) {
    saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    close(fd);
  }
  fd = start(L, "") == NULL;
  rec_run(L, rec_small);
  fd = fd && fstat(0, &st) != 0 && fstat(1, &st) != 0 && fstat(2, &st) != 0;
  fd = fd && stop(L) == NULL;
  dup2(saved[0], 0);
  dup2(saved[1], 1);
  dup2(saved[2], 2);
  ck_assert(fd);
  ck_assert_int_eq(stat(path, &own), 0);
  ck_assert_int_gt(own.st_size, 1000);
  lua_close(L);
  unlink(path);
}
END_TEST

/* -- Several VMs ----------------------------------------------------------- */

/* Neither another VM nor a child takes the file away. */
START_TEST(one_file_for_one)
{
  lua_State *L = rec_open(), *other = rec_open();
  struct stat before, after;
  int status;
  pid_t pid;
  make_path();
  ck_assert_ptr_null(start(L, ""));
  ck_assert_int_eq(stat(path, &before), 0);
  ck_assert_ptr_nonnull(strstr(start(other, ""), "another recording"));
  pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) {
    ck_assert_ptr_nonnull(strstr(start(other, ""), "another recording"));
    lua_close(L); /* Ends what the child has of it, and not the parent's. */
    ck_assert_ptr_nonnull(strstr(start(other, ""), "another recording"));
    _exit(0);
  }
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert_int_eq(status, 0);
  rec_run(L, rec_large);
  ck_assert_int_eq(stat(path, &after), 0);
  ck_assert_uint_eq(before.st_ino, after.st_ino);
  ck_assert_ptr_null(stop(L));
  ck_assert_ptr_null(start(other, ""));
  ck_assert_ptr_null(stop(other));
  lua_close(L);
  lua_close(other);
  remove_path();
}
END_TEST

/* A child that lives on does not keep the file. */
START_TEST(child_that_lives_on)
{
  lua_State *L = rec_open();
  pid_t pid;
  make_path();
  ck_assert_ptr_null(start(L, ""));
  pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0)
    for (;;)
      pause();
  ck_assert_ptr_null(stop(L));
  ck_assert_ptr_null(start(L, ""));
  ck_assert_ptr_null(stop(L));
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  lua_close(L);
  remove_path();
}
END_TEST

#ifndef LUAJIT_DISABLE_THREAD_SAFE

/* Nor does one whose parent was killed while it recorded. Without locks nothing
** is done in a child before its first event: there it does.
*/
START_TEST(child_of_a_killed_parent)
{
  lua_State *L = rec_open();
  int p[2], status;
  char byte;
  pid_t pid;
  make_path();
  ck_assert_int_eq(pipe(p), 0);
  pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) {
    pid_t child;
    ck_assert_ptr_null(start(L, ""));
    child = fork();
    if (child == 0) {
      ck_assert_int_eq(write(p[1], "", 1), 1);
      close(p[1]);
      pause(); /* Until the test's end kills it. */
    }
    ck_assert_int_eq(write(p[1], &child, sizeof(child)), sizeof(child));
    kill(getpid(), SIGKILL);
  }
  close(p[1]);
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert(WIFSIGNALED(status));
  {
    char said[sizeof(pid_t) + 1];
    size_t n = 0;
    while (n < sizeof(said) && read(p[0], &byte, 1) == 1)
      said[n++] = byte;
    ck_assert_uint_eq(n, sizeof(said));
  }
  ck_assert_ptr_null(start(L, ""));
  ck_assert_ptr_null(stop(L));
  lua_close(L);
  close(p[0]);
  remove_path();
}
END_TEST

#endif

/* A lock that was taken for a descriptor goes with the recording. */
START_TEST(descriptor_and_a_child)
{
  lua_State *L = rec_open();
  char code[128];
  pid_t pid;
  int fd, i;
  make_path();
  fd = open(path, O_WRONLY);
  ck_assert_int_ge(fd, 0);
  snprintf(code, sizeof(code), "return misc.memprof.start(nil, {fd = %d})", fd);
  ck_assert_ptr_null(call(L, code));
  pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0)
    for (;;)
      pause();
  ck_assert_ptr_null(stop(L));
  for (i = 0; i < 2; i++) {
    ck_assert_ptr_null(call(L, code));
    ck_assert_ptr_null(stop(L));
  }
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  lua_close(L);
  close(fd);
  unlink(path);
}
END_TEST

/* A reader that has stopped reading does not keep a process from its exit. */
START_TEST(exit_with_a_full_pipe)
{
  lua_State *L = rec_open();
  char code[128], data[4096] = {0};
  int p[2], status;
  pid_t pid;
  ck_assert_int_eq(pipe(p), 0);
  pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) {
    snprintf(code, sizeof(code), "return misc.memprof.start(nil, {fd = %d})",
             p[1]);
    ck_assert_ptr_null(call(L, code));
    fcntl(p[1], F_SETFL, O_NONBLOCK);
    while (write(p[1], data, sizeof(data)) > 0)
      ;
    fcntl(p[1], F_SETFL, 0);
    exit(0); /* check would wait for ever; its time limit ends that. */
  }
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert_int_eq(status, 0);
  close(p[0]);
  close(p[1]);
  lua_close(L);
}
END_TEST

int main(void)
{
  const TTest *tests[] = {size_limit,
                          no_reader,
                          pipe_that_does_not_block,
                          standard_streams_are_closed,
                          one_file_for_one,
                          child_that_lives_on,
#ifndef LUAJIT_DISABLE_THREAD_SAFE
                          child_of_a_killed_parent,
#endif
                          descriptor_and_a_child,
                          exit_with_a_full_pipe};
  return REC_MAIN("file", tests);
}

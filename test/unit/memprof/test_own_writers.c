/*
** The recorder's own writers, each with and without a thread: memory, files,
** descriptors and sockets. ThreadSanitizer has to find nothing here.
*/

#include "rec.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

START_TEST(memory)
{
  int thread;
  for (thread = 0; thread < 2; thread++) {
    struct luam_Memory m = {.max = 0};
    struct luam_Prof_options opt = {.buffer = 16384};
    RecStream s = {0};
    lua_State *L = rec_open();
    int64_t live = rec_live(L);
    if (thread)
      opt.reserved[LUAM_PROF_THREAD] = LUAM_THREAD(0, 0, 0);
    ck_assert_int_eq(luaM_memprof_tomemory(&opt, &m), LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    rec_run(L, rec_large);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    rec_write(m.data, m.len, &s);
    rec_checkwhole(&s, rec_live(L) - live);
    free(m.data);
    m.max = 50000; /* Now there is not enough. */
    ck_assert_int_eq(luaM_memprof_tomemory(&opt, &m), LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    rec_run(L, rec_large);
    errno = 0;
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_ERRIO);
    ck_assert_int_eq(errno, ENOSPC);
    ck_assert_uint_le(m.len, m.max);
    ck_assert_uint_gt(m.len, 16384);
    free(m.data);
    lua_close(L);
    rec_free(&s);
  }
}
END_TEST

START_TEST(files)
{
  int thread;
  char dir[] = "/tmp/ljprof-writers-XXXXXX", path[64];
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(path, sizeof(path), "%s/a.ljm", dir);
  for (thread = 0; thread < 2; thread++) {
    struct luam_Prof_options opt = {.buffer = 16384};
    RecStream s;
    lua_State *L = rec_open();
    int64_t live = rec_live(L);
    if (thread)
      opt.reserved[LUAM_PROF_THREAD] = LUAM_THREAD(0, 0, 0);
    ck_assert_int_eq(luaM_memprof_tofile(&opt, path), LUAM_PROFILE_SUCCESS);
    ck_assert_int_ne(access(path, F_OK), 0); /* Only a start names it. */
    luaM_memprof_drop(&opt);
    ck_assert_int_eq(luaM_memprof_tofile(&opt, path), LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    rec_run(L, rec_large);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    s = rec_read(path);
    rec_checkwhole(&s, rec_live(L) - live);
    lua_close(L);
    rec_free(&s);
    ck_assert_int_eq(unlink(path), 0);
  }
  ck_assert_int_eq(rmdir(dir), 0); /* Nothing is left. */
  errno = 0;
  {
    struct luam_Prof_options opt = {.buffer = 16384};
    ck_assert_int_eq(luaM_memprof_tofile(&opt, path), LUAM_PROFILE_ERRIO);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_ptr_null(opt.writer);
  }
}
END_TEST

/* Nobody reads any more: no SIGPIPE, and errno says why. */
START_TEST(dead_reader)
{
  int thread, kind;
  for (thread = 0; thread < 2; thread++) {
    for (kind = 0; kind < 2; kind++) {
      struct luam_Prof_options opt = {.buffer = 16384};
      lua_State *L = rec_open();
      int fd[2];
      ck_assert_int_eq(
          kind ? socketpair(AF_UNIX, SOCK_STREAM, 0, fd) : pipe(fd), 0);
      if (thread)
        opt.reserved[LUAM_PROF_THREAD] = LUAM_THREAD(0, 0, 0);
      ck_assert_int_eq(luaM_memprof_tofd(&opt, fd[1]), LUAM_PROFILE_SUCCESS);
      close(fd[1]);
      ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
      close(fd[0]);
      rec_run(L, rec_large);
      errno = 0;
      ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_ERRIO);
      ck_assert_int_eq(errno, EPIPE);
      lua_close(L);
    }
  }
}
END_TEST

/* Accepts one connection at a listening socket, and reads all that comes. */
typedef struct Listener {
  int fd;
  RecStream s;
} Listener;

static void *listener_main(void *arg)
{
  Listener *l = arg;
  char block[4096];
  ssize_t n;
  int fd = accept(l->fd, NULL, NULL);
  while ((n = read(fd, block, sizeof(block))) > 0)
    rec_write(block, (size_t)n, &l->s);
  close(fd);
  return NULL;
}

/* Records to an address at which a socket listens. */
static void record_to(int fd, const char *address, int thread)
{
  struct luam_Prof_options opt = {.buffer = 16384};
  Listener l = {.fd = fd};
  lua_State *L = rec_open();
  int64_t live = rec_live(L);
  pthread_t reader;
  if (thread)
    opt.reserved[LUAM_PROF_THREAD] = LUAM_THREAD(0, 0, 0);
  ck_assert_int_eq(pthread_create(&reader, NULL, listener_main, &l), 0);
  ck_assert_int_eq(luaM_memprof_tosocket(&opt, address), LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  rec_run(L, rec_large);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  pthread_join(reader, NULL);
  rec_checkwhole(&l.s, rec_live(L) - live);
  lua_close(L);
  rec_free(&l.s);
}

START_TEST(sockets)
{
  struct sockaddr_un un = {.sun_family = AF_UNIX};
  struct sockaddr_in in = {.sin_family = AF_INET};
  char dir[] = "/tmp/ljprof-writers-XXXXXX", address[200];
  socklen_t len = sizeof(in);
  int fd, thread;
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(un.sun_path, sizeof(un.sun_path), "%s/s", dir);
  fd = socket(AF_UNIX, SOCK_STREAM, 0);
  ck_assert_int_eq(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
  ck_assert_int_eq(listen(fd, 1), 0);
  snprintf(address, sizeof(address), "unix:%s", un.sun_path);
  for (thread = 0; thread < 2; thread++)
    record_to(fd, address, thread);
  close(fd);
  fd = socket(AF_INET, SOCK_STREAM, 0);
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ck_assert_int_eq(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
  ck_assert_int_eq(listen(fd, 1), 0);
  ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&in, &len), 0);
  snprintf(address, sizeof(address), "tcp:127.0.0.1:%d", ntohs(in.sin_port));
  for (thread = 0; thread < 2; thread++)
    record_to(fd, address, thread);
  close(fd);
  unlink(un.sun_path);
  rmdir(dir);
}
END_TEST

START_TEST(bad_sockets)
{
  static const struct {
    const char *address;
    int status, en;
  } bad[] = {{"/tmp/x", LUAM_PROFILE_ERR, 0},
             {"unix:", LUAM_PROFILE_ERRIO, EINVAL},
             {"unix:/nonexistent/s", LUAM_PROFILE_ERRIO, ENOENT},
             {"tcp:", LUAM_PROFILE_ERRIO, EINVAL},
             {"tcp:127.0.0.1", LUAM_PROFILE_ERRIO, EINVAL},
             {"tcp::80", LUAM_PROFILE_ERRIO, EINVAL},
             {"tcp:127.0.0.1:", LUAM_PROFILE_ERRIO, EINVAL},
             {"tcp:::1:80", LUAM_PROFILE_ERRIO, EINVAL},
             {"tcp:127.0.0.1:1", LUAM_PROFILE_ERRIO, ECONNREFUSED}};
  char name[300] = "unix:/";
  struct luam_Prof_options opt = {.buffer = 16384};
  size_t i;
  for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    errno = 0;
    ck_assert_int_eq(luaM_memprof_tosocket(&opt, bad[i].address),
                     bad[i].status);
    if (bad[i].en)
      ck_assert_int_eq(errno, bad[i].en);
    ck_assert_ptr_null(opt.writer);
  }
  memset(name + 6, 'x', 200); /* Longer than a socket's address. */
  ck_assert_int_eq(luaM_memprof_tosocket(&opt, name), LUAM_PROFILE_ERRIO);
  ck_assert_int_eq(errno, ENAMETOOLONG);
}
END_TEST

int main(void)
{
  const TTest *const tests[] = {memory, files, dead_reader, sockets,
                                bad_sockets};
  return REC_MAIN("own_writers", tests);
}

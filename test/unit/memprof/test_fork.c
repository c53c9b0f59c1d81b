/*
** Heap dumps that a child process writes, by the C API: what the program
** notices of it, what the dump has, and how it ends.
*/

#include "forking.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/ljm_block.h"

/* -- Dumps that can be compared -------------------------------------------- */

/* Changes all that was there, and has most of it freed. */
static const char fork_churn[] =
    "for i = 1, #keep, 2 do keep[i] = i end\n"
    "for i, t in pairs(keep) do\n"
    "  if type(t) == 'table' then\n"
    "    t.name, t[1] = t, {t}\n"
    "  end\n"
    "end\n"
    "collectgarbage() collectgarbage()\n"
    "co, proxy = nil\n"
    "for i = 1, 20000 do keep[i] = {'y' .. i} end\n"
    "collectgarbage()\n";

/* A dump by this process. */
static RecStream fork_dumphere(lua_State *L)
{
  RecStream s = {0};
  struct luam_Prof_options opt = rec_options(&s, 0);
  ck_assert_int_eq(luaM_memprof_dump(L, &opt), LUAM_PROFILE_SUCCESS);
  return s;
}

/*
** Makes two dumps of the same heap, at the same time by a frozen clock, the
** same to the byte: what is unlike in META, the dump's id, goes away, and so
** do checksums, which have to be right. Returns false if one is not.
*/
static bool canonical(RecStream *s)
{
  uint8_t *p, *meta, *end = (uint8_t *)s->p + s->n;
  size_t len;
  if (s->p == NULL)
    return false;
  p = memmem(s->p, s->n, LJM_BLOCK_MAGIC, LJM_BLOCK_CRC);
  if (p == NULL)
    return false;
  meta = p + LJM_BLOCK_HEADER; /* After a TIME. */
  meta += 3 + (meta[1] & 0x7f) + (meta[2] << 7);
  while (p < end) {
    len = ljm_block_length(p);
    if (len > (size_t)(end - p) - LJM_BLOCK_HEADER ||
        !ljm_block_iswhole(p, len))
      return false;
    memset(p + LJM_BLOCK_CRC, 0, 4);
    p += LJM_BLOCK_HEADER + len;
  }
  len = (size_t)(meta[1] & 0x7f) + ((size_t)meta[2] << 7);
  if (meta[0] != LJM_RECORD_BYTE(LJM_REC_META))
    return false;
  memset(meta + 3, 0, len);
  return true;
}

/* A canonical dump by this process. */
static RecStream canonical_here(lua_State *L)
{
  RecStream s = fork_dumphere(L);
  ck_assert(canonical(&s));
  return s;
}

/* True if two canonical dumps are the same. */
static bool is_same(const RecStream *a, const RecStream *b)
{
  return a->n > 10000 && a->n == b->n && memcmp(a->p, b->p, a->n) == 0;
}

/* -- The C API ------------------------------------------------------------- */

/* The child's end of a pair of sockets: it waits there for a byte, once. */
typedef struct Gate {
  int fd;
  int wait;
} Gate;

static size_t gate_write(const void *data, size_t len, void *arg)
{
  Gate *g = arg;
  char byte;
  ssize_t n;
  if (g->wait && read(g->fd, &byte, 1) != 1)
    return 0;
  g->wait = 0;
  n = __real_write(g->fd, data, len);
  return n > 0 ? (size_t)n : 0;
}

typedef struct Forked {
  struct luam_Dump dump;
  int fd; /* This process's end. */
} Forked;

/* Begins a dump, which waits for release(). */
static Forked fork_dump(lua_State *L)
{
  Gate gate = {-1, 1};
  Forked f;
  struct luam_Prof_options opt;
  int pair[2];
  ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  memset(&opt, 0, sizeof(opt));
  memset(&f, 0, sizeof(f));
  f.fd = pair[0];
  gate.fd = pair[1];
  opt.writer = gate_write;
  opt.arg = &gate;
  opt.buffer = 16384;
  opt.reserved[LUAM_PROF_FORK] = 1;
  opt.reserved[LUAM_PROF_FORK_FD] = (uint64_t)gate.fd + 1;
  opt.reserved[LUAM_PROF_FORK_DUMP] = (uint64_t)(uintptr_t)&f.dump;
  ck_assert_int_eq(luaM_memprof_dump(L, &opt), LUAM_PROFILE_SUCCESS);
  close(gate.fd);
  ck_assert_uint_ne(f.dump.id, 0);
  ck_assert_int_gt(f.dump.pid, 0);
  ck_assert_int_eq(f.dump.state, LUAM_DUMP_RUNNING);
  return f;
}

/* Lets the child write, and reads what it does. */
static RecStream release(Forked *f)
{
  RecStream s = {0};
  char buf[4096];
  ssize_t n;
  ck_assert_int_eq(__real_write(f->fd, "x", 1), 1);
  while ((n = read(f->fd, buf, sizeof(buf))) > 0)
    rec_write(buf, (size_t)n, &s);
  close(f->fd);
  return s;
}

/* Waits for the end of a dump. Returns its state. */
static int await(lua_State *L, struct luam_Dump *dump)
{
  do {
    ck_assert_int_eq(luaM_memprof_dumpstatus(L, dump), LUAM_PROFILE_SUCCESS);
    usleep(1000);
  } while (dump->state == LUAM_DUMP_RUNNING);
  return dump->state;
}

START_TEST(moment_of_the_fork)
{
  lua_State *L = fork_vm();
  RecStream here, there;
  Forked f;
  long pid;
  fork_wrap.frozen = 1000;
  here = canonical_here(L);
  f = fork_dump(L);
  pid = f.dump.pid;
  rec_run(L, fork_churn);
  ck_assert_int_eq(luaM_memprof_dumpstatus(L, &f.dump), LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(f.dump.state, LUAM_DUMP_RUNNING);
  there = release(&f);
  ck_assert(canonical(&there));
  ck_assert(is_same(&here, &there));
  ck_assert_int_eq(await(L, &f.dump), LUAM_DUMP_DONE);
  ck_assert_int_eq(f.dump.pid, 0);
  ck_assert_str_eq(f.dump.why, "");
  ck_assert(fork_isgone(pid));
  ck_assert_int_eq(luaM_memprof_dumpstatus(L, &f.dump), LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(f.dump.state, LUAM_DUMP_DONE);
  rec_free(&here);
  here = canonical_here(L);
  ck_assert(!is_same(&here, &there)); /* Else there is nothing to see. */
  rec_free(&here);
  rec_free(&there);
  lua_close(L);
  fork_wrap.frozen = 0; /* The library looks at the clock, too. */
}
END_TEST

START_TEST(while_recording)
{
  lua_State *L = fork_vm();
  RecStream rec = {0}, s;
  struct luam_Prof_options opt = rec_options(&rec, LUAM_PROF_COMPACT);
  int64_t live = rec_live(L);
  Forked f;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  rec_run(L, rec_small);
  f = fork_dump(L);
  rec_run(L, rec_small);
  s = release(&f);
  ck_assert(canonical(&s));
  ck_assert_int_eq(await(L, &f.dump), LUAM_DUMP_DONE);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  ck_assert_uint_eq(rec_books(&rec).dumps, 1);
  rec_checkwhole(&rec, rec_live(L) - live);
  rec_free(&rec);
  rec_free(&s);
  lua_close(L);
}
END_TEST

START_TEST(unnoticed)
{
  lua_State *L = fork_vm();
  Forked f = fork_dump(L);
  RecStream s;
  int status;
  ck_assert(wait(&status) == -1 && errno == ECHILD);
  s = release(&f);
  ck_assert_int_eq(await(L, &f.dump), LUAM_DUMP_DONE);
  ck_assert(wait(&status) == -1 && errno == ECHILD);
  ck_assert_int_eq(fork_sigchlds, 0);
  rec_free(&s);
  lua_close(L);
}
END_TEST

/* A child that has ended is a zombie until the next call of any VM. */
START_TEST(collected_by_the_next_call)
{
  lua_State *L = fork_vm(), *other = fork_vm();
  Forked f = fork_dump(L);
  RecStream s = release(&f);
  siginfo_t info;
  rec_free(&s);
  ck_assert_int_eq(
      waitid(P_PID, (id_t)f.dump.pid, &info, WEXITED | WNOWAIT | __WALL), 0);
  s = fork_dumphere(other);
  rec_free(&s);
  ck_assert(fork_isgone(f.dump.pid));
  lua_close(other);
  lua_close(L);
}
END_TEST

START_TEST(collected_by_lua_close)
{
  lua_State *L = fork_vm(), *other = fork_vm();
  Forked f = fork_dump(L), g = fork_dump(other);
  RecStream s;
  ck_assert_int_eq(__real_write(f.fd, "x", 1), 1);
  shutdown(f.fd, SHUT_RD); /* It fails to write, but ends. */
  lua_close(L);
  ck_assert(fork_isgone(f.dump.pid));
  ck_assert_int_eq(kill((pid_t)g.dump.pid, 0), 0);
  s = release(&g);
  ck_assert_int_eq(await(other, &g.dump), LUAM_DUMP_DONE);
  rec_free(&s);
  close(f.fd);
  lua_close(other);
  ck_assert_int_eq(fork_sigchlds, 0);
}
END_TEST

START_TEST(close_kills_what_hangs)
{
  lua_State *L = fork_vm();
  Forked f = fork_dump(L);
  /* Time enough to lose patience, but not so that the end of what was killed,
  ** which takes real time, is not waited for.
  */
  fork_wrap.frozen = 1000;
  fork_wrap.last = 1010;
  lua_close(L);
  fork_wrap.frozen = 0;
  ck_assert(fork_isgone(f.dump.pid));
  close(f.fd);
}
END_TEST

START_TEST(writer_fails)
{
  lua_State *L = fork_vm();
  Forked f = fork_dump(L);
  close(f.fd);
  ck_assert_int_eq(await(L, &f.dump), LUAM_DUMP_FAILED);
  ck_assert_int_ne(f.dump.en, 0);
  ck_assert_str_ne(f.dump.why, "");
  lua_close(L);
}
END_TEST

/* What the program closes is closed, whatever the child does. */
START_TEST(descriptors)
{
  lua_State *L = fork_vm();
  int fd[2];
  char byte;
  Forked f;
  RecStream s;
  ck_assert_int_eq(pipe(fd), 0);
  f = fork_dump(L);
  close(fd[1]);
  /* The child closes it before it calls the writer for the first time. */
  ck_assert_int_eq(read(fd[0], &byte, 1), 0);
  ck_assert_int_eq(luaM_memprof_dumpstatus(L, &f.dump), LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(f.dump.state, LUAM_DUMP_RUNNING);
  s = release(&f);
  rec_free(&s);
  close(fd[0]);
  lua_close(L);
}
END_TEST

START_TEST(signals)
{
  lua_State *L = fork_vm();
  Forked f = fork_dump(L);
  ck_assert_int_eq(kill((pid_t)f.dump.pid, SIGCHLD), 0);
  ck_assert_int_eq(kill((pid_t)f.dump.pid, SIGINT), 0);
  ck_assert_int_eq(kill((pid_t)f.dump.pid, SIGTERM), 0);
  ck_assert_int_eq(await(L, &f.dump), LUAM_DUMP_FAILED);
  ck_assert_str_eq(f.dump.why, "signal 15 has killed its process");
  ck_assert_int_eq(fork_sigchlds, 0);
  close(f.fd);
  lua_close(L);
}
END_TEST

START_TEST(options)
{
  lua_State *L = fork_vm();
  RecStream s = {0};
  struct luam_Prof_options opt = rec_options(&s, 0);
  struct luam_Dump none;
  size_t i;
  for (i = 0; i < sizeof(opt.reserved) / sizeof(opt.reserved[0]); i++) {
    opt.reserved[i] =
        i == LUAM_PROF_FORK || i == LUAM_PROF_MARKS || i == LUAM_PROF_DURMS
            ? 1001
            : 1;
    ck_assert_int_eq(luaM_memprof_dump(L, &opt), LUAM_PROFILE_ERR);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
    opt.reserved[i] = 0;
  }
  opt.reserved[LUAM_PROF_FORK] = 1;
  opt.reserved[LUAM_PROF_FORK_FD] = (uint64_t)1 << 32;
  ck_assert_int_eq(luaM_memprof_dump(L, &opt), LUAM_PROFILE_ERR);
  memset(&none, 0, sizeof(none));
  none.id = 77;
  ck_assert_int_eq(luaM_memprof_dumpstatus(L, &none), LUAM_PROFILE_ERR);
  ck_assert_int_eq(luaM_memprof_dumpstatus(NULL, &none), LUAM_PROFILE_ERR);
  ck_assert_int_eq(luaM_memprof_dumpstatus(L, NULL), LUAM_PROFILE_ERR);
  /* Nobody asks how it ends. */
  opt.reserved[LUAM_PROF_FORK_FD] = 0;
  ck_assert_int_eq(luaM_memprof_dump(L, &opt), LUAM_PROFILE_SUCCESS);
  ck_assert_uint_eq(s.n, 0);
  lua_close(L);
  ck_assert(waitpid(-1, NULL, __WALL | WNOHANG) == -1 && errno == ECHILD);
}
END_TEST

/* -- Threads --------------------------------------------------------------- */

#ifndef LUAJIT_DISABLE_THREAD_SAFE

#define THREADS 4
#define ROUNDS  8

typedef struct Worker {
  pthread_t thread;
  int id;
  const char *failure;
} Worker;

/* Dumps of a VM that goes on; they have to have it as it was. */
static const char *work(int id)
{
  lua_State *L = fork_vm();
  int i;
  for (i = 0; i < ROUNDS; i++) {
    RecStream here = canonical_here(L), there;
    Forked f = fork_dump(L);
    rec_run(L, fork_churn);
    there = release(&f);
    if (!canonical(&there) || !is_same(&here, &there))
      return "the dump is of another moment";
    rec_free(&here);
    rec_free(&there);
    if ((i + id) % 4 == 3) { /* Some VMs go away before. */
      lua_close(L);
      L = fork_vm();
    } else if (await(L, &f.dump) != LUAM_DUMP_DONE) {
      return "the dump has failed";
    }
  }
  lua_close(L);
  return NULL;
}

static void *worker_main(void *arg)
{
  Worker *w = arg;
  w->failure = work(w->id);
  return NULL;
}

START_TEST(threads)
{
  static Worker workers[THREADS];
  int i;
  fork_wrap.frozen = 1000;
  for (i = 0; i < THREADS; i++) {
    workers[i].id = i;
    ck_assert_int_eq(
        pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]), 0);
  }
  for (i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
  fork_wrap.frozen = 0;
  for (i = 0; i < THREADS; i++) {
    ck_assert_msg(workers[i].failure == NULL, "thread %d: %s", i,
                  workers[i].failure);
  }
  ck_assert(waitpid(-1, NULL, __WALL | WNOHANG) == -1 && errno == ECHILD);
  ck_assert_int_eq(fork_sigchlds, 0);
}
END_TEST

#endif

int main(void)
{
  const TTest *tests[] = {moment_of_the_fork,
                          while_recording,
                          unnoticed,
                          collected_by_the_next_call,
                          collected_by_lua_close,
                          close_kills_what_hangs,
                          writer_fails,
                          descriptors,
                          signals,
#ifndef LUAJIT_DISABLE_THREAD_SAFE
                          threads,
#endif
                          options};
  rec_setup = fork_setup;
  rec_teardown = fork_teardown;
  return REC_MAIN("fork", tests);
}

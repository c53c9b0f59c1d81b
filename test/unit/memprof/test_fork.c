/*
** Heap dumps that a child process writes: what the program notices of it, what
** the dump has, and how it ends. The C library's write(), renameat() and
** clock_gettime() can be told what to do, by --wrap.
*/

#include "rec.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lj_headroom.h"
#include "lj_obj.h"

#include "format/ljm_block.h"

/* -- What is wrapped ------------------------------------------------------- */

/* How calls go in processes other than the test's own. */
static struct {
  long parent;     /* The test's own. */
  int hangwrite;   /* write() never returns. */
  int hangkeep;    /* renameat() to FILE.old never returns. */
  int nospace;     /* The write() of so many that finds no space, or 0. */
  int writes;      /* So far. */
  uint64_t frozen; /* What time it is, in seconds, or 0. */
  uint64_t last;   /* Each look at it is a second later, up to this one. */
} wrap;

static volatile long *wrap_hanging; /* The child that hangs, or 0; shared. */

ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
int __real_renameat(int dir, const char *from, int todir, const char *to);
int __wrap_renameat(int dir, const char *from, int todir, const char *to);
int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);

static void hang(void)
{
  *wrap_hanging = (long)getpid();
  for (;;)
    pause();
}

ssize_t __wrap_write(int fd, const void *p, size_t n)
{
  /* What is shorter than a prologue is not of the dump. */
  if (wrap.parent != 0 && wrap.parent != (long)getpid() && n > 8) {
    if (wrap.hangwrite)
      hang();
    if (wrap.nospace != 0 && ++wrap.writes >= wrap.nospace) {
      errno = ENOSPC;
      return -1;
    }
  }
  return __real_write(fd, p, n);
}

int __wrap_renameat(int dir, const char *from, int todir, const char *to)
{
  size_t len = strlen(to);
  if (wrap.hangkeep && wrap.parent != (long)getpid() && len > 4 &&
      strcmp(to + len - 4, ".old") == 0)
    hang();
  return __real_renameat(dir, from, todir, to);
}

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
  if (wrap.frozen == 0)
    return __real_clock_gettime(id, ts);
  if (wrap.frozen < wrap.last)
    wrap.frozen++;
  ts->tv_sec = (time_t)wrap.frozen;
  ts->tv_nsec = 0;
  return 0;
}

/* -- Fixtures -------------------------------------------------------------- */

static char dir[64];
static volatile sig_atomic_t sigchlds;

static void on_sigchld(int signo)
{
  (void)signo;
  sigchlds++;
}

static void setup(void)
{
  struct sigaction sa;
  memset(&wrap, 0, sizeof(wrap));
  wrap.parent = (long)getpid();
  wrap_hanging = mmap(NULL, sizeof(*wrap_hanging), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ck_assert(wrap_hanging != MAP_FAILED);
  strcpy(dir, "/tmp/ljprof-fork-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  sigchlds = 0;
  memset(&sa, 0, sizeof(sa));
  sa.sa_handler = on_sigchld;
  sigaction(SIGCHLD, &sa, NULL);
}

static const char *file(const char *name)
{
  static char path[4][128];
  static unsigned n;
  char *to = path[n++ % 4];
  snprintf(to, sizeof(path[0]), "%s/%s", dir, name);
  return to;
}

/* The names in the directory, sorted. */
static const char *names(void)
{
  static char text[512];
  char command[128];
  FILE *p;
  size_t n;
  struct sigaction old, ignore;
  memset(&ignore, 0, sizeof(ignore));
  ignore.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &ignore, &old); /* The shell's is not counted. */
  snprintf(command, sizeof(command), "ls -A %s | tr '\\n' ' '", dir);
  p = popen(command, "r");
  n = fread(text, 1, sizeof(text) - 1, p);
  pclose(p);
  sigaction(SIGCHLD, &old, NULL);
  text[n] = '\0';
  return text;
}

static void teardown(void)
{
  char command[128];
  snprintf(command, sizeof(command), "rm -rf %s", dir);
  ck_assert_int_eq(system(command), 0);
}

static void put(const char *path, const char *text)
{
  FILE *f = fopen(path, "wb");
  ck_assert_ptr_nonnull(f);
  fputs(text, f);
  ck_assert_int_eq(fclose(f), 0);
}

static RecStream get(const char *path)
{
  RecStream s = {0};
  char buf[4096];
  FILE *f = fopen(path, "rb");
  size_t n;
  ck_assert_msg(f != NULL, "%s cannot be read", path);
  while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
    rec_write(buf, n, &s);
  fclose(f);
  return s;
}

/* A VM with a heap of all types of objects. */
static lua_State *vm(void)
{
  lua_State *L = rec_open();
  rec_run(L, "keep, weak = {}, setmetatable({}, {__mode = 'k'})\n"
             "for i = 1, 3000 do\n"
             "  local t = {i, name = 'n' .. i}\n"
             "  keep[i] = t\n"
             "  weak[t] = function() return t end\n"
             "end\n"
             "proxy = newproxy(true)\n"
             "co = coroutine.create(function(a) local b = {a}\n"
             "  coroutine.yield(b) end)\n"
             "coroutine.resume(co, 'x')\n");
  return L;
}

/* Changes all that was there, and has most of it freed. */
static const char vm_churn[] = "for i = 1, #keep, 2 do keep[i] = i end\n"
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
static RecStream dump_here(lua_State *L)
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
  RecStream s = dump_here(L);
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

/* True if there is no such child, not even one that waits to be collected. */
static int is_gone(long pid)
{
  return waitpid((pid_t)pid, NULL, __WALL | WNOHANG) == -1 && errno == ECHILD;
}

START_TEST(moment_of_the_fork)
{
  lua_State *L = vm();
  RecStream here, there;
  Forked f;
  long pid;
  wrap.frozen = 1000;
  here = canonical_here(L);
  f = fork_dump(L);
  pid = f.dump.pid;
  rec_run(L, vm_churn);
  ck_assert_int_eq(luaM_memprof_dumpstatus(L, &f.dump), LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(f.dump.state, LUAM_DUMP_RUNNING);
  there = release(&f);
  ck_assert(canonical(&there));
  ck_assert(is_same(&here, &there));
  ck_assert_int_eq(await(L, &f.dump), LUAM_DUMP_DONE);
  ck_assert_int_eq(f.dump.pid, 0);
  ck_assert_str_eq(f.dump.why, "");
  ck_assert(is_gone(pid));
  ck_assert_int_eq(luaM_memprof_dumpstatus(L, &f.dump), LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(f.dump.state, LUAM_DUMP_DONE);
  rec_free(&here);
  here = canonical_here(L);
  ck_assert(!is_same(&here, &there)); /* Else there is nothing to see. */
  rec_free(&here);
  rec_free(&there);
  lua_close(L);
  wrap.frozen = 0; /* The library looks at the clock, too. */
}
END_TEST

START_TEST(while_recording)
{
  lua_State *L = vm();
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
  lua_State *L = vm();
  Forked f = fork_dump(L);
  RecStream s;
  int status;
  ck_assert(wait(&status) == -1 && errno == ECHILD);
  s = release(&f);
  ck_assert_int_eq(await(L, &f.dump), LUAM_DUMP_DONE);
  ck_assert(wait(&status) == -1 && errno == ECHILD);
  ck_assert_int_eq(sigchlds, 0);
  rec_free(&s);
  lua_close(L);
}
END_TEST

/* A child that has ended is a zombie until the next call of any VM. */
START_TEST(collected_by_the_next_call)
{
  lua_State *L = vm(), *other = vm();
  Forked f = fork_dump(L);
  RecStream s = release(&f);
  siginfo_t info;
  rec_free(&s);
  ck_assert_int_eq(
      waitid(P_PID, (id_t)f.dump.pid, &info, WEXITED | WNOWAIT | __WALL), 0);
  s = dump_here(other);
  rec_free(&s);
  ck_assert(is_gone(f.dump.pid));
  lua_close(other);
  lua_close(L);
}
END_TEST

START_TEST(collected_by_lua_close)
{
  lua_State *L = vm(), *other = vm();
  Forked f = fork_dump(L), g = fork_dump(other);
  RecStream s;
  ck_assert_int_eq(__real_write(f.fd, "x", 1), 1);
  shutdown(f.fd, SHUT_RD); /* It fails to write, but ends. */
  lua_close(L);
  ck_assert(is_gone(f.dump.pid));
  ck_assert_int_eq(kill((pid_t)g.dump.pid, 0), 0);
  s = release(&g);
  ck_assert_int_eq(await(other, &g.dump), LUAM_DUMP_DONE);
  rec_free(&s);
  close(f.fd);
  lua_close(other);
  ck_assert_int_eq(sigchlds, 0);
}
END_TEST

START_TEST(close_kills_what_hangs)
{
  lua_State *L = vm();
  Forked f = fork_dump(L);
  /* Time enough to lose patience, but not so that the end of what was killed,
  ** which takes real time, is not waited for.
  */
  wrap.frozen = 1000;
  wrap.last = 1010;
  lua_close(L);
  wrap.frozen = 0;
  ck_assert(is_gone(f.dump.pid));
  close(f.fd);
}
END_TEST

START_TEST(writer_fails)
{
  lua_State *L = vm();
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
  lua_State *L = vm();
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
  lua_State *L = vm();
  Forked f = fork_dump(L);
  ck_assert_int_eq(kill((pid_t)f.dump.pid, SIGCHLD), 0);
  ck_assert_int_eq(kill((pid_t)f.dump.pid, SIGINT), 0);
  ck_assert_int_eq(kill((pid_t)f.dump.pid, SIGTERM), 0);
  ck_assert_int_eq(await(L, &f.dump), LUAM_DUMP_FAILED);
  ck_assert_str_eq(f.dump.why, "signal 15 has killed its process");
  ck_assert_int_eq(sigchlds, 0);
  close(f.fd);
  lua_close(L);
}
END_TEST

START_TEST(options)
{
  lua_State *L = vm();
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

/* -- Files ----------------------------------------------------------------- */

/* Calls dump(NAME, {fork = true}), whose results are a, b, c. */
static void dump_to(lua_State *L, const char *name)
{
  lua_pushstring(L, name);
  lua_setglobal(L, "fname");
  rec_run(L, "a, b, c = misc.memprof.dump(fname, {fork = true})");
}

/* A global as a string, or "nil". */
static const char *global(lua_State *L, const char *name)
{
  const char *s;
  lua_getglobal(L, name);
  s = lua_isnil(L, -1) ? "nil" : lua_tostring(L, -1);
  lua_pop(L, 1);
  return s ? s : lua_typename(L, lua_type(L, -1));
}

/* Calls a:status(), whose results are x, y, z, until that is not "running". */
static const char *await_lua(lua_State *L)
{
  do {
    usleep(1000);
    rec_run(L, "x, y, z = a:status()");
  } while (strcmp(global(L, "x"), "running") == 0);
  return global(L, "x");
}

/* Waits until a child hangs. Returns it. */
static long await_hanging(void)
{
  int ms;
  for (ms = 0; ms < 60000 && *wrap_hanging == 0; ms++)
    usleep(1000);
  ck_assert_msg(*wrap_hanging != 0, "the child has not come that far");
  return *wrap_hanging;
}

START_TEST(named_when_whole)
{
  lua_State *L = vm();
  struct stat st;
  RecStream s;
  put(file("a.ljd"), "old");
  dump_to(L, file("a.ljd"));
  ck_assert_str_eq(await_lua(L), "done");
  ck_assert_str_eq(await_lua(L), "done");
  ck_assert_str_eq(names(), "a.ljd a.ljd.old ");
  ck_assert_int_eq(stat(file("a.ljd"), &st), 0);
  ck_assert_int_eq(st.st_mode & 0777, 0600);
  s = get(file("a.ljd"));
  ck_assert_uint_gt(s.n, 10000);
  ck_assert_int_eq(memcmp(s.p, "ljs\x10", 4), 0);
  rec_free(&s);
  s = get(file("a.ljd.old"));
  ck_assert(s.n == 3 && memcmp(s.p, "old", 3) == 0);
  rec_free(&s);
  ck_assert_int_eq(sigchlds, 0);
  lua_close(L);
}
END_TEST

START_TEST(killed)
{
  lua_State *L = vm();
  RecStream s;
  long pid;
  put(file("a.ljd"), "old");
  wrap.hangwrite = 1;
  dump_to(L, file("a.ljd"));
  pid = await_hanging();
  ck_assert_ptr_nonnull(strstr(names(), ".tmp "));
  rec_run(L, "x = a:status()");
  ck_assert_str_eq(global(L, "x"), "running");
  kill((pid_t)pid, SIGKILL);
  ck_assert_str_eq(await_lua(L), "nil");
  ck_assert_ptr_nonnull(
      strstr(global(L, "y"), "a.ljd: signal 9 has killed its process"));
  ck_assert_str_eq(names(), "a.ljd ");
  s = get(file("a.ljd"));
  ck_assert(s.n == 3 && memcmp(s.p, "old", 3) == 0);
  rec_free(&s);
  ck_assert(is_gone(pid));
  ck_assert_int_eq(sigchlds, 0);
  lua_close(L);
}
END_TEST

/* Nobody asks: the temporary file goes away all the same. */
START_TEST(killed_and_forgotten)
{
  lua_State *L = vm();
  wrap.hangwrite = 1;
  dump_to(L, file("a.ljd"));
  kill((pid_t)await_hanging(), SIGKILL);
  rec_run(L, "a = nil collectgarbage() collectgarbage()");
  lua_close(L);
  ck_assert_str_eq(names(), "");
}
END_TEST

/* Killed between two renames: the dump was whole, and both files are kept. */
START_TEST(killed_while_renaming)
{
  lua_State *L = vm();
  RecStream s;
  put(file("a.ljd"), "old");
  wrap.hangkeep = 1;
  dump_to(L, file("a.ljd"));
  kill((pid_t)await_hanging(), SIGKILL);
  wrap.hangkeep = 0;
  ck_assert_str_eq(await_lua(L), "done");
  ck_assert_str_eq(names(), "a.ljd a.ljd.old ");
  s = get(file("a.ljd.old"));
  ck_assert(s.n == 3 && memcmp(s.p, "old", 3) == 0);
  rec_free(&s);
  s = get(file("a.ljd"));
  ck_assert_uint_gt(s.n, 10000);
  rec_free(&s);
  lua_close(L);
}
END_TEST

START_TEST(no_space)
{
  lua_State *L = vm();
  put(file("a.ljd"), "old");
  wrap.nospace = 2;
  dump_to(L, file("a.ljd"));
  ck_assert_str_eq(await_lua(L), "nil");
  ck_assert_ptr_nonnull(
      strstr(global(L, "y"), "a.ljd: No space left on device"));
  ck_assert_int_eq(strtol(global(L, "z"), NULL, 10), ENOSPC);
  ck_assert_str_eq(names(), "a.ljd ");
  wrap.nospace = 0;
  dump_to(L, "/dev/full");
  ck_assert_str_eq(await_lua(L), "nil");
  ck_assert_str_eq(global(L, "y"), "/dev/full: No space left on device");
  lua_close(L);
}
END_TEST

START_TEST(lua_arguments)
{
  lua_State *L = vm();
  rec_run(L, "local d = misc.memprof.dump\n"
             "assert(not pcall(d, 'x', {fork = 1}))\n"
             "assert(not pcall(d, 'x', {fork = true, spoon = 1}))\n"
             "assert(not pcall(d, nil, {fork = true}))\n"
             "local a, b, c = d('/nowhere/x', {fork = true})\n"
             "assert(a == false and b:find('/nowhere/x: ') and c == 2)\n"
             "local h = d('/dev/null', {fork = true, strings = 0})\n"
             "assert(not pcall(h.status)) assert(not pcall(h.status, {}))\n"
             "assert(not pcall(h.status, newproxy(true)))\n"
             "assert(d('/dev/null', {fork = false}) == true)\n");
  lua_close(L);
}
END_TEST

/* fork() by the program: the dump stays the parent's. */
START_TEST(forked_program)
{
  lua_State *L = vm();
  struct luam_Dump unknown;
  long pid;
  pid_t child;
  int status;
  wrap.hangwrite = 1;
  dump_to(L, file("a.ljd"));
  pid = await_hanging();
  child = fork();
  if (child == 0) {
    wrap.hangwrite = 0;
    if (luaL_dostring(L, "local x, y = a:status()\n"
                         "assert(x == nil and y:find('another process'))"))
      _exit(1);
    lua_close(L);
    _exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  ck_assert_ptr_nonnull(strstr(names(), ".tmp "));
  rec_run(L, "x = a:status()");
  ck_assert_str_eq(global(L, "x"), "running");
  kill((pid_t)pid, SIGKILL);
  ck_assert_str_eq(await_lua(L), "nil");
  ck_assert_str_eq(names(), "");
  memset(&unknown, 0, sizeof(unknown));
  ck_assert_int_eq(luaM_memprof_dumpstatus(L, &unknown), LUAM_PROFILE_ERR);
  lua_close(L);
}
END_TEST

/* -- Refusals -------------------------------------------------------------- */

START_TEST(too_little_memory)
{
  lua_State *L = vm();
  GCSize total;
  put(file("a.ljd"), "old");
#if !LJ_GC64 && !defined(REC_AMALG)
  if (lj_headroom_has("", (uint64_t)0xf0000000, (char[200]){0}, 200)) {
    lua_close(L); /* A count of 32 bits cannot be too large. */
    return;
  }
#endif
  luaL_loadstring(L, "a, b, c = misc.memprof.dump(fname, {fork = true})");
  lua_pushstring(L, file("a.ljd"));
  lua_setglobal(L, "fname");
  lua_gc(L, LUA_GCSTOP, 0);
  total = G(L)->gc.total;
  G(L)->gc.total =
      LJ_GC64 ? total + ((GCSize)1 << (LJ_GC64 ? 50 : 0)) : (GCSize)0xf0000000;
  lua_call(L, 0, 0);
  G(L)->gc.total -=
      LJ_GC64 ? (GCSize)1 << (LJ_GC64 ? 50 : 0) : (GCSize)0xf0000000 - total;
  rec_run(L, "a = tostring(a)");
  ck_assert_str_eq(global(L, "a"), "false");
  ck_assert_ptr_nonnull(strstr(global(L, "b"), "a.ljd: a fork may take "));
  ck_assert_int_eq(strtol(global(L, "c"), NULL, 10), ENOMEM);
  ck_assert_str_eq(names(), "a.ljd ");
  lua_close(L);
}
END_TEST

/* No recording has a record of a dump that could not begin. */
START_TEST(too_many_processes)
{
  struct rlimit one = {1, 1};
  int status;
  pid_t child;
  child = fork();
  /* The limit is no limit for root, who else comes back for the decoder. */
  if (child == 0) {
    bool root = geteuid() == 0;
    lua_State *L = vm();
    RecStream s = {0};
    struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
    if (setrlimit(RLIMIT_NPROC, &one) != 0 ||
        (root && setresuid(65534, 65534, 0) != 0))
      _exit(77);
    if (luaM_memprof_start(L, &opt) != LUAM_PROFILE_SUCCESS ||
        luaL_dostring(
            L, "local a, b, c = misc.memprof.dump('/dev/null', {fork = true})\n"
               "assert(a == false and c == 11)\n"
               "assert(b:find('/dev/null: no further process can be made'))"))
      _exit(1);
    lua_close(L);
    if (root && setresuid(0, 0, 0) != 0)
      _exit(3);
    if (!rec_books(&s).whole || rec_books(&s).dumps != 0)
      _exit(2);
    _exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status));
  ck_assert(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
}
END_TEST

/* Takes nothing after so many calls. */
typedef struct Failing {
  unsigned calls, most;
} Failing;

static size_t failing_write(const void *data, size_t len, void *arg)
{
  Failing *f = arg;
  (void)data;
  return f->calls++ < f->most ? len : 0;
}

/* How often a dump looks at the time: for each block, and for its end. */
static unsigned looks_of(lua_State *L, unsigned most, int expected)
{
  Failing f = {0, most};
  struct luam_Prof_options opt;
  unsigned looks;
  memset(&opt, 0, sizeof(opt));
  opt.writer = failing_write;
  opt.arg = &f;
  opt.buffer = LJM_BLOCK_MIN;
  wrap.frozen = 1000;
  wrap.last = ~(uint64_t)0;
  ck_assert_int_eq(luaM_memprof_dump(L, &opt), expected);
  looks = (unsigned)(wrap.frozen - 1000);
  wrap.frozen = 0;
  return looks;
}

/* What has failed does not walk on over what is left of the heap. */
START_TEST(fails_at_once)
{
  static const char *const heaps[] = {
      "keep = {} for i = 1, 60000 do keep[i] = {i} end",
      "keep = {} for i = 1, 60000 do keep['k' .. i] = keep end",
      "keep = {} for i = 1, 60000 do keep[i] = 'string ' .. i end",
      "jit.off() keep = {} local u = {}\n"
      "local function f(n)\n"
      "  local a_name_of_a_variable_that_is_long_enough_to_fill_blocks = u\n"
      "  local another_name_that_is_long_enough_to_fill_a_few_blocks = u\n"
      "  if n > 0 then return 1 + f(n - 1) end\n"
      "  coroutine.yield() return u end\n"
      "co = coroutine.create(f) assert(coroutine.resume(co, 9000))\n"};
  size_t i;
  for (i = 0; i < sizeof(heaps) / sizeof(heaps[0]); i++) {
    lua_State *L = rec_open();
    unsigned most, whole;
    rec_run(L, heaps[i]);
    whole = looks_of(L, ~0u, LUAM_PROFILE_SUCCESS);
    ck_assert_msg(whole > 16, "heap %zu: %u looks", i, whole);
    for (most = 0; most < whole - 8; most++) {
      unsigned looks = looks_of(L, most, LUAM_PROFILE_ERRIO);
      ck_assert_msg(looks <= most + 6, "heap %zu: %u looks after %u writes", i,
                    looks, most);
    }
    lua_close(L);
  }
}
END_TEST

#ifndef REC_AMALG

/* Makes a file below the directory, with the directories above it. */
static void fake(const char *path, const char *text)
{
  char command[256];
  snprintf(command, sizeof(command), "mkdir -p $(dirname %s)", file(path));
  ck_assert_int_eq(system(command), 0);
  put(file(path), text);
}

#define MIB ((uint64_t)1 << 20)

/* Checks that so many MiB are left, by the words for one more. */
static void check_left(uint64_t mib, const char *of)
{
  char why[200] = "", expected[200];
  ck_assert_msg(lj_headroom_has(dir, mib * MIB, why, sizeof(why)), "%s", why);
  ck_assert(!lj_headroom_has(dir, mib * MIB + 1, why, sizeof(why)));
  snprintf(expected, sizeof(expected),
           "a fork may take %u MiB more, and %u MiB are left of %s",
           (unsigned)mib + 1, (unsigned)mib, of);
  ck_assert_str_eq(why, expected);
}

START_TEST(headroom)
{
  char why[200];
  /* What cannot be read is no limit. */
  ck_assert(lj_headroom_has(dir, ~(uint64_t)0, why, sizeof(why)));
  fake("proc/meminfo", "MemTotal: 1 kB\nMemAvailable:    102400 kB\n");
  check_left(100, "the system's memory");
  fake("proc/self/cgroup", "1:name=systemd:/x\n0::/a/b\n");
  check_left(100, "the system's memory");
  fake("sys/fs/cgroup/a/b/memory.max", "max\n");
  fake("sys/fs/cgroup/a/b/memory.current", "12345\n");
  check_left(100, "the system's memory");
  fake("sys/fs/cgroup/a/memory.max", "83886080\n"); /* 80 MiB */
  fake("sys/fs/cgroup/a/memory.current", "20971520\n");
  check_left(60, "the cgroup's limit");
  fake("sys/fs/cgroup/a/memory.stat",
       "anon 1\nactive_file 7340032\ninactive_file 10485760\n");
  check_left(70, "the cgroup's limit");
  fake("sys/fs/cgroup/memory.max", "31457280\n");
  fake("sys/fs/cgroup/memory.current", "31457281\n");
  check_left(0, "the cgroup's limit");
  fake("sys/fs/cgroup/memory.max", "max\n");
  fake("proc/self/cgroup", "9:memoryx:/v\n4:cpu,memory:/v\n0::/none\n");
  check_left(100, "the system's memory");
  fake("sys/fs/cgroup/memory/v/memory.limit_in_bytes", "62914560\n");
  fake("sys/fs/cgroup/memory/v/memory.usage_in_bytes", "52428800\n");
  fake("sys/fs/cgroup/memory/v/memory.stat", "total_inactive_file 5242880\n");
  check_left(15, "the cgroup's limit");
  /* Broken files are no limit. */
  fake("proc/self/cgroup", "no colon");
  check_left(100, "the system's memory");
  fake("proc/meminfo", "MemFree: 1 kB\n");
  ck_assert(lj_headroom_has(dir, ~(uint64_t)0, why, sizeof(why)));
}
END_TEST

#endif

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
  lua_State *L = vm();
  int i;
  for (i = 0; i < ROUNDS; i++) {
    RecStream here = canonical_here(L), there;
    Forked f = fork_dump(L);
    rec_run(L, vm_churn);
    there = release(&f);
    if (!canonical(&there) || !is_same(&here, &there))
      return "the dump is of another moment";
    rec_free(&here);
    rec_free(&there);
    if ((i + id) % 4 == 3) { /* Some VMs go away before. */
      lua_close(L);
      L = vm();
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
  wrap.frozen = 1000;
  for (i = 0; i < THREADS; i++) {
    workers[i].id = i;
    ck_assert_int_eq(
        pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]), 0);
  }
  for (i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
  wrap.frozen = 0;
  for (i = 0; i < THREADS; i++) {
    ck_assert_msg(workers[i].failure == NULL, "thread %d: %s", i,
                  workers[i].failure);
  }
  ck_assert(waitpid(-1, NULL, __WALL | WNOHANG) == -1 && errno == ECHILD);
  ck_assert_int_eq(sigchlds, 0);
}
END_TEST

#endif

int main(void)
{
  const TTest *tests[] = {moment_of_the_fork,
                          while_recording,
                          fails_at_once,
                          unnoticed,
                          collected_by_the_next_call,
                          collected_by_lua_close,
                          close_kills_what_hangs,
                          writer_fails,
                          descriptors,
                          signals,
                          options,
                          named_when_whole,
                          killed,
                          killed_and_forgotten,
                          killed_while_renaming,
                          no_space,
                          lua_arguments,
                          forked_program,
                          too_little_memory,
#ifndef REC_AMALG
                          headroom,
#endif
#ifndef LUAJIT_DISABLE_THREAD_SAFE
                          threads,
#endif
                          too_many_processes};
  rec_setup = setup;
  rec_teardown = teardown;
  return REC_MAIN("fork", tests);
}

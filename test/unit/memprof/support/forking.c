/*
** What tests of dumps by a child process share.
*/

#include "forking.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* -- What is wrapped ------------------------------------------------------- */

ForkWrap fork_wrap;
volatile long *fork_hanging;

ssize_t __wrap_write(int fd, const void *p, size_t n);
int __real_renameat(int dir, const char *from, int todir, const char *to);
int __wrap_renameat(int dir, const char *from, int todir, const char *to);
int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

static void hang(void)
{
  *fork_hanging = (long)getpid();
  for (;;)
    pause();
}

ssize_t __wrap_write(int fd, const void *p, size_t n)
{
  /* What is shorter than a prologue is not of the dump. */
  if (fork_wrap.parent != 0 && fork_wrap.parent != (long)getpid() && n > 8) {
    if (fork_wrap.hangwrite)
      hang();
    if (fork_wrap.nospace != 0 && ++fork_wrap.writes >= fork_wrap.nospace) {
      errno = ENOSPC;
      return -1;
    }
  }
  return __real_write(fd, p, n);
}

int __wrap_renameat(int dir, const char *from, int todir, const char *to)
{
  size_t len = strlen(to);
  if (fork_wrap.hangkeep && fork_wrap.parent != (long)getpid() && len > 4 &&
      strcmp(to + len - 4, ".old") == 0)
    hang();
  return __real_renameat(dir, from, todir, to);
}

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
  if (fork_wrap.frozen == 0)
    return __real_clock_gettime(id, ts);
  if (fork_wrap.frozen < fork_wrap.last)
    fork_wrap.frozen++;
  ts->tv_sec = (time_t)fork_wrap.frozen;
  ts->tv_nsec = 0;
  return 0;
}

/* True if a file tells another thing each time, while the clock is frozen. */
static bool is_hidden(const char *path)
{
  if (fork_wrap.frozen == 0)
    return false;
  errno = ENOENT;
  return strcmp(path, "/proc/self/smaps_rollup") == 0 ||
         strcmp(path, "/proc/self/pagemap") == 0;
}

/* The mode is there only of a file that is made; else it is not looked at. */
int __wrap_open(const char *path, int flags, ...)
{
  va_list ap;
  mode_t mode;
  va_start(ap, flags);
  mode = va_arg(ap, mode_t);
  va_end(ap);
  return is_hidden(path) ? -1 : __real_open(path, flags, mode);
}

int __wrap_open64(const char *path, int flags, ...)
{
  va_list ap;
  mode_t mode;
  va_start(ap, flags);
  mode = va_arg(ap, mode_t);
  va_end(ap);
  return is_hidden(path) ? -1 : __real_open64(path, flags, mode);
}

/* -- Fixtures -------------------------------------------------------------- */

char fork_dir[64];
volatile sig_atomic_t fork_sigchlds;

static void on_sigchld(int signo)
{
  (void)signo;
  fork_sigchlds++;
}

void fork_setup(void)
{
  struct sigaction sa;
  memset(&fork_wrap, 0, sizeof(fork_wrap));
  fork_wrap.parent = (long)getpid();
  fork_hanging = mmap(NULL, sizeof(*fork_hanging), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ck_assert(fork_hanging != MAP_FAILED);
  strcpy(fork_dir, "/tmp/ljprof-fork-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(fork_dir));
  fork_sigchlds = 0;
  memset(&sa, 0, sizeof(sa));
  sa.sa_handler = on_sigchld;
  sigaction(SIGCHLD, &sa, NULL);
}

const char *fork_file(const char *name)
{
  static char path[4][128];
  static unsigned n;
  char *to = path[n++ % 4];
  snprintf(to, sizeof(path[0]), "%s/%s", fork_dir, name);
  return to;
}

const char *fork_names(void)
{
  static char text[512];
  char command[128];
  FILE *p;
  size_t n;
  struct sigaction old, ignore;
  memset(&ignore, 0, sizeof(ignore));
  ignore.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &ignore, &old); /* The shell's is not counted. */
  snprintf(command, sizeof(command), "ls -A %s | tr '\\n' ' '", fork_dir);
  p = popen(command, "r");
  n = fread(text, 1, sizeof(text) - 1, p);
  pclose(p);
  sigaction(SIGCHLD, &old, NULL);
  text[n] = '\0';
  return text;
}

void fork_teardown(void)
{
  char command[128];
  snprintf(command, sizeof(command), "rm -rf %s", fork_dir);
  ck_assert_int_eq(system(command), 0);
}

void fork_put(const char *path, const char *text)
{
  FILE *f = fopen(path, "wb");
  ck_assert_ptr_nonnull(f);
  fputs(text, f);
  ck_assert_int_eq(fclose(f), 0);
}

/* -- Dumps ----------------------------------------------------------------- */

lua_State *fork_vm(void)
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

void fork_dumpto(lua_State *L, const char *name)
{
  lua_pushstring(L, name);
  lua_setglobal(L, "fname");
  rec_run(L, "a, b, c = misc.memprof.dump(fname, {fork = true})");
}

const char *fork_global(lua_State *L, const char *name)
{
  const char *s;
  lua_getglobal(L, name);
  s = lua_isnil(L, -1) ? "nil" : lua_tostring(L, -1);
  lua_pop(L, 1);
  return s ? s : lua_typename(L, lua_type(L, -1));
}

int fork_isgone(long pid)
{
  return waitpid((pid_t)pid, NULL, __WALL | WNOHANG) == -1 && errno == ECHILD;
}

long fork_awaithanging(void)
{
  int ms;
  for (ms = 0; ms < 60000 && *fork_hanging == 0; ms++)
    usleep(1000);
  ck_assert_msg(*fork_hanging != 0, "the child has not come that far");
  return *fork_hanging;
}

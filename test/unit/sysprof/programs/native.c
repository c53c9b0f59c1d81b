/*
** A C program with all kinds of frames, to be unwound. It asks for files
*"mark:"
** to be removed where it is worth while to look.
*/

#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* All that a checker of code does not like to see is what this is for. */
/* NOLINTBEGIN(misc-no-recursion,clang-analyzer-core.*) */

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile int sink;
static sigjmp_buf back;

static NOINLINE void mark(const char *name)
{
  char path[64];
  snprintf(path, sizeof(path), "mark:%s", name);
  unlink(path);
}

/* -- Frames --------------------------------------------------------------- */

static NOINLINE int recurse(int n, int a, int b)
{
  if (n == 0) {
    mark("recursion");
    return a;
  }
  return recurse(n - 1, b, a) * 2 + n;
}

static NOINLINE int use_alloca(int n)
{
  char *p = alloca((size_t)n * 24);
  memset(p, n, (size_t)n * 24);
  if (n == 5)
    mark("alloca");
  return n ? use_alloca(n - 1) + p[n] : 1;
}

/* A frame that is larger than what one instruction may count. */
static NOINLINE int large(int n)
{
  volatile char room[70000];
  room[n] = (char)n;
  if (n == 0)
    mark("large");
  return n ? large(n - 1) + room[n] : 1;
}

/* The stack is realigned, and moves besides. */
static NOINLINE __attribute__((force_align_arg_pointer)) int realigned(int n)
{
  _Alignas(64) volatile char room[128];
  char *p = alloca((size_t)n * 40 + 1);
  memset(p, n, (size_t)n * 40 + 1);
  room[n] = p[0];
  if (n == 3)
    mark("realigned");
  return n < 3 ? realigned(n + 1) + room[n] : 1;
}

/* -- Others call us ------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
  const int *x = a, *y = b;
  if (*x == 3 && *y == 1)
    mark("callback");
  return (*x > *y) - (*x < *y);
}

static void on_signal(int sig)
{
  sink += sig;
  mark(sig == SIGSEGV ? "altstack" : "signal");
  if (sig == SIGSEGV)
    siglongjmp(back, 1);
}

static NOINLINE int signals(int n)
{
  static char stack[65536];
  stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)};
  struct sigaction sa = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &sa, NULL);
  sigaltstack(&ss, NULL);
  sa.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &sa, NULL);
  raise(SIGUSR1);
  if (sigsetjmp(back, 1) == 0)
    *(volatile int *)(uintptr_t)(n & 0) = 1;
  return n;
}

/* -- Libraries ------------------------------------------------------------ */

/* Functions that are bound when they are first called; and the kernel's. */
static NOINLINE int libraries(int n)
{
  struct timespec ts;
  char text[64];
  double x;
  mark("libraries");
  snprintf(text, sizeof(text), "%d %g", n, n / 3.0);
  x = strtod(text, NULL);
  clock_gettime(CLOCK_MONOTONIC, &ts);
  sink += time(NULL) > 0;
  qsort(text, strlen(text), 1, (int (*)(const void *, const void *))strcmp);
  free(strdup(getenv("PATH") ? getenv("PATH") : text));
  return (int)x + (int)ts.tv_nsec;
}

int main(int argc, char **argv)
{
  int v[] = {3, 1, 2, 5, 4};
  sink += recurse(argc > 1 ? atoi(argv[1]) : 30, 1, 2);
  sink += use_alloca(8);
  sink += large(2);
  sink += realigned(0);
  qsort(v, 5, sizeof(*v), compare);
  sink += signals(1);
  sink += libraries(3);
  mark("end");
  return 0;
}

/* NOLINTEND(misc-no-recursion,clang-analyzer-core.*) */

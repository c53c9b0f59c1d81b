/*
** Is preloaded into a recorded program: lets its calls of write(2), renameat(2)
** or the memory functions of the C library fail. FAULT is KIND:N: enospc, epipe
** (from the N-th call on), eintr (every N-th call), short (every N-th call
** takes half), malloc or rename (the N-th call alone). Of write(2), descriptors
** below 3 are spared.
*/

#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool fault_on;            /* Between begin and end. */
static unsigned long fault_from; /* N. */
static unsigned long fault_writes, fault_mallocs, fault_renames;
static const char *fault_kind = "";
static size_t fault_len; /* Of the kind. */

static ssize_t (*fault_write)(int, const void *, size_t);

void fault_begin(void);
unsigned long fault_end(void);

/* The program calls these two: what lies between can fail. */
void fault_begin(void)
{
  const char *s = getenv("FAULT");
  const char *colon = s ? strchr(s, ':') : NULL;
  fault_write =
      (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  if (!colon)
    return;
  fault_kind = s;
  fault_len = (size_t)(colon - s);
  fault_from = strtoul(colon + 1, NULL, 10);
  fault_on = true;
}

/* Returns how many calls there were that could have failed. */
unsigned long fault_end(void)
{
  fault_on = false;
  return fault_mallocs + fault_writes + fault_renames;
}

static bool fault_is(const char *kind)
{
  return strlen(kind) == fault_len && memcmp(kind, fault_kind, fault_len) == 0;
}

static ssize_t fault_refuse(int en)
{
  errno = en;
  return -1;
}

ssize_t write(int fd, const void *data, size_t len)
{
  unsigned long n;
  if (!fault_write)
    fault_write =
        (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  if (!fault_on || fd < 3 || fault_is("malloc"))
    return fault_write(fd, data, len);
  n = ++fault_writes;
  if (fault_is("enospc") && n >= fault_from)
    return fault_refuse(ENOSPC);
  if (fault_is("epipe") && n >= fault_from)
    return fault_refuse(EPIPE);
  if (fault_is("eintr") && n % (fault_from + 1) == 0)
    return fault_refuse(EINTR);
  if (fault_is("short") && n % fault_from == 0)
    len = (len + 1) / 2;
  return fault_write(fd, data, len);
}

int renameat(int fromdir, const char *from, int todir, const char *to)
{
  static int (*real)(int, const char *, int, const char *);
  if (!real)
    real = (int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT,
                                                                "renameat");
  if (fault_on && fault_is("rename") && ++fault_renames == fault_from)
    return (int)fault_refuse(EIO);
  return real(fromdir, from, todir, to);
}

/* Those of the unwinder are the JIT compiler's, and crash without memory. */
static bool fault_isspared(const void *caller)
{
  Dl_info info;
  bool known;
  fault_on = false;
  known = dladdr(caller, &info) && strstr(info.dli_fname, "libgcc");
  fault_on = true;
  return known;
}

static bool fault_nomem(const void *caller)
{
  return fault_on && fault_is("malloc") && !fault_isspared(caller) &&
         ++fault_mallocs == fault_from;
}

/* glibc's own names of the same functions, so that dlsym() is not needed. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
  return fault_nomem(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
  return fault_nomem(__builtin_return_address(0)) ? NULL
                                                  : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
  return fault_nomem(__builtin_return_address(0)) ? NULL
                                                  : __libc_realloc(p, size);
}

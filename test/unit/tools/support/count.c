/*
** How much memory the code under test has. The linker has all calls of malloc
** and the like in this program go through here (--wrap). Counted is what one
** thread takes and gives back.
*/

#include <malloc.h>
#include <stdlib.h>

#include "count.h"

static _Thread_local size_t count_now, count_most;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
int __real_posix_memalign(void **p, size_t align, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
int __wrap_posix_memalign(void **p, size_t align, size_t n);
void __wrap_free(void *p);

/* P is there now. */
static void *count_add(void *p)
{
  count_now += malloc_usable_size(p);
  count_most = count_now > count_most ? count_now : count_most;
  return p;
}

void *__wrap_malloc(size_t n)
{
  return count_add(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
  return count_add(__real_calloc(n, size));
}

/* What is large is not copied but moved by the kernel, so the old memory and
** the new do not both count.
*/
void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
  count_now -= malloc_usable_size(p);
  return count_add(__real_reallocarray(p, n, size));
}

int __wrap_posix_memalign(void **p, size_t align, size_t n)
{
  int res = __real_posix_memalign(p, align, n);
  if (res == 0)
    count_add(*p);
  return res;
}

void __wrap_free(void *p)
{
  count_now -= malloc_usable_size(p);
  __real_free(p);
}

void count_start(void)
{
  count_now = count_most = 0;
}

size_t count_peak(void)
{
  return count_most;
}

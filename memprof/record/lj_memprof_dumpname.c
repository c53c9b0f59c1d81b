/*
** Names of the heap dumps that a recording takes by itself.
*/

#define lj_memprof_dumpname_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lj_memprof_dumpname.h"

char *lj_memprof_dumpname(const char *first, const char *word)
{
  const char *base = strrchr(first, '/'), *dot = strrchr(first, '.');
  size_t n = strlen(first) + strlen(word) + 2;
  char *name = (char *)malloc(n);
  if (dot == NULL || dot <= base + 1)
    dot = first + strlen(first);
  if (name != NULL)
    snprintf(name, n, "%.*s%s%s%s", (int)(dot - first), first, *word ? "." : "",
             word, dot);
  return name;
}

#endif

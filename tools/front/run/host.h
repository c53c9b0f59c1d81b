/*
** What a program is that is to be recorded: found out by reading its files, not
** by its name and without running it.
*/

#ifndef FT_HOST_H
#define FT_HOST_H

#include <limits.h>

/* Where a program has its LuaJIT. */
typedef enum FtHostKind {
  FT_HOST_BUILTIN, /* With the recorder built in. */
  FT_HOST_INIT,    /* In itself, and reads LUA_INIT. */
  FT_HOST_STATIC,  /* In itself, and does not. */
  FT_HOST_SHARED,  /* In a shared library that it is linked with. */
  FT_HOST_OTHER    /* Not seen: it may load or start one. */
} FtHostKind;

typedef struct FtHost {
  FtHostKind kind;
  int asan;             /* AddressSanitizer must be its first library. */
  int server;           /* nginx: its processes change their user. */
  char path[PATH_MAX];  /* The program; */
  char inner[PATH_MAX]; /* what runs if that is a script, else the same. */
} FtHost;

/* Find program NAME as execvp does, and what it is. Returns 0, or the errno of
** execvp: ENOENT or EACCES.
*/
int ft_host_ask(FtHost *h, const char *name);

#endif

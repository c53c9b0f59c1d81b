/*
** Sites: functions and lines, what stacks are made of once their addresses are
** resolved.
*/

#ifndef LJS_SITES_H
#define LJS_SITES_H

#include <stddef.h>
#include <stdint.h>

typedef enum LsKind {
  LS_LUA,     /* A line of a Lua function. */
  LS_BUILTIN, /* A C function of Lua's own, by its name in Lua. */
  LS_CFUNC,   /* Another C function, by its name in Lua. */
  LS_NATIVE,  /* A function of a module. */
  LS_KERNEL,  /* A function of the kernel. */
  LS_MARK     /* No function: something is missing, `name` says what. */
} LsKind;

#define LS_APPROX   1   /* The line is approximate. */
#define LS_TRACE    2   /* Reached in JIT-compiled code. */
#define LS_UNSURE   4   /* So is the function (luasites.c). */
#define LS_STRIPPED 8   /* The function has no line information, */
#define LS_BYHASH   16  /* nor a line: its hash is of constants, too. */
#define LS_OFVM     32  /* Native: of a VM's module, */
#define LS_BLIND    64  /* in which the collector has no name. */
#define LS_INFERRED 128 /* Native: the name says what the function does. */
#define LS_LOST     256 /* Lua: nothing is known of the function. */

#define LS_MODULE_NONE 0 /* Code that is in no file. */

/* Strings end with NUL and belong to the creator of the site; NULL is "". The
** name of a chunk may have any bytes, so it has a length, too.
*/
typedef struct LsSite {
  LsKind kind;
  unsigned flags;     /* LS_APPROX, ... */
  const char *chunk;  /* Lua: chunk name as the VM has it (@file, =name).
                      ** C function: path of its module. */
  size_t chunklen;    /* In bytes. */
  const char *name;   /* Lua: as defined. Builtin: string.rep, and so has a C
                      ** function. Native and kernel: the symbol. Empty if not
                      ** known. */
  const char *symbol; /* C function: its symbol. Empty if not known. */
  uint64_t first;     /* Lua: line where the function is defined. */
  uint64_t lines;     /* Lua: lines that it spans. */
  uint64_t hash;      /* Lua: of its bytecode; 0: not known. */
  uint64_t line;      /* Lua: current line; 0: not known. */
  uint32_t module;    /* Native: number of its module, or LS_MODULE_NONE. */
  uint64_t addr;      /* C function: where it begins in the ELF file.
                      ** Native with a symbol: where that begins in the ELF
                      ** file; without: the address sampled. In code that is
                      ** in no file, or in the kernel: the address itself. */
} LsSite;

#endif

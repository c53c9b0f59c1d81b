/*
** A VM whose allocator takes heap dumps in calls that are chosen at random, and
** the judge of these dumps: nothing that they call garbage survives a
** collection. Strings may, if the same text comes again.
*/

#ifndef JUDGE_H
#define JUDGE_H

#include <stdint.h>

#include "lauxlib.h"
#include "lmisclib.h"
#include "lua.h"
#include "lualib.h"

/* In front of each block of the VM. */
typedef struct JudgeBlock {
  struct JudgeBlock *next, *prev;
  uint64_t serial;
  uint64_t align;
} JudgeBlock;

typedef struct Judge {
  /* Set by the caller: luaM_memprof_dump, maybe a module's; the folder of
  ** dump.lua; calls of the allocator from one dump to the next, on average; a
  ** number for chance.
  */
  int (*take)(lua_State *L, const struct luam_Prof_options *opt);
  const char *scripts;
  uint64_t mean, seed;
  /* What was found. */
  char fault[512]; /* The first fault of a dump, or "". */
  unsigned dumps, refused, traces, making;
  uint64_t garbage, objects;
  uint64_t calls;  /* Of the allocator for blocks, in this VM, */
  uint64_t during; /* and during the call of judge_call(). */
  /* The judge's own. */
  lua_State *L;    /* NULL: no dumps are taken now. */
  JudgeBlock live; /* A ring. */
  uint64_t then;   /* Calls when the last dump was taken, */
  uint64_t wait;   /* and those to the next one. */
  uint64_t total;  /* Bytes by the VM's count then. */
  char *dump;      /* Not judged yet, or NULL. */
  size_t len;
} Judge;

/* Create a VM with its libraries. Returns NULL if this LuaJIT cannot have an
** allocator of its own. The caller closes it.
*/
lua_State *judge_open(Judge *j);

/* Call a function, as lua_pcall() does, for no results. Takes dumps if the mean
** is not 0. Returns what lua_pcall() does.
*/
int judge_call(Judge *j, lua_State *L, int nargs);

#endif

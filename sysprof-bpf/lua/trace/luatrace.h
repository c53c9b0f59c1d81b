/*
** Traces: compiled code, and by their snapshots the functions and lines that
** it was compiled from.
*/

#ifndef LS_LUATRACE_H
#define LS_LUATRACE_H

#include "luafunc.h"

#define LS_CALLEES  32 /* Constants that are looked at. */
#define LS_CLOSURES 16 /* Likewise. */

/* A function that a trace is in: where, if it is one of Lua's. */
typedef struct LsPlace {
  LsFunc *f;    /* NULL: a C function, or one that is lost. */
  uint64_t cfn; /* C: address of its code; 0 if it is lost. */
  uint32_t pos; /* Lua: instruction. */
  uint8_t ffid; /* C. */
} LsPlace;

/* Callers, the nearest first. */
typedef struct LsCallers {
  uint32_t n;
  LsPlace at[];
} LsCallers;

#define LS_VIA 6 /* Calls without snapshots that are in each other. */

/* A snapshot. */
typedef struct LsSnap {
  uint16_t mcofs; /* Where the code begins that it serves: probably there, */
  uint16_t early, late; /* not before, not after; the same if it is known. */
  uint32_t place; /* First of the places where it was taken, innermost first. */
  uint32_t nplace;
  uint32_t nback; /* Places behind: its code returns there, one by one, from
                  ** below where the trace began. */
  bool branches;  /* Its code begins with the branch at an instruction, */
  uint32_t branch, go; /* which goes on there; its place is the other side. */
  bool vague;          /* There may be a branch, or not. */
} LsSnap;

/* Machine code of which is known what it may be of, see luaalign.h. */
typedef struct LsTraceSpan {
  uint32_t ofs; /* It begins there, and ends where the next one begins. */
  uint32_t pos; /* Instruction, */
  LsFunc *f;    /* of this function; NULL: nothing is known. */
  const LsCallers *by;   /* Its callers, or NULL; they belong to the pool, */
  uint32_t shared;       /* and so many of the outermost ones are certain. */
  bool functions, lines; /* There may be other functions, and lines. */
  bool step; /* A step of the collector, for what is allocated there. */
} LsTraceSpan;

#define LS_ENTERS_ANY UINT8_MAX

/* A function that is called. */
typedef struct LsCallee {
  LsFunc *f;      /* NULL: it is not one of Lua's, */
  uint32_t ffid;  /* but has this number; 0: which is not known; */
  uint64_t cfn;   /* and this is the address of its code. */
  uint8_t enters; /* Its first argument is called, with those from this one on:
                  ** it is pcall or xpcall. LS_ENTERS_ANY: any may be called,
                  ** 0: none is. */
} LsCallee;

#define LS_CALLED 4 /* Functions that enter each other, by one call. */

/* What is loaded from fields of a name, from a slot of functions that are the
** outermost ones of the trace, or from an upvalue of a function.
*/
typedef struct LsLoad {
  const char *key;  /* The name, which belongs to the pool; or NULL. */
  const LsFunc *of; /* Whose upvalue it is, or NULL. */
  uint32_t slot;    /* Or the number of the upvalue. */
  LsCallee callee;
  bool called;
  bool several; /* There may be other functions. */
  bool yes, no; /* A condition holds, or not. */
} LsLoad;

typedef struct LsTrace {
  uint64_t addr; /* Of its GCtrace. */
  uint64_t check;
  uint64_t mcode;
  uint32_t szmcode, mcloop;
  bool loops; /* It ends with a jump to its loop. */
  LsPlace start;
  LsSnap *snap;
  uint32_t nsnap; /* 0 if they cannot be told from something else. */
  LsPlace *place;
  uint32_t nplace, sizeplace;
  LsTraceSpan *span;
  uint32_t nspan;
  LsFunc *callee[LS_CALLEES]; /* Lua functions among its constants: calls of
                               ** them may have no snapshot. */
  uint32_t ncallee;
  bool tails; /* One of them makes tail calls. */
  bool more;  /* There are more of them. */
  LsLoad *load;
  uint32_t nload;
  bool fields;  /* It has all that is loaded from fields by a name. */
  bool cdata;   /* There are objects of the FFI. */
  bool methods; /* Functions of Lua may have been called as metamethods. */
  bool returns; /* It leaves the function that it began in. */
  uint32_t arg; /* The slot of the first argument, from that of the function. */
  uint64_t closure[LS_CLOSURES]; /* Lua functions among its constants. */
  uint32_t nclosure;
} LsTrace;

#endif

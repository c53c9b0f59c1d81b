/*
** What IR bytecode instructions may emit when a trace is recorded.
**
** The IR of a trace is in the order of the bytecode that it was recorded from.
** Each kind of bytecode instruction emits only some operations, and so does
** each function of a library; those that call others of them, or a metamethod,
** may emit all.
*/

#ifndef LS_IREMIT_H
#define LS_IREMIT_H

#include "traceir.h"
#include "tracecallers.h"

/* Kinds of IR instructions, by what emits them. */
enum {
  LS_EMIT_ANY = 1 << 0, /* Type checks, conversions: nearly everything. */
  LS_EMIT_SLOT = 1 << 1,
  LS_EMIT_INT = 1 << 2, /* Addition and subtraction of integers, */
  LS_EMIT_ADD = 1 << 3, /* and of other numbers. */
  LS_EMIT_SUB = 1 << 4,
  LS_EMIT_MUL = 1 << 5,
  LS_EMIT_DIV = 1 << 6,
  LS_EMIT_MOD = 1 << 7,
  LS_EMIT_POW = 1 << 8,
  LS_EMIT_NEG = 1 << 9,
  LS_EMIT_MATH = 1 << 10,
  LS_EMIT_BITS = 1 << 11,
  LS_EMIT_ORDER = 1 << 12,
  LS_EMIT_UORDER = 1 << 13,
  LS_EMIT_INDEX = 1 << 14, /* Of arrays, and conversion to integers. */
  LS_EMIT_HASH = 1 << 15,
  LS_EMIT_LOAD = 1 << 16,
  LS_EMIT_FIELD = 1 << 17,
  LS_EMIT_STORE = 1 << 18,
  LS_EMIT_BARRIER = 1 << 19, /* And what else a store may need. */
  LS_EMIT_UPVALUE = 1 << 20,
  LS_EMIT_UPLOAD = 1 << 21,
  LS_EMIT_UPSTORE = 1 << 22,
  LS_EMIT_MEMORY = 1 << 23,
  LS_EMIT_CALL = 1 << 24,
  LS_EMIT_TNEW = 1 << 25,
  LS_EMIT_TDUP = 1 << 26,
  LS_EMIT_STRING = 1 << 27,
  LS_EMIT_STRTO = 1 << 28,
  LS_EMIT_LEN = 1 << 29,
  LS_EMIT_RETURN = 1 << 30,
  LS_EMIT_OTHER = 1u << 31 /* What only calls emit. */
};
#define LS_EMIT_ALL UINT32_MAX

/* Kinds of which an instruction emits one of a group at most. */
enum {
  LS_ONE_ARITH,
  LS_ONE_ORDER,
  LS_ONE_HASH,
  LS_ONE_LOAD,
  LS_ONE_STORE,
  LS_ONES
};

/* A bytecode instruction on a path. */
typedef struct LsEmitter {
  const LsLeg *leg;
  const LsCallers *by; /* Of the leg; NULL without memory. */
  uint32_t pos, line;
  uint32_t kinds; /* LS_EMIT_* */
  uint8_t once;   /* Bits of LS_ONE_*. */
  bool sums;      /* Of arithmetic only sums and differences count for that. */
  bool tests;     /* It tests what it has computed. */
  bool open; /* It may have called a Lua function that is not on the path. */
} LsEmitter;

/* What is to be known of a trace. */
typedef struct LsEmission {
  const LsIr *t;
  const LsTrace *T;
  LsPool *pool;
  uint32_t library; /* What the functions of libraries emit that it calls. */
  uint32_t meta;    /* Metamethods that it has looked up, */
  uint32_t called;  /* and those that it may have inlined. */
  uint64_t chained; /* The string `__index`, if it is always a table. */
  bool computes;    /* Functions of libraries may have done arithmetic. */
} LsEmission;

/* Initialize *E for a trace, whose constants are read. What it keeps belongs to
** the pool.
*/
void ls_emit_init(LsEmission *e, const LsIr *t, const LsTrace *T, LsPool *pool);

/* Write those instructions of a path that may emit something to OUT, at most
** N. Returns how many they are, or N if there is no room.
*/
unsigned ls_emit_path(const LsEmission *e, const LsPath *p, LsEmitter *out,
                      unsigned n);

/* The kind of an IR instruction; 0 if nothing emits it. *ONE: its group, or
** LS_ONES.
*/
uint32_t ls_emit_kind(const LsIns *ins, unsigned *one);

/* Whether an IR instruction loads what is no result: nothing, or `__index`. */
bool ls_emit_passes(const LsEmission *e, const LsIns *ins);

/* What a call of the library function with number FFID may emit. */
uint32_t ls_emit_library(const struct ljs_vm *vm, uint32_t ffid);

/* Whether that function is tostring, which calls metamethods. */
bool ls_emit_istostring(const struct ljs_vm *vm, uint32_t ffid);

/* Whether an IR instruction may be a sign of a library's function that does
** arithmetic: a call of the VM, a power, a remainder, a logarithm. All of them
** leave one in the trace. Square roots and rounding are no sign of more.
*/
bool ls_emit_computes(const LsIns *ins);

/* Whether an instruction may have emitted an IR instruction of this kind. */
bool ls_emit_may(const LsEmission *e, const LsEmitter *b, const LsIns *ins,
                 uint32_t kind);

#endif

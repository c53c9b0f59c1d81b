/*
** What the stack of a single-stepped LuaJIT process really is, learnt without
** unwinding it.
**
** Native frames: each call instruction that is seen to be executed leaves a
** return address on the C stack, which is gone as soon as rsp is above it.
**
** Lua frames: at the first machine instruction of each bytecode the VM's
** registers are as its authors have them - BASE, PC, rsp is its C frame - so
** that the Lua stack can be read as debug.getinfo would. From one such point to
** the next the stack can only shrink from what it was, and grow to what it will
** be.
*/

#ifndef TRUTH_H
#define TRUTH_H

#include "tracee.h"

#define TRUTH_CALLS  4096
#define TRUTH_FRAMES 1024

/* A return address on the C stack, or where one was when we came. */
typedef struct TruthCall {
  uint64_t at, addr;
} TruthCall;

#define TRUTH_NOPC (~0u)

/* A Lua frame, or a C function's. */
typedef struct TruthFrame {
  uint64_t id;   /* Proto, or C function. */
  uint32_t x;    /* Bytecode; TRUTH_NOPC if not known. */
  uint32_t kind; /* LJS_FRAME_*. */
  uint64_t a;    /* The VM's C frame that runs it. */
  uint64_t l;    /* Its coroutine. */
} TruthFrame;

typedef struct TruthList {
  uint32_t n;
  TruthFrame frame[TRUTH_FRAMES]; /* The outermost comes first. */
} TruthList;

typedef struct Truth {
  TruthCall call[TRUTH_CALLS]; /* The outermost comes first. */
  uint32_t ncall;
  TruthList lua;  /* At the last bytecode, */
  uint64_t maxsp; /* and how far up rsp has been since. */
  int thrown;     /* An error has thrown frames away since. */
  int atop;       /* The last step was to the beginning of a bytecode. */
} Truth;

/* Begins where the process is, at a bytecode, with the stack as unwound. */
void truth_begin(Truth *tr, Tracee *t, const Walk *w);
/* Run one instruction. Returns 0 if the process has ended. */
int truth_step(Truth *tr, Tracee *t);

/* The Lua frames, at a bytecode. */
void truth_lua(const Truth *tr, Tracee *t, TruthList *out);

/* Does an unwinder list a frame that returns there? */
int truth_native(const Tracee *t, uint64_t addr);

#endif

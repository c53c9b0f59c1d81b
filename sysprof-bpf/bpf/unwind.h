/*
** The unwinder: from the registers of a thread to its mixed stack, one frame a
** step. It is compiled twice: into the BPF program, and into tests that run it
** in user space over a frozen process. Here is what its parts share: the state
** of a walk, and what it has found. unwind_walk.h has the steps.
*/

#ifndef LJS_UNWIND_H
#define LJS_UNWIND_H

#include "ljs.h"

#ifdef __bpf__
#define LJS_LOOP _Pragma("nounroll") /* Cold code costs more than a jump. */
#else
#define LJS_LOOP
#define __noinline __attribute__((noinline))
#endif

/* -- State ---------------------------------------------------------------- */

#define LJS_SCAN      512 /* Places above rsp, 16 bytes apart, to look at. */
#define LJS_STEPS     4096
#define LJS_FRAME_MAX (LJS_MAX_FRAMES - 1)

enum { LJS_NATIVE, LJS_SCANNING, LJS_LUA, LJS_LEAVING, LJS_DONE };

#define LJS_NO_MODULE (~(__u32)0)

/* Reading costs most in a walk: 80 ns in a kernel, be it one byte or hundreds.
** So stacks are read by blocks, all else by windows, and what is found again
** and again in a walk is kept.
*/
#define LJS_BLOCK   64
#define LJS_NOWHERE (1ull << 63 | 1) /* Nothing aligned is there. */
#define LJS_WINDOWS 8
#define LJS_WINDOW  64
#define LJS_SEEN    16

struct ljs_block {
  __u64 at; /* Where it is from, or LJS_NOWHERE. */
  __u64 word[LJS_BLOCK];
};

/* Aligned, so it has no part of another page than what was asked for. */
struct ljs_window {
  __u64 at;
  __u64 walk; /* In which it was read. */
  __u64 word[LJS_WINDOW];
};

struct ljs_seen {
  __u64 func; /* A Lua function, */
  __u64 walk; /* and in which walk it was met. */
  __u64 bc;
  __u32 size;
  __u32 check;
};

struct ljs_call {
  __u64 pc;        /* Behind an instruction, */
  __u64 walk : 56; /* and in which walk it was met. */
  __u64 a : 8;     /* Its operand A. */
};

/* A coroutine that has been met on the way: where its walk goes on. */
struct ljs_state {
  __u64 l;
  __u64 cframe; /* Its next C frame, */
  __u64 base;   /* and the base of the Lua frame to begin with; 0: lost. */
};

struct ljs_walk {
  /* The native frame to look at. */
  __u64 pc, sp, bp, bx;
  __u64 dx;    /* Where BASE may be; 0: not known. */
  __u32 exact; /* pc is not a return address. */
  __u32 mode;
  /* What all samples of a run have in common. */
  __u32 nonative, nolua; /* Frames that are not wanted. */
  __u32 maxnative, maxlua;
  __u32 nnative;
  __u32 nvm, vm; /* Modules with a VM in the process, and the first one. */
  __u32 version; /* Of the process's mappings. */
  __u32 code;    /* Module of an address; or LJS_NO_MODULE. */
  __u64 walk;    /* Number of this walk. */
  /* The VM's frame to look at. */
  __u32 module;
  __u32 anon;   /* Reached from code that was made at run time. */
  __u32 how;    /* What registers meant there: LJS_VM(). */
  __u32 places; /* Looked at for A. */
  __u32 skip;   /* The next Lua frame is that of a vararg function, again. */
  __u32 making; /* It may be one that C is about to call back. */
  __u64 a, l, g;
  __u64 base, bottom, top; /* Of the Lua stack: a frame, both ends. */
  __u64 luapc;             /* Where the frame is, if it is a Lua function's. */
  __u64 altpc;             /* Or here. */
  __u64 link;              /* Of the frame at base, which is not there; */
  __u64 altlink;           /* or if it turns out to be none. */
  __u32 guess;             /* Else it is at the function's LJS_GUESS_*. */
  struct ljs_block cwords; /* Of the C stack, */
  struct ljs_block words;  /* and of the Lua stack. */
  struct ljs_window window[LJS_WINDOWS];
  struct ljs_seen seen[LJS_SEEN];
  struct ljs_call call[LJS_SEEN];
  __u32 nstate;
  struct ljs_state state[LJS_MAX_STATES];
  struct ljs_stack out;
};

/* -- What differs between the two: who includes this file defines it. ------ */

/* Copy N bytes at ADDR of the process to DST. Returns 0, or -1 if they cannot
** be read.
*/
static __always_inline int ljs_read(void *dst, __u32 n, __u64 addr);

/* The module of a number, or NULL. */
static __always_inline struct ljs_module *ljs_find_module(__u32 module);

/* The row of the unwind table for an address, or NULL. Sets w->code to the
** module that holds the address, or to LJS_NO_MODULE.
*/
static __always_inline struct ljs_row *ljs_find_row(struct ljs_walk *w,
                                                    __u64 pc);

/* -- Pushing frames ------------------------------------------------------- */

/* What a frame is besides its place. */
#define LJS_WHAT(kind, flags, check)                                           \
  ((__u32)(check) << 16 | (__u32)(kind) << 8 | (flags))

/* Adds a frame, if there is room. WHAT is LJS_WHAT(). */
static __always_inline void ljs_push(struct ljs_walk *w, __u64 addr, __u64 fn,
                                     __u32 x, __u32 what)
{
  __u32 n = w->out.nframes;
  struct ljs_frame *f;
  if (n >= LJS_FRAME_MAX)
    return;
  f = &w->out.frame[n];
  f->addr = addr;
  f->fn = fn;
  f->x = x;
  f->check = what >> 16;
  f->kind = what >> 8;
  f->flags = what;
  w->out.nframes = n + 1;
  w->out.key = ljs_mix(w->out.key,
                       addr ^ ((__u64)x << 32 | what) * 0xd6e8feb86659fd93ull);
}

/* Something is missing here, but the walk goes on. */
static __noinline void ljs_gap(struct ljs_walk *w, __u32 why)
{
  ljs_push(w, 0, 0, why, LJS_WHAT(LJS_FRAME_MARK, 0, 0));
  if (!w->out.cut)
    w->out.cut = why;
}

/* Something is missing here, and so is all that is behind it. */
static __always_inline void ljs_cut(struct ljs_walk *w, __u32 why)
{
  ljs_gap(w, why);
  w->mode = LJS_DONE;
}

#define LJS_GCT_FUNC   8 /* ~LJ_TFUNC, ~LJ_TTHREAD: as in gct. */
#define LJS_GCT_THREAD 6

#endif

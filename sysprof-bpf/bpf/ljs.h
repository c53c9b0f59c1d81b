/*
** What the two sides of the sampler share: the BPF program, which unwinds, and
** the user's program, which prepares tables for it and names what it found.
**
** Every structure here has the same layout on both sides: fixed widths, no
** pointers, no padding that matters.
*/

#ifndef LJS_H
#define LJS_H

#include <linux/types.h>

/* -- Limits --------------------------------------------------------------- */

#define LJS_MAX_KERNEL 127  /* Kernel frames. */
#define LJS_MAX_NATIVE 256  /* Native frames. */
#define LJS_MAX_LUA    256  /* Lua frames. */
#define LJS_MAX_FRAMES 768  /* All of them, and marks. */
#define LJS_MAX_MAPS   1024 /* Executable mappings of a process. */
#define LJS_MAX_STATES 16   /* Coroutines whose place is remembered. */
#define LJS_MODULES    4096 /* ELF files at a time. */

/* -- Native unwinding ----------------------------------------------------- */

/* How the canonical frame address (CFA) is found: the stack pointer before
** the call. The return address is at CFA - 8.
*/
enum {
  LJS_CFA_UNKNOWN, /* No table, or a rule that is not understood. */
  LJS_CFA_SP,      /* rsp + cfa. */
  LJS_CFA_BP,      /* rbp + cfa. */
  LJS_CFA_BX,      /* rbx + cfa. */
  LJS_CFA_BP_MEM,  /* The word at rbp + cfa (a realigned stack). */
  LJS_CFA_PLT,     /* rsp + 8 + ((rip & 15) >= cfa ? 8 : 0). */
  LJS_CFA_SIGNAL,  /* The kernel's frame of a signal: ucontext at rsp. */
  LJS_CFA_END,     /* The outermost function: it has no caller. */
  LJS_CFA_ROOT,    /* Likewise, if it is a return address. */
  LJS_CFA_VM       /* LuaJIT's interpreter: see struct ljs_vm. */
};

/* Where the caller's rbp and rbx are. */
enum {
  LJS_REG_SAME, /* Not touched. */
  LJS_REG_CFA,  /* At CFA + offset. */
  LJS_REG_BP,   /* At rbp + offset. */
  LJS_REG_LOST  /* Not recoverable. */
};

/* What is known of a place in LuaJIT's interpreter: bits of a row's cfa. At
** most places rdx has BASE, the Lua frame that runs, and rbx has PC, behind its
** bytecode. But not while frames are made or taken down.
*/
enum {
  LJS_BX_ANY,   /* Not certain. */
  LJS_BX_PC,    /* PC, behind the bytecode that runs; */
  LJS_BX_NEXT,  /* or at it. */
  LJS_BX_START, /* The frame is whole, its function has not begun. */
  LJS_BX_LINK,  /* The frame is whole; its link, as it returns. */
  LJS_BX_GONE,  /* Its link; the frame is not there yet, or not any more. */
  LJS_BX_SAVED, /* Likewise, but the link is where PC is saved. */
  LJS_BX_XLINK, /* As GONE, with FRAME_C flipped. */
  LJS_BX_SIZE,  /* Its size; the frame is not there any more. */
  LJS_BX_CONT,  /* Likewise, of the kind FRAME_CONT. */
  LJS_BX_CONTB, /* Likewise, and rdx is at the frame before, rbp at it. */
  LJS_BX_LEAVE, /* Likewise, and it was called from C. */
  LJS_BX_MINUS, /* Called from C: minus the base of the frame before; */
  LJS_BX_BASE,  /* or that base. */
  LJS_BX_LEFT,  /* Called from C: rdx is that base. */
  LJS_BX_ENTER, /* Nothing yet: called from C. */
  LJS_BX_MAYBE, /* Likewise; but it may be no C frame of the VM now. */
  LJS_BX_NONE   /* Something else: PC is where it is saved. */
};
#define LJS_VM_BX(v) ((v)&31)
enum { LJS_DX_ANY, LJS_DX_BASE, LJS_DX_NONE }; /* BASE is in rdx; or not. */
#define LJS_VM_DX(v) ((v) >> 5 & 3)
enum { LJS_BP_ANY, LJS_BP_BASE, LJS_BP_NONE }; /* BASE is in rbp, too. */
#define LJS_VM_BP(v)       ((v) >> 7 & 3)
#define LJS_VM(bx, dx, bp) ((bx) | (dx) << 5 | (bp) << 7)

/* One row of a module's unwind table: how to unwind from `pc` up to the next
** row's. Sorted by `pc`, an address as the module's own ELF file has it.
*/
struct ljs_row {
  __u32 pc;
  __s32 cfa;    /* Offset for LJS_CFA_*; or LJS_VM(). */
  __s16 bp, bx; /* Offsets, of LJS_REG_CFA and LJS_REG_BP. */
  __u8 how;     /* LJS_CFA_*. */
  __u8 bphow;   /* LJS_REG_*. */
  __u8 bxhow;
  __u8 pad;
};

/* One executable mapping of an ELF file, or of the vDSO, in a process. Code
** that is in none of these was made at run time, or came very lately.
*/
struct ljs_map {
  __u64 start, end; /* Addresses in the process. */
  __u64 bias;       /* Address in the process - address in the ELF file. */
  __u32 module;     /* Its number. */
  __u32 pad;
};

/* -- A LuaJIT VM, by a module's machine code ------------------------------- */

#define LJS_LIBRARIES 6 /* base, math, bit, string, table, more of base */

/* The layout of one build of LuaJIT. Offsets in bytes. Fields of the stack
** frame are offsets from the interpreter's rsp; "in g" is in global_State.
*/
struct ljs_vm {
  __u32 lo, hi;      /* The interpreter's code, as the ELF file has it. */
  __u8 gc64;         /* References have 64 bits and frames two slots. */
  __u8 jit;          /* It has a JIT compiler: trace and jit_base are known. */
  __u16 frame;       /* CFA - rsp in the interpreter. */
  __u16 jit_frame;   /* What a trace has below that, but for spadjust. */
  __u16 save_l;      /* Saved lua_State: a word, 4 bytes without GC64. */
  __u16 save_pc;     /* Saved bytecode PC: likewise. */
  __u16 save_nres;   /* Saved number of results: 4 bytes, signed. */
  __u16 save_cframe; /* Saved link to the C frame before: 8 bytes. */
  __s16 bp, bx;      /* Saved rbp and rbx, from the CFA. */
  __s32 g2disp;      /* r14 - g while the interpreter or a trace runs. */
  __s32 vmstate;     /* In g: number of the running trace, or < 0. */
  __s32 jit_base;    /* In g: base of the trace's stack. */
  __s32 cur_l;       /* In g: the running coroutine. */
  __s32 trace;       /* From g: J->trace, an array of references. */
  /* lua_State. */
  __u16 l_gct, l_glref, l_base, l_top, l_maxstack, l_stack, l_cframe, l_env;
  /* GCfunc: of both kinds, of Lua functions (pc), of C functions (f). */
  __u16 fn_ffid, fn_pc, fn_f;
  /* GCproto; its size is where the bytecode begins. */
  __u16 pt_size, pt_sizebc, pt_chunkname, pt_firstline, pt_numline, pt_lineinfo,
      pt_k, pt_sizekgc, pt_uvinfo, pt_varinfo, pt_flags;
  /* GCtrace. */
  __u16 t_nins, t_nsnap, t_ir, t_nk, t_nsnapmap, t_snap, t_snapmap, t_startpt,
      t_startpc, t_startins, t_szmcode, t_mcode, t_spadjust, t_traceno, t_link,
      t_root;
  __u8 irform; /* Numbering of the IR's operations (vmir.h); 0: not known. */
  __u8 library[LJS_LIBRARIES]; /* Numbers of first functions (vmlib.h); 0: not
                               ** known. */
};

/* -- Processes and modules ------------------------------------------------ */

/* A process that is sampled. */
struct ljs_proc {
  __u32 nmaps;
  __u32 nvm;     /* Modules with a VM among them, */
  __u32 vm;      /* and the first one. */
  __u32 version; /* Set by the sampler: another one for each upload. */
  struct ljs_map map[LJS_MAX_MAPS]; /* Sorted by start. */
};

/* An ELF file's rows are in pages of a little less than 4096 bytes, which are
** what the kernel's allocator likes best. Other pages are directories of the
** first ones' `pc`, and the module has those of the directories: so a row is
** found by looking at two pages.
*/
#define LJS_PAGE_ROWS 248
#define LJS_PAGE_PCS  992
#define LJS_DIRS      16 /* Of a module: 3.9 million rows. */

struct ljs_page {
  union {
    struct ljs_row row[LJS_PAGE_ROWS];
    __u32 pc[LJS_PAGE_PCS]; /* Of a directory. */
  };
};

#define LJS_PAGE_KEY(module, n) ((__u64)(module) << 32 | (n))
#define LJS_PAGE_DIR            0x80000000u /* Numbers of directories. */

/* An ELF file. */
struct ljs_module {
  __u32 nrows;
  __u32 hasvm;
  __u32 dir[LJS_DIRS]; /* First `pc` of each directory. */
  struct ljs_vm vm;
};

/* -- A stack -------------------------------------------------------------- */

/* Kinds of frames. */
enum {
  LJS_FRAME_KERNEL,  /* addr: in the kernel. */
  LJS_FRAME_NATIVE,  /* addr: in the process. */
  LJS_FRAME_LUA,     /* addr: GCproto; x: index of the bytecode. */
  LJS_FRAME_BUILTIN, /* addr: GCfunc.c.f; x: ffid. Any C function in Lua. */
  LJS_FRAME_TRACE,   /* addr: GCtrace; x: offset in its machine code. The
                     ** function where it starts, and all that it inlined. */
  LJS_FRAME_JIT,     /* addr: in code that no trace is known for. */
  LJS_FRAME_MARK     /* x: LJS_CUT_*: frames are missing here. */
};

/* Flags of a frame. */
#define LJS_FLAG_RETURN 1 /* addr or x is of the place to return to. */
#define LJS_FLAG_NOPC   2 /* Lua: x is a guess, or ~0: not known. */

struct ljs_frame {
  __u64 addr;
  __u64 fn; /* Lua: the GCfunc that ran, which need not live on. Trace: the one
            ** at its base, or 0. No part of the key: closures of one function
            ** are one place. */
  __u32 x;
  __u16 check; /* Lua, trace: of what is at `addr`: see ljs_check_*. */
  __u8 kind;
  __u8 flags;
};

/* Why a stack is not whole. */
enum {
  LJS_CUT_NOT,
  LJS_CUT_NATIVE, /* More native frames than are taken. */
  LJS_CUT_LUA,    /* More Lua frames than are taken. */
  LJS_CUT_NOMAP,  /* Code that is in no known file, nor a trace. */
  LJS_CUT_NOROW,  /* No unwind table for an address. */
  LJS_CUT_MEMORY, /* Memory that could not be read. */
  LJS_CUT_VM,     /* A VM whose state made no sense. */
  LJS_CUT_STEPS,  /* More steps than one sample is allowed. */
  LJS_CUT_LOST,   /* A Lua function that nothing is known of: see resolve.h. */
  LJS_CUT_REASONS
};

/* A stack on its way to the user's program: the leaf comes first. A frame of
** the kind MARK is where something is missing; the last one ends it.
*/
#define LJS_NAME 16 /* The kernel's names of threads have as many bytes. */

struct ljs_stack {
  __u64 key; /* Hash of all below, for the counts. */
  __u64 g;   /* The last VM that was met, or 0. */
  __u32 pid; /* As the sampler's own pid namespace has them. */
  __u32 tid;
  __u32 module; /* Of that VM. */
  __u32 cut;    /* LJS_CUT_*: why it does not reach the root; or NOT. */
  __u32 nframes;
  __u32 nlua;          /* Lua frames and builtins among them. */
  char name[LJS_NAME]; /* Of the thread, when this was sent; ends with a 0. */
  struct ljs_frame frame[LJS_MAX_FRAMES];
};

/* -- Counts --------------------------------------------------------------- */

/* How often a stack was sampled is counted under this. */
struct ljs_key {
  __u64 key;
  __u32 pid, tid;
};

/* Statistics: counters of samples. */
enum {
  LJS_FIRED,        /* The clock found one of the processes running. */
  LJS_DROPPED_RING, /* Its stack found no room on the way to user space. */
  LJS_DROPPED_FULL, /* The table of counts was full. */
  LJS_DROPPED_BUSY, /* The program interrupted itself. */
  LJS_WOKEN,        /* User space was woken for its stack. */
  LJS_STATISTICS
};

/* A process that was sampled, since a thread of it ended. */
struct ljs_end {
  __u64 cpu;  /* CPU time of all threads that are gone, in nanoseconds. */
  __u32 pid;  /* As the sampler knows it. */
  __u32 done; /* There are no more threads: that is all. */
};

/* -- Events of processes -------------------------------------------------- */

enum {
  LJS_EVENT_FORK, /* A watched process has a child: pid. */
  LJS_EVENT_EXEC  /* pid runs another program. */
};

struct ljs_event {
  __u32 what; /* LJS_EVENT_*. */
  __u32 pid;  /* As the sampler knows it. */
};

/* -- Threads --------------------------------------------------------------- */

/* A thread of a sampled process, as the kernel has it right now. */
struct ljs_thread {
  __u32 pid, tid;           /* As the sampler knows them. */
  __u64 running;            /* It is on a CPU, so its registers are old ones. */
  __u64 switches;           /* How often it has left its CPU. */
  __u64 pc, sp, bp, bx, dx; /* When it entered the kernel. */
};

/* -- Checksums that distinguish functions at the same address -------------- */

/* Add V to the hash H. */
static inline __u64 ljs_mix(__u64 h, __u64 v)
{
  h = (h ^ v) * 0x9e3779b97f4a7c15ull;
  return h ^ h >> 29;
}

/* Of a GCproto: address of its chunk's name, first line, bytecodes. */
static inline __u64 ljs_check_proto(__u64 chunk, __u32 first, __u32 sizebc)
{
  return ljs_mix(ljs_mix(chunk, first), sizebc);
}

/* Of a GCtrace: its machine code, where it starts, what it is made of. */
static inline __u64 ljs_check_trace(__u64 mcode, __u32 szmcode, __u64 startpt,
                                    __u64 startpc, __u32 nins)
{
  __u64 h = ljs_mix(ljs_mix(mcode, szmcode), startpt);
  return ljs_mix(ljs_mix(h, startpc), nins);
}

#define LJS_CHECK(h) ((__u16)((h) >> 48)) /* As a frame carries it. */

#endif

/*
** Who is allocating: the function and line behind a call of the allocator.
*/

#ifndef _LJ_MEMPROF_WHERE_H
#define _LJ_MEMPROF_WHERE_H

#include "lj_jit.h"
#include "lj_memprof.h"

#define MP_CACHESIZE 4096 /* Entries; a power of 2. */

/*
** Where an instruction is, once found. Filled anew when it does not fit;
** emptied by lj_memprof_forget().
*/
typedef struct MPCache {
  const void *key;   /* Bytecode, return address on a trace, or C function. */
  const void *owner; /* The proto or trace that holds it, or NULL. */
  uint32_t site;
  uint32_t inlined; /* Callers that the trace has inlined, or 0. */
#if LJ_64
  uint64_t unused; /* A size that is a power of 2 is found faster. */
#endif
} MPCache;

/* Where the last site was found: the frame of the function on top. */
typedef struct MPTop {
  lua_State *L;
  cTValue *frame;
  uint32_t inlined; /* On a trace: functions above that frame, or 0. */
} MPTop;

/*
** The site of what the VM is about to do, and its mp->top. To be called before
** the VM does it. Defines what is new in the stream.
*/
LJ_FUNC uint32_t lj_memprof_where(MPState *mp);

/*
** The site of the function in a frame, where it called what lies in the next
** frame. *soft is set if the frames do not show it: then the answer may be
** another one while they stay the same. INTERNAL if there is no function.
*/
LJ_FUNC uint32_t lj_memprof_caller(MPState *mp, lua_State *L, cTValue *frame,
                                   cTValue *next, int *soft);

/*
** The trace that a thread runs, or NULL. While it runs, L->base and L->top are
** what they were at some time.
*/
LJ_FUNC GCtrace *lj_memprof_entered(const lua_State *L);

/* The frame on top of a thread: in compiled code, the one that it entered. */
LJ_FUNC cTValue *lj_memprof_topframe(const lua_State *L);

/*
** The position in a prototype, of a frame of a thread, where it called what
** lies in the next frame (NULL: it is on top), or -1.
*/
LJ_FUNC ptrdiff_t lj_memprof_stopped(lua_State *L, GCproto *pt, cTValue *next);

/* Memory is about to be freed: code that lies in it is no longer known. */
LJ_FUNC void lj_memprof_forget(MPState *mp, const void *p, size_t size);

#if LJ_HASJIT
/* True if a block of memory, of a size in bytes, is a trace. */
LJ_FUNC int lj_memprof_istrace(const void *p, size_t size);
#endif

#endif

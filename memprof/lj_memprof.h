/*
** Memory profiler: the recorder's parts and the state they share.
*/

#ifndef _LJ_MEMPROF_H
#define _LJ_MEMPROF_H

#include "lj_gc.h"
#include "lj_obj.h"
#include "lmisclib.h"

/* The VM's hook: ends the recording of a VM that is about to be freed. */
LJ_FUNC void lj_memprof_close(global_State *g);

#if LJ_HASJIT
#include "lj_jit.h"
/* The compiler's hooks: see lj_memprof_lines.c. */
#ifdef LJ_MEMPROF_MODULE /* No hooks in a stock VM. */
#elif !defined(LUAJIT_DISABLE_MEMPROF)
LJ_FUNC int lj_memprof_newline(jit_State *J, const BCIns *pc);
LJ_FUNC int lj_memprof_keepsnap(jit_State *J);
#else
#define lj_memprof_newline(J, pc) 0
#define lj_memprof_keepsnap(J)    0
#endif
#endif

#ifndef LUAJIT_DISABLE_MEMPROF

#include "lj_wbuf.h"
#include "format/ljm_format.h"

#ifndef LUAJIT_DISABLE_THREAD_SAFE
#include <pthread.h>
typedef pthread_t MPThread;
#else
typedef int MPThread;
#endif

/* -- Maps (lj_memprof_map.c) ---------------------------------------------- */

/* Numbers to numbers, neither of them 0. Lives outside of the Lua heap. */
typedef struct MPMap {
  uint64_t *slot; /* Pairs of key and value. */
  uint32_t mask;  /* Number of slots - 1, or 0 without slots. */
  uint32_t used;
} MPMap;

LJ_FUNC uint64_t lj_memprof_mapget(const MPMap *m, uint64_t key);
LJ_FUNC int lj_memprof_mapput(MPMap *m, uint64_t key, uint64_t value);
LJ_FUNC void lj_memprof_mapdel(MPMap *m, uint64_t key);
LJ_FUNC void lj_memprof_mapfree(MPMap *m);

/* -- State ---------------------------------------------------------------- */

/* A function that may be named in the stream. */
typedef struct MPFunc {
  uint64_t addr;     /* Address of the proto, C function or trace. */
  uint32_t id;       /* Its id in the stream, 0 before its definition. */
  uint32_t traceno;  /* Trace number, or 0. */
  int iscfunc;       /* It is a C function. */
  int32_t firstline; /* Lines of a proto, for the sites to drop. */
  int32_t numline;
  char name[]; /* Name of a proto, or "". */
} MPFunc;

/* Where an instruction is, once found. Filled anew when it does not fit. */
typedef struct MPCache {
  const void *key;   /* Bytecode, return address on a trace, or C function. */
  const void *owner; /* The proto or trace that holds it, or NULL. */
  uint32_t site;
  uint32_t inlined; /* Callers that the trace has inlined, or 0. */
#if LJ_64
  uint64_t unused; /* A size that is a power of 2 is found faster. */
#endif
} MPCache;

#define MP_CACHESIZE 4096       /* Entries; a power of 2. */
#define MP_MAXDEPTH  256        /* Frames of a stack. */
#define MP_MAXSAMPLE (1u << 30) /* Bytes between two samples. */
#define MP_MAXTRACE  65536      /* Trace numbers are smaller. */

/* A site as the old formats record it. */
typedef struct MPOldSite {
  uint64_t addr;
  uint32_t line;
  uint8_t source; /* MP_SOURCE_*, as the header bits have it. */
} MPOldSite;

enum { MP_SOURCE_INTERNAL = 1, MP_SOURCE_LUA, MP_SOURCE_C, MP_SOURCE_TRACE };

/* The last values of one kind of event: registers of the stream. */
typedef struct MPLast {
  uint64_t addr; /* Turned address. */
  uint32_t site;
} MPLast;

/* Where the last site was found: the frame of the function on top. */
typedef struct MPTop {
  lua_State *L;
  cTValue *frame;
  uint32_t inlined; /* On a trace: functions above that frame, or 0. */
} MPTop;

/* A word of a Lua stack. */
typedef uint64_t MPWord __attribute__((may_alias));

/* The stack of the event before, if it may be the next one's, too. */
typedef struct MPSame {
  cTValue *frame;            /* The frame on top, or NULL; */
  const lua_State *L;        /* its coroutine, */
  const TValue *stack;       /* and where that has its stack. */
  uint32_t inlined;          /* Inlined functions above that frame. */
  const uint64_t *word;      /* Guards: words that lead to all frames below; */
  const MPWord *const *addr; /* where those are; */
  const MPWord *const *end;  /* and behind the last one. */
} MPSame;

/* Functions that a trace has inlined: a list that may share its beginning. */
typedef struct MPInlined {
  uint32_t parent; /* The list without its innermost function, or 0. */
  uint32_t site;   /* Where the innermost function made its call. */
  uint32_t depth;  /* Length of the list. */
} MPInlined;

/* What an event changed. */
typedef struct MPChange {
  int kind; /* LJM_ALLOC, LJM_FREE, LJM_REALLOC. */
  const void *optr, *nptr;
  size_t osize, nsize;
} MPChange;

/* Memory outside of the VM's count. */
typedef struct MPForeign {
  uint64_t base;       /* The VM's count, less the bytes of its own events. */
  MPMap live;          /* Address -> size of what was taken while recording. */
  MPChange last;       /* The last event, while it may be foreign. */
  uint64_t nevents[4]; /* Of all events so far, those that are foreign. */
  uint64_t bytesin;
  uint64_t bytesout;
} MPForeign;

/*
** A recording of one VM. Only the thread that runs the VM touches it, until
** another one ends it when the process exits.
*/
typedef struct MPState {
  MPBuf buf;       /* What is on its way to the writer. */
  GCobj *newest;   /* What was allocated last, while its event, */
  global_State *g; /* The VM. */
  uint64_t newestsize;
  uint64_t nevents[4];   /* Events so far, by kind. */
  uint8_t *typeat;       /* at its first byte, does not record the type. */
  uint64_t bytesin;      /* Sum of all new sizes. */
  uint64_t bytesout;     /* Sum of all old sizes. */
  MPLast last[4];        /* Registers, by kind of event. */
  MPTop top;             /* Where the last site was found. */
  MPSame same;           /* The stack of the event before. */
  struct MPStack *stack; /* The stack as recorded, or NULL. */
  struct MPHook *hook;   /* What stands in its allocator's place. */
  int format;            /* LUAM_PROF_*. */
  int lines;             /* LUAM_PROF_LINES_*. */
  uint32_t depth;        /* Most frames of a stack; 1: the top only. */
  uint64_t blockevents;  /* Events before the current block. */
  uint64_t live;         /* Bytes on the heap, as META records. */
  uint64_t lost;         /* Events made by the writer. */
  uint64_t allocsize[LJM_ALLOCSIZES]; /* More of them: sizes. */
  uint64_t freesize[LJM_FREESIZES];
  uint8_t *softref;        /* Where the buffer was at the last look. */
  uint32_t step;           /* Bytes between two looks. */
  uint64_t start;          /* CLOCK_MONOTONIC at the start, nanoseconds. */
  uint64_t seen;           /* Time at the last look at the clock. */
  uint64_t marked;         /* Time of the last mark. */
  uint64_t flushed;        /* Time of the last flush. */
  uint64_t end;            /* When to stop by itself, or 0. */
  uint8_t oldmark;         /* RFC: mark the next event. */
  uint32_t nextfunc;       /* Next id of a function. */
  uint32_t nextsite;       /* Next id of a site. */
  MPMap funcs;             /* Address -> MPFunc. */
  MPMap sites;             /* Function id, line, flags -> site. */
  struct MPSample *sample; /* Or NULL, if every event is recorded. */
  MPForeign foreign;
  MPInlined *inlined; /* Lists of inlined functions; 0 is not used. */
  uint32_t ninlined, sizeinlined;
  MPMap inlinedmap;   /* Parent and site -> list. */
  uint32_t lineno;    /* The trace that is being recorded, */
  const void *linept; /* its function, */
  BCLine line;        /* line */
  int32_t linedepth;  /* and depth of inlined calls. */
  MPOldSite *oldsite; /* Old formats: by site. */
  uint32_t sizeoldsite;
  int (*on_stop)(void *arg);
  int detached; /* Another thread than the VM's ends it. */
  MPCache cache[MP_CACHESIZE];
  uint8_t exact[MP_MAXTRACE / 8]; /* Traces with exact lines. */
#if LJ_TARGET_ARM64
  uint16_t traceof[MP_CACHESIZE]; /* Traces of return addresses: guesses. */
#endif
} MPState;

/* -- The hook of a VM --- */

/* The allocator's user data while a VM is, or was, being profiled. */
typedef struct MPHook {
  MPState *mp;      /* Set while events are taken. */
  int busy;         /* An event is at work on the recording. */
  lua_Alloc allocf; /* The allocator below. */
  void *allocd;
  lua_Alloc wrapper;   /* What the last recording put in its place. */
  MPState *rec;        /* Set from a start to its stop; under the lock. */
  MPState *writing;    /* It is at its writer, called by the VM's thread. */
  global_State *g;     /* The VM. */
  struct MPHook *next; /* List of all hooks; under the lock. */
  int state;           /* MP_IDLE and so on; under the lock. */
  MPThread owner;      /* Who starts or ends it; under the lock. */
  int stuck;           /* Its end was given up; under the lock. */
  int late;            /* The VM is in an allocation that may end it. */
  long pid;            /* The process that started. */
  void (*over)(struct MPHook *h); /* Its time is over. */
} MPHook;

enum {
  MP_IDLE,
  MP_STARTING,
  MP_RUNNING,
  MP_ENDING,
  MP_ENDED /* At exit; the VM may still have it in its hands. */
};

/* What is being recorded, for as long as events are taken, or NULL. */
static LJ_AINLINE MPState *lj_memprof_active(MPHook *h)
{
  return __atomic_load_n(&h->mp, __ATOMIC_RELAXED);
}

static LJ_AINLINE void lj_memprof_setactive(MPHook *h, MPState *mp)
{
  __atomic_store_n(&h->mp, mp, __ATOMIC_RELAXED);
}

/*
** An event begins. Returns where it goes to, or NULL. From here to its end no
** other thread touches that. See lj_memprof_exit.c.
*/
static LJ_AINLINE MPState *lj_memprof_enter(MPHook *h)
{
  __atomic_store_n(&h->busy, 1, __ATOMIC_RELAXED);
  /* The compiler keeps the order of the two; it need not know of others. */
  __asm__ volatile("" : "+m"(h->busy), "+m"(h->mp));
  return lj_memprof_active(h);
}

/* It ends. */
static LJ_AINLINE void lj_memprof_leave(MPHook *h)
{
  __atomic_store_n(&h->busy, 0, __ATOMIC_RELEASE);
}

#define MP_MS U64x(00000000, 000f4240) /* Nanoseconds. */

/* -- Time and metadata (lj_memprof_clock.c) ------------------------------- */

LJ_FUNC uint64_t lj_memprof_now(void);
LJ_FUNC void lj_memprof_meta(MPState *mp);

/* -- Who is allocating (lj_memprof_where.c) ------------------------------- */

LJ_FUNC uint32_t lj_memprof_where(MPState *mp);
LJ_FUNC uint32_t lj_memprof_caller(MPState *mp, lua_State *L, cTValue *frame,
                                   cTValue *next, int *soft);
LJ_FUNC void lj_memprof_forget(MPState *mp, const void *p, size_t size);
#if LJ_HASJIT
LJ_FUNC int lj_memprof_istrace(const void *p, size_t size);
LJ_FUNC GCproto *lj_memprof_traceproto(MPState *mp, GCtrace *T,
                                       const BCIns *pc);
#endif

/* -- Stacks (lj_memprof_stack.c, lj_memprof_inlined.c) --------------------- */

LJ_FUNC int lj_memprof_newstack(MPState *mp);
LJ_FUNC void lj_memprof_freestack(MPState *mp);
LJ_FUNC void lj_memprof_clearsent(MPState *mp);
LJ_FUNC void lj_memprof_clearstack(MPState *mp);
LJ_FUNC void lj_memprof_stack(MPState *mp);
#if LJ_HASJIT
LJ_FUNC uint32_t lj_memprof_inlined(MPState *mp, GCtrace *T, SnapShot *snap);
#endif

/* -- Samples (lj_memprof_sample.c) ---------------------------------------- */

LJ_FUNC int lj_memprof_newsample(MPState *mp, uint64_t bytes, uint64_t seed);
LJ_FUNC void lj_memprof_freesample(MPState *mp);
LJ_FUNC void lj_memprof_metasample(const MPState *mp, uint64_t *bytes,
                                   uint64_t *seed);
LJ_FUNC void *lj_memprof_sampled(void *ud, void *ptr, size_t osize,
                                 size_t nsize);

/* -- Names (lj_memprof_name.c, _elf.c, _builtin.c) ------------------------ */

LJ_FUNC void lj_memprof_nameheap(MPState *mp);
LJ_FUNC void lj_memprof_namechildren(MPState *mp, GCproto *pt);
LJ_FUNC void lj_memprof_nameproto(MPState *mp, const GCproto *pt,
                                  const char *table, const char *name);
LJ_FUNC const char *lj_memprof_uvname(const GCproto *pt, uint32_t idx);
LJ_FUNC void lj_memprof_nameorphans(MPState *mp);

/* Names of an address in this process's code. */
typedef struct MPSymbol {
  uint64_t offset;           /* From the module's load address. */
  char module[LJM_NAME_MAX]; /* Path, or "". */
  char symbol[LJM_NAME_MAX]; /* Or "" if the module has none. */
} MPSymbol;

LJ_FUNC void lj_memprof_symbol(const void *addr, MPSymbol *sym);

#define MP_CNAME_MAX 256 /* Room for the name of a C function. */

LJ_FUNC const GCtab *lj_memprof_loaded(global_State *g);
LJ_FUNC void lj_memprof_cname(global_State *g, const GCfunc *fn, char *name,
                              size_t size);

/*
** The next object of the VM's list that is of a type, from o on, or NULL. Those
** that the collector is about to free are passed by: what they refer to may be
** gone already.
*/
static LJ_AINLINE GCobj *lj_memprof_nextobj(const global_State *g, GCobj *o,
                                            uint8_t gct)
{
  uint8_t dead = (g->gc.currentwhite ^ LJ_GC_WHITES) & LJ_GC_WHITES;
  while (o != NULL && (o->gch.gct != gct || (o->gch.marked & dead)))
    o = gcref(o->gch.nextgc);
  return o;
}

/* For each such object of the VM. */
#define MP_FOREACH(g, o, gct)                                                  \
  for ((o) = lj_memprof_nextobj((g), gcref((g)->gc.root), (gct)); (o) != NULL; \
       (o) = lj_memprof_nextobj((g), gcref((o)->gch.nextgc), (gct)))

/* -- Definitions (lj_symtab.c) -------------------------------------------- */

LJ_FUNC MPFunc *lj_symtab_entry(MPState *mp, const void *addr, const char *name,
                                size_t len);
LJ_FUNC MPFunc *lj_symtab_proto(MPState *mp, GCproto *pt);
LJ_FUNC const void *lj_symtab_ckey(const GCfunc *fn);
LJ_FUNC MPFunc *lj_symtab_cfunc(MPState *mp, GCfunc *fn);
LJ_FUNC uint32_t lj_symtab_site(MPState *mp, MPFunc *func, BCLine line,
                                uint32_t flags);
LJ_FUNC void lj_symtab_drop(MPState *mp, const void *addr);
LJ_FUNC void lj_symtab_free(MPState *mp);
LJ_FUNC BCLine lj_symtab_line(GCproto *pt, ptrdiff_t pos);
#if LJ_HASJIT
LJ_FUNC uint32_t lj_symtab_tracesite(MPState *mp, GCtrace *T);
#endif

/* -- The old formats (lj_memprof_old.c) ----------------------------------- */

LJ_FUNC void lj_memprof_oldbegin(MPState *mp);
LJ_FUNC void lj_memprof_oldproto(MPState *mp, GCproto *pt, const MPFunc *func);
LJ_FUNC void lj_memprof_oldcfunc(MPState *mp, const MPFunc *func);
#if LJ_HASJIT
LJ_FUNC void lj_memprof_oldtrace(MPState *mp, const MPFunc *func, GCtrace *T,
                                 BCLine line);
#endif
LJ_FUNC int lj_memprof_oldsite(MPState *mp, uint32_t site, const MPFunc *func,
                               BCLine line);
LJ_FUNC void lj_memprof_oldevent(MPState *mp, int kind, uint32_t site,
                                 const void *optr, size_t osize,
                                 const void *nptr, size_t nsize);

/* -- Exact lines on traces (lj_memprof_lines.c, or module/lines.c) --------- */

#if LJ_HASJIT
LJ_FUNC void lj_memprof_linesstart(MPState *mp, lua_State *L);
LJ_FUNC int lj_memprof_isexact(const MPState *mp, TraceNo no);

/* Notes whether a trace, once it is compiled, has exact lines. */
static LJ_AINLINE void lj_memprof_setexact(MPState *mp, TraceNo no, int exact)
{
  if (exact)
    mp->exact[no >> 3] |= (uint8_t)(1 << (no & 7));
  else
    mp->exact[no >> 3] &= (uint8_t) ~(1 << (no & 7));
}
#else
#define lj_memprof_linesstart(mp, L) UNUSED(L)
#endif
#if LJ_HASJIT && defined(LJ_MEMPROF_MODULE)
LJ_FUNC int lj_memprof_linesbusy(const global_State *g, int lines);
LJ_FUNC void lj_memprof_linesstop(MPState *mp);
LJ_FUNC void lj_memprof_linesforget(MPState *mp, const GCtrace *T);
#else
#define lj_memprof_linesbusy(g, lines) 0
#define lj_memprof_linesstop(mp)       ((void)0)
#define lj_memprof_linesforget(mp, T)  ((void)0)
#endif

/* -- The recorder's life (lj_memprof.c) ----------------------------------- */

/* What a writer of ours can do more than those of a host. */
typedef struct MPWriter {
  int (*again)(void *arg); /* See MPBuf. */
  int (*begun)(void *arg); /* META is written. Returns 0 if that is in vain. */
  void (*forked)(void *arg); /* The recording is the parent's, of a fork. */
} MPWriter;

LJ_FUNC int lj_memprof_check(lua_State *L, const struct luam_Prof_options *opt);
LJ_FUNC int lj_memprof_start(lua_State *L, const struct luam_Prof_options *opt,
                             const MPWriter *more);
LJ_FUNC int lj_memprof_isactive(const lua_State *L);

/* -- Memory outside of the VM's count (lj_memprof_foreign.c) --------------- */

/* Whose a block is that is about to be freed. */
enum {
  MP_FREE_VM,
  MP_FREE_MAYBE, /* The VM's count at the next event will show it. */
  MP_FREE_FOREIGN
};

LJ_FUNC void lj_memprof_foreignstart(MPState *mp);
LJ_FUNC size_t lj_memprof_foreignsize(const MPState *mp, const void *ptr);
LJ_FUNC void lj_memprof_foreign(MPState *mp, const MPChange *c);
LJ_FUNC int lj_memprof_settle(MPState *mp, const MPChange *c, const void *ptr,
                              size_t size);
LJ_FUNC int lj_memprof_settlealloc(MPState *mp, const void *ptr, size_t size);
LJ_FUNC int lj_memprof_freeing(MPState *mp, const void *ptr, size_t *size);

/* Bytes that the VM does not count, if all that was not settled is its own. */
static LJ_AINLINE GCSize mpforeign_missing(const MPState *mp)
{
  return (GCSize)(mp->foreign.base + mp->bytesin - mp->bytesout) -
         mp->g->gc.total;
}

/*
** True if the last event is the VM's, and so is the block of a size that is to
** be freed, or else size is 0.
*/
static LJ_AINLINE int mpforeign_isvm(const MPState *mp, size_t size)
{
  return mpforeign_missing(mp) == (GCSize)size &&
         (size == 0 || mp->foreign.live.used == 0);
}

/* -- The exit of the process (lj_memprof_exit.c) --------------------------- */

LJ_FUNC void lj_memprof_nap(void);
LJ_FUNC int lj_memprof_quiesce(MPHook *h, uint64_t until);

/* -- The allocator's wrapper (lj_memprof_event.c) -------------------------- */

LJ_FUNC void lj_memprof_complete(MPState *mp);
LJ_FUNC void *lj_memprof_pass(MPHook *h, void *ptr, size_t osize, size_t nsize);
LJ_FUNC lua_Alloc lj_memprof_wrapper(const MPState *mp);
LJ_FUNC int lj_memprof_iswrapper(lua_Alloc allocf);
LJ_FUNC void lj_memprof_look(MPHook *h, MPState *mp, int isfree);
LJ_FUNC void lj_memprof_beginblock(MPState *mp);
LJ_FUNC int lj_memprof_write(MPState *mp, int must);
LJ_FUNC void lj_memprof_flush(MPState *mp);
LJ_FUNC MPState *lj_memprof_state(global_State *g);

#endif

#endif

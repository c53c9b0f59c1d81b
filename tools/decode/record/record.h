/*
** Decoded records and the sink that receives them, for all versions of the
** stream.
**
** A reader calls the sink in the order of the stream. For functions, sites and
** lists of callers the sink returns numbers of its own, which events then refer
** to: ids and addresses of the stream never leave the reader.
*/

#ifndef LP_RECORD_H
#define LP_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ljm_format.h"
#include "strview.h"

/* One event. An allocation has no old object, a deallocation no new one. */
typedef struct LpEvent {
  uint64_t oaddr;
  uint64_t osize;
  uint64_t naddr;
  uint64_t nsize;
  uint32_t site;   /* As the sink numbers them. */
  uint32_t node;   /* Its callers; a deallocation has none to speak of. */
  uint8_t kind;    /* LJM_ALLOC, LJM_FREE, LJM_REALLOC. */
  uint8_t type;    /* Of what is allocated: LJM_TYPE_*, or any up to 15. */
  uint8_t sampled; /* Reallocation in samples: LJM_SAMPLED_*. */
  uint8_t foreign; /* It is outside of the VM's count. */
} LpEvent;

#define LP_BATCH 128 /* Events come in arrays of up to so many. */

/* Sites that every sink knows. */
enum {
  LP_SITE_INTERNAL, /* The VM itself. */
  LP_SITE_UNKNOWN,  /* The recorder could not determine it. */
  LP_SITE_LOST,     /* Its definition was lost with a part of the stream. */
  LP_SITE_BEFORE,   /* Objects older than the recording. */
  LP_SITE_CUT,      /* In place of callers that are not recorded. */
  LP_SITE_OUTSIDE,  /* Native code that no Lua code called. */
  LP_SITE_FIRST     /* The first one that is defined. */
};

#define LP_SITE_MAX ((1u << 28) - 1) /* No number of a site is larger. */

/* Lists of callers that every sink knows. */
enum {
  LP_NODE_ROOT, /* No callers. */
  LP_NODE_CUT   /* Callers that are not recorded. */
};

#define LP_FUNC_NONE 0 /* No function, or one whose definition was lost. */

typedef enum LpFuncKind {
  LP_FUNC_UNDEFINED, /* LP_FUNC_NONE. */
  LP_FUNC_LUA,
  LP_FUNC_LUA_ADDR, /* A Lua function of which only the address is known. */
  LP_FUNC_C,
  LP_FUNC_C_ADDR, /* A C function of which only the address is known. */
  LP_FUNC_TRACE,
  LP_FUNC_NATIVE, /* A function of a module. */
  LP_FUNC_KERNEL, /* A function of the kernel. */
  LP_FUNC_MARK    /* No function: the name says what is missing. */
} LpFuncKind;

/* A function, or a trace of which only the start is known. */
typedef struct LpFunc {
  LpFuncKind kind;
  uint32_t flags;   /* LJM_PROTO_*, LJM_CFUNC_*, LJM_NATIVE_*. */
  uint64_t addr;    /* *_ADDR; of a trace's machine code, of a Lua function, if
                    ** not 0; native: in the module's file. */
  LpStr chunk;      /* Lua: as the VM has it. C: the module's path. */
  LpStr name;       /* Lua: as it was defined. C, native: the symbol. Or
                    ** empty. */
  LpStr named;      /* C: its name in Lua, or empty. */
  uint64_t first;   /* Lua: the line where it is defined. */
  uint64_t lines;   /* Lua: behind that line, up to its last one. */
  uint64_t hash;    /* Lua: of its bytecode. */
  uint64_t offset;  /* C: its address in the module. */
  uint32_t module;  /* Native: as the sink numbers them. */
  uint64_t traceno; /* Trace: its number. */
  uint32_t start;   /* Trace: the function where it starts. */
  uint64_t line;    /* Trace: the line where it starts. */
} LpFunc;

#define LP_THREAD_NONE 0 /* An unknown one. */

/* A file with machine code. */
typedef struct LpModule {
  LpStr buildid; /* Or empty. */
  LpStr path;
} LpModule;

typedef struct LpProcess {
  uint64_t pid;
  uint64_t pidns; /* 0: not known. */
  uint64_t start; /* In clock ticks since boot; 0: not known. */
  LpStr command;
  LpStr cgroup; /* Empty: not known. */
} LpProcess;

typedef struct LpThread {
  uint32_t process; /* As the sink numbers them. */
  uint64_t tid;
  LpStr name;
} LpThread;

/* A thread was met with this stack. */
typedef struct LpSample {
  uint32_t node;   /* All of the stack: its leaf is the innermost one. */
  uint32_t thread; /* As the sink numbers them. */
  uint64_t count;  /* How often. */
  int cut;         /* It does not reach the root. */
} LpSample;

/* A line in a function. */
typedef struct LpSite {
  uint32_t func;
  uint32_t flags; /* LJM_SITE_*. */
  uint64_t line;
} LpSite;

#define LP_LINE_NONE UINT64_MAX /* As the field's recorders write it. */

/* A fact about the recording. */
typedef struct LpMeta {
  LpStr key;
  uint8_t tag; /* LJM_META_UINT or LJM_META_STRING. */
  uint64_t u;
  LpStr s;
} LpMeta;

/* Is it a number of the name KEY? */
static inline int lp_meta_is(const LpMeta *m, const char *key)
{
  return m->tag == LJM_META_UINT && lp_str_is(m->key, key);
}

/* Sums of events. */
typedef struct LpSums {
  uint64_t allocs, reallocs, frees;
  uint64_t in, out; /* Sums of new and of old sizes. */
} LpSums;

/* The recorder's own sums, at the end of a whole stream. */
typedef struct LpTotals {
  uint64_t offset; /* Where they are in the stream. */
  uint64_t flags;  /* LJM_TOTALS_*. */
  LpSums sums;     /* Of all events. */
  uint64_t live;
  uint64_t lost; /* Events that the stream could not hold. */
  uint64_t ns;
  int hasforeign; /* The recorder knows which events are outside of the */
  LpSums foreign; /* VM's count: these. */
  uint64_t dropped_blocks; /* That the recorder had no room for, */
  uint64_t dropped_events; /* with so many events, */
  uint64_t dropped_bytes;  /* and bytes of the stream. */
} LpTotals;

/* A heap dump was taken here. */
typedef struct LpDumpMark {
  uint64_t id;     /* The same as in the dump. */
  uint64_t events; /* Before it, also those that were lost. */
  uint64_t ns;     /* Since the start. */
} LpDumpMark;

typedef enum LpDamageKind {
  LP_ODD,    /* It contradicts itself, but nothing is missing. */
  LP_GAP,    /* Something is missing before more that could be read. */
  LP_CUT,    /* It cannot be read on from here. */
  LP_OPEN,   /* It ends where more was to come: its writer was killed, or has
             ** not finished. */
  LP_NOTHING /* It could not be read at all. */
} LpDamageKind;

/* Where a stream is not as it should be. */
typedef struct LpDamage {
  LpDamageKind kind;
  uint64_t offset;
  uint64_t bytes;  /* That were lost. */
  uint64_t events; /* That are known to be lost. */
  char what[160];  /* What was expected, what was there instead. */
} LpDamage;

/* Damage of KIND at OFFSET of the stream. FMT and what follows are as in
** printf, and end up in .what.
*/
LpDamage lp_damage_of(LpDamageKind kind, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The receiver of decoded records. All pointers but dump and heap must be set.
** Records, and the strings in them, are valid during the call only. CTX is
** passed to all calls.
*/
typedef struct LpSink {
  void *ctx;
  /* It is a memory profile (m), a CPU profile (p) or a heap dump (d). Called
  ** once, before the first event or sample; never, if nothing can be read.
  */
  void (*body)(void *ctx, int kind);
  /* A fact about the recording. */
  void (*meta)(void *ctx, const LpMeta *m);
  /* Definitions. Each returns the sink's number. */
  uint32_t (*func)(void *ctx, const LpFunc *f);
  uint32_t (*site)(void *ctx, const LpSite *s);
  /* The list of callers CALLERS, extended by SITE, which they called. */
  uint32_t (*node)(void *ctx, uint32_t callers, uint32_t site);
  /* A batch of N events, at most LP_BATCH, between two time marks. */
  void (*events)(void *ctx, const LpEvent *ev, size_t n);
  /* A time mark: nanoseconds since the start of the recording. */
  void (*time)(void *ctx, uint64_t ns);
  /* A place where the stream is damaged. */
  void (*damage)(void *ctx, const LpDamage *d);
  /* The recorder's sums, at the end. */
  void (*totals)(void *ctx, const LpTotals *t);
  /* Definitions of CPU profiles. Each returns the sink's number. */
  uint32_t (*module)(void *ctx, const LpModule *m);
  uint32_t (*process)(void *ctx, const LpProcess *p);
  uint32_t (*thread)(void *ctx, const LpThread *t);
  /* A stack of a thread, and how often it was sampled. */
  void (*sample)(void *ctx, const LpSample *s);
  /* A key and value of the sampler's statistics. */
  void (*statistic)(void *ctx, const LpMeta *m);
  /* The statistics are complete; they start at OFFSET of the stream. */
  void (*statistics_end)(void *ctx, uint64_t offset);
  /* A heap dump was taken here. Returns 1 if the rest of the stream need not be
  ** read. May be NULL.
  */
  int (*dump)(void *ctx, const LpDumpMark *m);
  /* Receives what a heap dump has besides body and damage (heap.h); NULL: heap
  ** dumps are refused.
  */
  const struct LpHeapSink *heap;
} LpSink;

/* Report damage to SINK. The other arguments are those of lp_damage_of. */
#define lp_damage_report(sink, ...)                                            \
  do {                                                                         \
    const LpDamage damage_ = lp_damage_of(__VA_ARGS__);                        \
    (sink)->damage((sink)->ctx, &damage_);                                     \
  } while (0)

#endif

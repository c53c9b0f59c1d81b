/*
** A profile: rows of sites, and the counters of what happened there.
**
** It depends on no format, reads nothing and prints nothing. Any number of
** streams add to one profile (ingest.h); sites with the same key are one row.
*/

#ifndef LP_PROFILE_H
#define LP_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "timeseries.h"
#include "cpu.h"
#include "files.h"
#include "intern.h"
#include "mem.h"
#include "origin.h"
#include "pick.h"
#include "record.h"
#include "sampled.h"
#include "side.h"
#include "sizes.h"
#include "slices.h"
#include "snaps.h"
#include "overrides.h"
#include "timeline.h"

/* What a Lua function is in a side of a diff. Another one may be at the same
** place in the other side, with the same bytecode.
*/
typedef struct LpFuncSide {
  uint8_t defined;
  uint32_t name;
  uint64_t lines; /* Behind the first one, up to the last one. */
} LpFuncSide;

/* What is known of a function; strings are numbers in LpProfile.names. */
typedef struct LpFuncInfo {
  LpFuncKind kind;
  uint32_t flags;
  uint32_t chunk;   /* Chunk or module. */
  uint32_t name;    /* Name or symbol. */
  uint32_t named;   /* C: the name in Lua. */
  uint32_t start;   /* Trace: the function where it starts. */
  uint64_t first;   /* Lua: where it is defined. Trace: its number. */
  uint64_t line;    /* Trace: the line where it starts. */
  uint64_t addr;    /* Address or offset, where that is all there is. */
  uint64_t hash;    /* Lua: of the bytecode. */
  uint32_t buildid; /* Native: of its module. */
  LpFuncSide side[LP_NSIDE]; /* Lua. */
} LpFuncInfo;

/* A row: where it is, and what happened there, with all callers and all types.
** The figures are from lp_profile_finalize; of samples they are rounded.
*/
typedef struct LpRow {
  uint32_t func;
  uint32_t marks; /* LJM_SITE_APPROX, LJM_SITE_UNSURE; of samples also
                  ** LJM_SITE_TRACE: the line in compiled code. */
  uint32_t sides; /* Of a diff, those that have it: 1 << LP_NOW and so on. */
  uint64_t line;
  uint64_t twice; /* Objects of this site without a recorded deallocation. */
  uint64_t allocs, alloc_bytes;
  uint64_t reallocs, realloc_in, realloc_out;
  uint64_t frees, free_bytes;
  uint64_t arrived; /* Objects that became this site's. */
  uint64_t left;    /* Objects of this site that went away. */
  uint64_t live;    /* Bytes, modulo 2^64: "below 0" after a gap. */
} LpRow;

/* What a profile may be of. */
enum {
  LP_OF_MEMORY = 1,
  LP_OF_CPU = 2,
  LP_OF_HEAP = 4,
  LP_OF_JOINED = 8, /* A heap dump, joined with its recording. */
  LP_OF_LADDER = 16 /* Heap dumps of one program, one after another. */
};

/* What is counted on request only. */
enum {
  LP_WANT_PEAK = 1,        /* The high-water mark, by origin. */
  LP_WANT_TEMPORARY = 2,   /* Objects that went away soon. */
  LP_WANT_YOUNG = 4,       /* The youngest of the live objects. */
  LP_WANT_SIZES = 8,       /* How many objects of each size there were. */
  LP_WANT_TIME = 16,       /* The time series. */
  LP_WANT_SNAPS = 32,      /* Heap snapshots, in LpWanted.snap. */
  LP_WANT_AGES = 64,       /* When the live objects came: LP_QUARTER_*. */
  LP_WANT_THREADS = 128,   /* Samples by stack and thread: LpCpu.stacks. */
  LP_WANT_PROCESSES = 256, /* Memory by process: LpProfile.memory. */
  LP_WANT_SLICES = 512,    /* What happened in each step of time. */
  LP_WANT_ARRIVALS = 1024, /* LpProfile.arrivals. */
  LP_WANT_ADDRESSES = 2048 /* Functions at two addresses are two. To be set
                           ** before the first function is read. */
};

#define LP_SNAP_EACH 1000000000 /* LpWanted.snap, if nothing is said. */

/* Lua code in files below a folder is as if it were below another one. */
typedef struct LpMoved {
  const char *from, *to;
} LpMoved;

/* To be set before the first event is read. */
typedef struct LpWanted {
  unsigned what;      /* LP_WANT_*. */
  uint64_t temporary; /* Fewer other allocations than that in between are
                      ** soon; 0: than ever were live at once. */
  double young;       /* Percent of all births, the last ones. */
  uint64_t from, to;  /* Nanoseconds; what happens outside does not count. */
  uint64_t snap;      /* Nanoseconds between two heap snapshots, or 0. */
  int native;         /* Samples are of native functions, not of Lua lines. */
  const LpPick *pick; /* Whose samples and events count: these conditions, */
  size_t npick;       /* so many. */
  const LpMoved *map; /* The first that fits counts, of so many. */
  size_t nmap;
} LpWanted;

/* A Lua function of a baseline, and what it is now. */
typedef struct LpMatch {
  uint32_t base, now;
  int guessed; /* By its bytecode: its name is another one. */
} LpMatch;

/* The baseline of a diff: what was read before lp_profile_set_baseline. */
typedef struct LpBaseline {
  LpFigures *figures; /* By origin, */
  uint32_t n;         /* for so many. */
  uint64_t *samples;  /* By stack, */
  size_t nsamples;    /* for so many. */
  uint64_t period;    /* Of which each is worth that, as lp_cpu_period. */
  uint64_t base;      /* As in LpProfile. */
  int nobefore;
  LpTimeSeries timeseries; /* If wanted. */
  LpMatch *match; /* Functions that are elsewhere now, or are others, */
  size_t nmatch, capmatch; /* so many; in the order of the baseline. */
  int present;             /* A baseline was set. */
} LpBaseline;

/* The process of a memory profile. */
typedef struct LpProcessMemory {
  uint32_t process; /* Of LpCpu.processes. */
  LpWeight come;    /* Objects that came. */
  LpFixed live;     /* Bytes live at the end. */
} LpProcessMemory;

typedef struct LpProfile {
  unsigned of; /* LP_OF_*, of all streams read. */
  int more;    /* More streams follow before rows are read. */
  LpWanted wanted;
  LpIntern names;
  LpIntern funckeys;
  LpIntern sitekeys;
  LpFuncInfo *func; /* As many as funckeys. */
  size_t nfunc;     /* Room. */
  LpRow *row;       /* As many as sitekeys. */
  size_t nrow;      /* Room. */
  LpOrigins origins;
  LpSampled sampled;
  LpOverrides overrides;
  LpOverrides arrivals; /* If wanted: allocations, by site and 0; what was
                        ** reallocated with its new bytes, as overrides. */
  LpCpu cpu;
  LpProcessMemory *memory; /* By memory profile, if wanted, */
  size_t memories;         /* room, */
  uint32_t nmemory;        /* for so many. */
  LpSizeClass *size;       /* LP_NSIZES of them, if wanted. */
  LpTimeSeries timeseries; /* If wanted, */
  LpSnaps snaps;           /* the same. */
  LpSlices slices[2];      /* If wanted, of memory by origin, and of samples by
                           ** stack. */
  uint64_t peak_bytes;     /* The highest peak of a stream, */
  uint64_t peak_ns;        /* and when that was. */
  uint64_t base;  /* Bytes live when the recordings started, where known. */
  LpWeight elder; /* Objects that were, outside of the VM's count, and that
                  ** have gone. */
  uint64_t sparse, dense; /* Of samples: most, fewest bytes between two. */
  int nobefore; /* Streams of which it is not known what (before start) holds.
                 */
  LpBuf guess;  /* Why live figures are approximate, if they are. */
  uint64_t realtime; /* When the first of them began, or 0. */
  uint64_t ns;       /* The last time mark of all, on the time line. */
  LpTimeline timeline;
  LpFiles files;
  LpBaseline baseline;
} LpProfile;

/* Are memory and CPU in it? */
static inline int lp_profile_joint(const LpProfile *prof)
{
  return prof->of == (LP_OF_MEMORY | LP_OF_CPU);
}

/* Is a site in a Lua function, or in compiled code of one? */
static inline int lp_profile_lua(const LpProfile *prof, uint32_t site)
{
  LpFuncKind kind = prof->func[prof->row[site].func].kind;
  return kind == LP_FUNC_LUA || kind == LP_FUNC_LUA_ADDR ||
         kind == LP_FUNC_TRACE;
}

/* An empty profile. The caller frees it with lp_profile_free. */
LpProfile *lp_profile_new(void);

/* Free a profile and all that it owns. */
void lp_profile_free(LpProfile *prof);

/* The number of a function. Equal functions have one number and the first of
** their most complete definitions. Strings are copied.
*/
uint32_t lp_profile_func(LpProfile *prof, const LpFunc *f);

/* The number of a function like FUNC, a Lua function of the baseline, that is
** none now, as another one is where it was.
*/
uint32_t lp_profile_gone(LpProfile *prof, uint32_t func);

/* The number of a site, which is that of its row. */
uint32_t lp_profile_site(LpProfile *prof, const LpSite *s);

/* A stream holds samples only, one for SAMPLE bytes on average. */
void lp_profile_sampled(LpProfile *prof, uint64_t sample);

/* Compute the figures of all rows from what was read so far. */
void lp_profile_finalize(LpProfile *prof);

/* Make all that was read so far the baseline of a diff, and start counting
** anew. Numbers of functions, sites and origins stay valid.
*/
void lp_profile_set_baseline(LpProfile *prof);

/* Free the baseline. */
void lp_profile_baseline_free(LpProfile *prof);

/* A string by its number. It belongs to PROF, and moves when names
** are added.
*/
LpStr lp_profile_name(const LpProfile *prof, uint32_t name);

/* Live figures are approximate because of WHY. The first reason is kept. */
void lp_profile_guess(LpProfile *prof, const char *why);

#endif

/*
** The facts that a summary states: what was recorded, how sure that is, and
** which lines of code have most of it.
**
** Native code, and what the VM does, count for the Lua line that caused them,
** if its callers are known. Numbers only: sentences are the report's.
*/

#ifndef LP_SUMMARY_H
#define LP_SUMMARY_H

#include "calltree.h"

/* What lines are compared by. */
typedef enum LpSummaryFigure {
  LP_SUMMARY_BYTES,    /* Allocated. */
  LP_SUMMARY_LIVE,     /* Of these, live at the end. */
  LP_SUMMARY_SAMPLES,  /* Of CPU time, with native code that it called. */
  LP_SUMMARY_TOTAL,    /* The same, with all that it called. */
  LP_SUMMARY_ALLOC_GC, /* Samples in allocation and collection. */
  LP_NSUMMARY
} LpSummaryFigure;

/* How leaked bytes are spread over all allocations. */
typedef enum LpSummaryGrowth {
  LP_GROWTH_UNKNOWN,
  LP_GROWTH_STEADY, /* In each of the first three quarters about as much. */
  LP_GROWTH_START,  /* Most of it in the first quarter. */
  LP_GROWTH_OTHER
} LpSummaryGrowth;

/* A line of code; or code that no Lua line is known for. */
typedef struct LpSummaryLine {
  uint32_t site; /* Of those that are this line, one; LP_NONE: of all lines. */
  uint64_t n[LP_NSIDE][LP_NSUMMARY];
  uint64_t quarter[3]; /* Leaked bytes of the first three quarters of all
                       ** allocations, where known. */
} LpSummaryLine;

/* How well files were read. */
typedef struct LpSummaryHarm {
  uint32_t files;  /* That were read, without those of the baseline. */
  uint32_t cut;    /* Of these, end early, or cannot be read on; */
  uint32_t gaps;   /* of the rest, have something missing before the end; */
  uint32_t unread; /* Could not be read at all: not among files. */
  uint32_t odd;    /* of the rest, contradict themselves. */
  uint64_t lost;   /* Events, records of samples known to be lost. */
} LpSummaryHarm;

/* Whose memory, or CPU time, it is. */
typedef struct LpSummarySource {
  uint64_t profiles;  /* That were read. */
  uint64_t processes; /* That they are of, as far as known. */
  uint64_t pid;       /* The first one's; 0: not known. */
  LpStr command;      /* The same, or empty. */
  uint64_t ns;        /* From start to end; 0: not known. */
} LpSummarySource;

typedef struct LpSummary {
  const LpProfile *prof;
  LpSummarySource memory, cpu;
  LpSummaryHarm harm;
  uint64_t events;  /* Of memory. */
  uint64_t freed;   /* Bytes of those allocated in the recording. */
  uint64_t approx;  /* Bytes allocated by sites whose line is approximate. */
  uint64_t unsure;  /* Samples whose innermost function is not proven. */
  uint64_t inexact; /* Samples whose innermost line is approximate. */
  uint64_t outside; /* Samples in no Lua function. */
  uint64_t part[LP_NMETRIC]; /* Samples by what they were doing: from
                             ** LP_METRIC_INTERPRETED on. 0 with --native. */
  int aged;                  /* It is known when live objects came. */
  int stacks;                /* Callers of allocations are known. */
  LpSummaryLine all;
  uint64_t changed[LP_NSUMMARY]; /* In a diff: sums of all lines' changes,
                                 ** without their signs. */
  LpSummaryLine *line;           /* Those that have anything, */
  size_t n;                      /* so many. */
} LpSummary;

/* Compute the facts of PROF, of memory, of CPU time, or both; of what SHAPE
** keeps (NULL: all). They end with it, and with lp_summary_close.
*/
void lp_summary_open(LpSummary *s, const LpProfile *prof, const LpShape *shape);

/* Free the memory. */
void lp_summary_close(LpSummary *s);

/* The lines with the largest shares (lp_summary_share), of CPU time, of bytes
** allocated, or in a diff of live bytes, largest first: at most MOST, into ROW.
** Of CPU time alone they are Lua lines only. Of both, but not in a diff, the
** first ones by CPU time and by bytes are among them, with MOST of 2 or more.
** Returns how many there are.
*/
size_t lp_summary_rows(const LpSummary *s, LpSummaryLine *row, size_t most);

/* N of a line's figure now, less that of the baseline, modulo 2^64. */
static inline uint64_t lp_summary_change(const LpSummaryLine *l,
                                         LpSummaryFigure f)
{
  return l->n[LP_NOW][f] - l->n[LP_BASE][f];
}

/* The share of a line of all, from 0 to 1; of a diff, its part of the sum of
** all changes, whatever their signs.
*/
double lp_summary_share(const LpSummary *s, const LpSummaryLine *l,
                        LpSummaryFigure f);

/* Leaked bytes of a line. Where it is known when they came, without those of
** the last quarter of all allocations, which may be garbage: as
** --ignore-youngest=25 does.
*/
uint64_t lp_summary_leaked(const LpSummary *s, const LpSummaryLine *l);

/* A function that leaks. */
typedef struct LpSummaryLeak {
  uint32_t site;          /* Its line with most leaked bytes; LP_NONE: nothing
                          ** leaks. */
  uint32_t lines;         /* So many of it have any. */
  uint64_t bytes;         /* Leaked by all of them. */
  LpSummaryGrowth growth; /* How these came. */
} LpSummaryLeak;

/* The function with most leaked bytes. */
LpSummaryLeak lp_summary_leak(const LpSummary *s);

/* Are the leaked bytes of all lines too few to be worth a line? */
int lp_summary_tight(const LpSummary *s);

/* Is it a line of Lua code of the program? Builtins of LuaJIT, and functions of
** which nothing is known, are not.
*/
int lp_summary_lua(const LpProfile *prof, uint32_t site);

#endif

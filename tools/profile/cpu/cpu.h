/*
** CPU profiles beside the call tree: modules, processes, threads, and the
** statistics of the samplers.
*/

#ifndef LP_CPU_H
#define LP_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "intern.h"
#include "mem.h"
#include "record.h"
#include "thread_stacks.h"

/* Strings are numbers in LpProfile.names. */
typedef struct LpModuleInfo {
  uint32_t path;
  uint32_t buildid; /* Its bytes. */
} LpModuleInfo;

typedef struct LpProcessInfo {
  uint64_t pid, pidns, start;
  uint32_t command, cgroup, host;
  uint32_t unused; /* 0. */
} LpProcessInfo;

typedef struct LpThreadInfo {
  uint64_t tid;
  uint32_t process;
  uint32_t name;
} LpThreadInfo;

typedef struct LpCpu {
  LpIntern *names;
  LpIntern modules, processes, threads; /* The structures above, packed. */
  uint64_t *thread;                     /* Samples by thread, */
  size_t nthread;                       /* for so many. */
  uint8_t *picked;                      /* By thread, LP_PICKED_*, */
  size_t npicked;                       /* for so many. */
  LpIntern keys;                        /* Keys of the statistics, */
  uint64_t *stat;                       /* and the sums of their values. */
  size_t nstat;
  LpThreadStacks stacks; /* Counted if LP_WANT_THREADS. */
  LpBuf event;           /* What is sampled: "cpu-clock". */
  uint64_t samples;      /* All that were read; at most LP_SAMPLES_MAX. */
  uint64_t outside;      /* Not among these: of a time that is not wanted, */
  uint64_t others;       /* or of processes and threads that are not. */
  uint64_t cut;          /* Of these, do not reach the root. */
  uint64_t expected;   /* Samples that the CPU time used is worth, if known. */
  uint64_t slow, fast; /* Fewest and most samples a second. */
  uint64_t streams;    /* So many were read, */
  uint64_t with_stats; /* so many of them with statistics; */
  uint64_t lost;       /* SAMPLE records that are known to be lost. */
} LpCpu;

/* Values of LpCpu.picked. 0: it was not looked at yet. */
enum { LP_PICKED_NO = 1, LP_PICKED_YES };

#define LP_SAMPLES_MAX ((uint64_t)1 << 62) /* So that no sum overflows. */

/* Start with the unknown module, process and thread, all number 0. NAMES is the
** profile's string table and stays its property.
*/
void lp_cpu_open(LpCpu *cpu, LpIntern *names);

/* Free the memory. */
void lp_cpu_close(LpCpu *cpu);

/* Set all counters to 0, for what follows a baseline. Numbers of modules,
** processes and threads stay valid.
*/
void lp_cpu_reset(LpCpu *cpu);

/* The number of a module, the same for equal modules. */
uint32_t lp_cpu_module(LpCpu *cpu, const LpModule *m);

/* The number of a process, the same for equal processes. HOST is the number of
** its machine's name in the string table.
*/
uint32_t lp_cpu_process(LpCpu *cpu, const LpProcess *p, uint32_t host);

/* The number of a process of which all is known. Its pid namespace does not
** count.
*/
uint32_t lp_cpu_owner(LpCpu *cpu, const LpProcessInfo *p);

/* The number of a thread, the same for equal threads. */
uint32_t lp_cpu_thread(LpCpu *cpu, const LpThread *t);

/* Copy what is known of a module, process or thread to the structure TO, by its
** number ID in OF: cpu->modules, ->processes or ->threads.
*/
void lp_cpu_info(const LpIntern *of, uint32_t id, void *to);

/* Count samples of a thread. Returns 0, and counts nothing, if there would be
** more than LP_SAMPLES_MAX.
*/
int lp_cpu_sample(LpCpu *cpu, const LpSample *s);

/* Add a value of a stream's statistics to the sum of its key. */
void lp_cpu_add_statistic(LpCpu *cpu, LpStr key, uint64_t value);

/* Find the sum of a key of the statistics. Returns 0 if no stream has it. */
int lp_cpu_find(const LpCpu *cpu, const char *key, uint64_t *value);

/* A stream was sampled HZ times a second. */
void lp_cpu_rate(LpCpu *cpu, uint64_t hz);

/* Nanoseconds of CPU time per sample; 0 if unknown or not the same in all
** streams.
*/
uint64_t lp_cpu_period(const LpCpu *cpu);

/* The number of samples with an incomplete stack. */
uint64_t lp_cpu_truncated(const LpCpu *cpu);

#endif

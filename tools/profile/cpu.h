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

/* Strings are numbers in LpProfile.names. */
typedef struct LpModuleInfo {
  uint32_t path;
  uint32_t buildid; /* Its bytes. */
} LpModuleInfo;

typedef struct LpProcessInfo {
  uint64_t pid, pidns, start;
  uint64_t command;
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
  LpIntern keys;                        /* Keys of the statistics, */
  uint64_t *stat;                       /* and the sums of their values. */
  size_t nstat;
  LpBuf event;         /* What is sampled: "cpu-clock". */
  uint64_t samples;    /* All that were read; at most LP_SAMPLES_MAX. */
  uint64_t outside;    /* Not among these: of a time that is not wanted. */
  uint64_t cut;        /* Of these, do not reach the root. */
  uint64_t expected;   /* Samples that the CPU time used is worth, if known. */
  uint64_t slow, fast; /* Fewest and most samples a second. */
  uint64_t streams;    /* So many were read, */
  uint64_t with_stats; /* so many of them with statistics; */
  uint64_t lost;       /* SAMPLE records that are known to be lost. */
} LpCpu;

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

/* The number of a process, the same for equal processes. */
uint32_t lp_cpu_process(LpCpu *cpu, const LpProcess *p);

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

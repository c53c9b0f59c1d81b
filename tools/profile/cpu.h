/*
** What a profile knows of CPU profiles beside its call tree: modules, threads,
** the samplers' books.
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
  LpIntern keys;                        /* Keys of the books, */
  uint64_t *stat;                       /* and the sums of their values. */
  size_t nstat;
  LpBuf event;         /* What is sampled: "cpu-clock". */
  uint64_t samples;    /* All that were read; at most LP_SAMPLES_MAX. */
  uint64_t outside;    /* Not among these: of a time that is not wanted. */
  uint64_t cut;        /* Of these, do not reach the root. */
  uint64_t expected;   /* Samples that the CPU time used is worth, if known. */
  uint64_t slow, fast; /* Fewest and most samples a second. */
  uint64_t streams;    /* So many were read, */
  uint64_t with_stats; /* so many of them to their books; */
  uint64_t lost;       /* SAMPLE records that are known to be lost. */
} LpCpu;

#define LP_SAMPLES_MAX ((uint64_t)1 << 62) /* So that no sum overflows. */

void lp_cpu_open(LpCpu *cpu, LpIntern *names);
void lp_cpu_close(LpCpu *cpu);
void lp_cpu_reset(LpCpu *cpu);
uint32_t lp_cpu_module(LpCpu *cpu, const LpModule *m);
uint32_t lp_cpu_process(LpCpu *cpu, const LpProcess *p);
uint32_t lp_cpu_thread(LpCpu *cpu, const LpThread *t);
LpModuleInfo lp_cpu_module_info(const LpCpu *cpu, uint32_t module);
LpProcessInfo lp_cpu_process_info(const LpCpu *cpu, uint32_t process);
LpThreadInfo lp_cpu_thread_info(const LpCpu *cpu, uint32_t thread);
int lp_cpu_sample(LpCpu *cpu, const LpSample *s);
void lp_cpu_add_statistic(LpCpu *cpu, LpStr key, uint64_t value);
int lp_cpu_find(const LpCpu *cpu, const char *key, uint64_t *value);
void lp_cpu_rate(LpCpu *cpu, uint64_t hz);
uint64_t lp_cpu_period(const LpCpu *cpu);
uint64_t lp_cpu_truncated(const LpCpu *cpu);
void lp_cpu_expect(LpCpu *cpu, uint64_t samples);

#endif

/*
** The process that a stream is about, and when it begins; as in META.
*/

#ifndef _LJ_MEMPROF_ORIGIN_H
#define _LJ_MEMPROF_ORIGIN_H

#include "lj_def.h"

/* Bytes of names, with their ends; longer ones are cut. */
#define MPORIGIN_COMM 64
#define MPORIGIN_HOST 65
#define MPORIGIN_PATH 512
#define MPORIGIN_LINE 256

typedef struct MPOrigin {
  uint64_t pid;
  uint64_t pidns;             /* Inode of the pid namespace, or 0. */
  uint64_t processstart;      /* Clock ticks since boot, or 0. */
  uint64_t realtime;          /* Nanoseconds of CLOCK_REALTIME, */
  uint64_t monotonic;         /* and of CLOCK_MONOTONIC. */
  char comm[MPORIGIN_COMM];   /* The name of the process, */
  char cgroup[MPORIGIN_PATH]; /* the path of its control group, its end, */
  char host[MPORIGIN_HOST];   /* the machine's name, */
  char line[MPORIGIN_LINE];   /* and its command line; or empty. */
} MPOrigin;

/* Looks up the process that runs, and the time. Allocates nothing. */
LJ_FUNC void lj_memprof_origin(MPOrigin *o);

/* CLOCK_REALTIME in nanoseconds. */
LJ_FUNC uint64_t lj_memprof_realtime(void);

#endif

/*
** Writes a CPU profile as a stream of version 0x10: doc/stream-format.md.
**
** Strings end with NUL, are copied, and may be NULL for empty ones. No call
** fails: an error (disk full, pipe closed, no memory) is remembered, nothing is
** written after it, and ls_stream_close returns it. Writing to a closed
** pipe raises SIGPIPE, as ever: the program has to ignore it. A stream belongs
** to one thread at a time.
*/

#ifndef LS_STREAM_H
#define LS_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "sites.h"

typedef struct LsStream LsStream;

/* Facts about the recording. What is 0 or NULL is left out. */
typedef struct LsStreamInfo {
  const char *producer; /* "ljprof sysprof 0.1.0". */
  const char *event;    /* What samples: "cpu-clock", "tick". */
  const char *kernel;   /* Its release, as uname -r. */
  const char *arch;     /* "x64". */
  const char *host;     /* The machine's name. */
  const char *options;  /* The sampler's, as they were given. */
  uint64_t hz;          /* Samples a second of CPU time, */
  uint64_t period_ns;   /* and nanoseconds of CPU time between two. */
  uint64_t pid;         /* The process sampled, if it is one; */
  uint64_t pidns;       /* inode of the pid namespace of all numbers. */
  uint64_t realtime;    /* Both clocks at the start, in nanoseconds. */
  uint64_t monotonic;
} LsStreamInfo;

typedef struct LsProcess {
  uint32_t pid;
  uint64_t pidns;      /* Inode of its own pid namespace; 0: not known. */
  uint64_t start;      /* Clock ticks since boot; 0: not known. */
  const char *command; /* Its command line, or its name. */
  const char *cgroup;  /* Path of its control group. */
} LsProcess;

/* One of the statistics: "delivered", 1234. The key belongs to the caller. */
typedef struct LsStatistic {
  const char *key;
  uint64_t value;
} LsStatistic;

/* Begin a stream on FD, which belongs to the caller. INFO is copied. NULL
** without memory. The caller closes it by ls_stream_close.
*/
LsStream *ls_stream_open(int fd, const LsStreamInfo *info);

/* errno of the first failure, or 0. */
int ls_stream_error(const LsStream *s);

/* Records of samples that were written in whole blocks. */
uint64_t ls_stream_written(const LsStream *s);

/* The number of a module, by its path and a build-id of N bytes. It is defined
** in the stream when it is new. Without memory the number is that of nothing
** known.
*/
uint32_t ls_stream_module(LsStream *s, const char *path, const uint8_t *buildid,
                          size_t n);

/* The number of a site. Returns as ls_stream_module. */
uint32_t ls_stream_site(LsStream *s, const LsSite *site);

/* The number of a process. Returns as ls_stream_module. */
uint32_t ls_stream_process(LsStream *s, const LsProcess *p);

/* The number of thread TID of the process with the number PROCESS. Returns as
** ls_stream_module.
*/
uint32_t ls_stream_thread(LsStream *s, uint32_t process, uint32_t tid,
                          const char *name);

/* The samples that follow were taken in the interval that ends NS nanoseconds
** after the start. All before is written out.
*/
void ls_stream_time(LsStream *s, uint64_t ns);

/* A thread was met COUNT times with this stack: N sites, outermost first. CUT:
** it does not reach the root. Of too many sites the innermost are kept.
*/
void ls_stream_sample(LsStream *s, uint32_t thread, const uint32_t *sites,
                      size_t n, int cut, uint64_t count);

/* Write N statistics, which end the stream; readers take a stream without them
** for truncated. Returns 0, or errno of the first failure of all.
*/
int ls_stream_end(LsStream *s, const LsStatistic *stats, size_t n);

/* Write what is left, with the statistics unless they are NULL, and free the
** stream. Returns as ls_stream_end.
*/
int ls_stream_close(LsStream *s, const LsStatistic *stats, size_t n);

#endif

/*
** Heap dumps that child processes write.
*/

#ifndef _LJ_HEAPFORK_H
#define _LJ_HEAPFORK_H

#include "lj_heapdump.h"
#include "lj_memprof_file.h"

/* What the child reports, in memory that both processes have. */
typedef struct MPForkShared {
  uint64_t bytes; /* Written so far; atomic. */
  int state;      /* LUAM_DUMP_*. */
  int en;
  char why[sizeof(((struct luam_Dump *)0)->why)];
} MPForkShared;

/* A dump of one VM. All but shared is the parent's; the child has a copy. */
typedef struct MPFork {
  struct MPFork *next; /* List of all; under the lock. */
  global_State *g;     /* The VM. */
  long owner;          /* The process that forked. */
  MPForkShared *shared;
  MPFile *f;  /* What is written to, or NULL: it is the host's. */
  int hostfd; /* Then the descriptor that the host uses, or -1. */
  size_t (*writer)(const void *data, size_t len, void *arg);
  void *arg;
  size_t bufsize;
  struct luam_Dump dump; /* What is known of it; under the lock. */
  int forgotten;         /* No status is wanted any more; under the lock. */
  uint64_t seen;  /* For lua_close(): what was written when it last looked, */
  uint64_t since; /* since when there is nothing more, or 0, */
  int killed;     /* and that it was too long. */
} MPFork;

/* -- The parent (lj_heapfork.c) -------------------------------------------- */

/*
** luaM_memprof_dump() with LUAM_PROF_FORK, of options that are checked. If it
** succeeds, a file and its memory are not the caller's any more; f is NULL for
** a host's writer. mp, inside: as for lj_heap_take().
*/
LJ_FUNC int lj_heap_fork(lua_State *L, MPState *mp,
                         const struct luam_Prof_options *opt, MPFile *f,
                         int inside);

/* Collects all children that have ended. */
LJ_FUNC void lj_heap_reap(void);

/* No status of the VM's dumps is wanted any more. */
LJ_FUNC void lj_heap_forget(const global_State *g, uint64_t id);

/* The VM goes away: waits for its children. */
LJ_FUNC void lj_heap_forkclose(const global_State *g);

/* -- The child (lj_heapchild.c) -------------------------------------------- */

/*
** Writes the dump and ends the process. Nothing in it allocates from the
** process's heap or takes a lock: another thread may have had that one.
*/
LJ_FUNC void lj_heap_child(MPFork *k, MPDump *d);

#endif

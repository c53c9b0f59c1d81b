/*
** The tail: a mapped file that is the buffer of a recording, so that a process
** that is killed loses nothing of it.
*/

#ifndef _LJ_MEMPROF_TAIL_H
#define _LJ_MEMPROF_TAIL_H

#include "lj_memprof.h"
#include "format/ljm_tail.h"

/* The mappings of a recording with a tail, or zero. */
typedef struct MPTail {
  ljm_Tail *head;   /* The file's header. */
  size_t page;      /* Its size in bytes. */
  size_t statesize; /* Of the header and the state behind it. */
  size_t size;      /* Of the buffer. */
} MPTail;

/*
** The position that a tail publishes is a word at a fixed distance before the
** state: the last one of the file's header, or unused memory.
*/
#define MPTAIL_BEHIND 16 /* Of the state, behind a page. */
#define MPTAIL_POS    (MPTAIL_BEHIND + 8)

/*
** True if a descriptor is that of a file which can be the tail of a recording
** with a buffer of size bytes.
*/
LJ_FUNC int lj_memprof_tailfits(int fd, size_t size);

/*
** Makes the state of a recording, all zero but its buffer of size bytes. fd:
** a file that fits, which is mapped, or -1. Returns
** NULL without memory, or if the file cannot be mapped; errno is set.
*/
LJ_FUNC MPState *lj_memprof_newstate(size_t size, int blocks, int fd);

/* Frees it. The file stays as it is. */
LJ_FUNC void lj_memprof_freestate(MPState *mp);

/* META is written: from here on the tail is the recording's. */
LJ_FUNC void lj_memprof_tailbegin(MPState *mp);

/* A block begins; the one before it is in the file. */
LJ_FUNC void lj_memprof_tailblock(MPState *mp);

/* All of the recording is in its file, if it had no error. */
LJ_FUNC void lj_memprof_tailend(MPState *mp);

/*
** In a child process, which has what a fork has copied: the tail's memory is
** its own from here on. Returns 0 if that cannot be, and then it must not be
** stored to.
*/
LJ_FUNC int lj_memprof_tailleave(const MPState *mp);

/*
** Puts the file of another tail, which fits, in the place of the one before;
** the buffer is empty then. Returns 0 and errno if it cannot be mapped.
*/
LJ_FUNC int lj_memprof_tailanew(MPState *mp, int fd);

/* An event is complete: publishes where the buffer ends. */
static LJ_AINLINE void mptail_publish(void *mp, const uint8_t *p)
{
  uintptr_t *pos = (uintptr_t *)(void *)((char *)mp - MPTAIL_POS);
  /* What is before it in the program is before it in memory. */
  __atomic_store_n(pos, (uintptr_t)p, __ATOMIC_RELEASE);
}

#endif

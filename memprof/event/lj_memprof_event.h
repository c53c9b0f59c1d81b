/*
** The allocator's wrapper: which event it is. stream/lj_memprof_encode.h writes
** it.
*/

#ifndef _LJ_MEMPROF_EVENT_H
#define _LJ_MEMPROF_EVENT_H

#include "lj_memprof.h"
#include "format/ljm_format.h"

/* What was allocated last, while its event does not have its type. */
typedef struct MPNewest {
  GCobj *o; /* NULL if there is none; see also MPTYPE_WAITS. */
  uint64_t size;
  uint8_t *typeat; /* First byte of the event, in the buffer. */
} MPNewest;

/* Of all events so far. */
typedef struct MPTotals {
  uint64_t nevents[4]; /* Events, by kind. */
  uint64_t bytesin;    /* Sum of all new sizes. */
  uint64_t bytesout;   /* Sum of all old sizes. */
} MPTotals;

/* The last values of one kind of event: registers of the block. */
typedef struct MPLast {
  uint64_t addr; /* Turned address. */
  uint32_t site;
} MPLast;

/* More registers of the block: sizes. */
typedef struct MPSizes {
  uint64_t alloc[LJM_ALLOCSIZES]; /* By site. */
  uint64_t free[LJM_FREESIZES];   /* By type. */
} MPSizes;

/* The function that takes the place of the VM's allocator for a recording. */
LJ_FUNC lua_Alloc lj_memprof_wrapper(const MPState *mp);

#endif

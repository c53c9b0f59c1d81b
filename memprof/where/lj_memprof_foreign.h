/*
** Memory outside of the VM's count.
*/

#ifndef _LJ_MEMPROF_FOREIGN_H
#define _LJ_MEMPROF_FOREIGN_H

#include "lj_memprof.h"
#include "lj_memprof_map.h"

/* What an event changed. */
typedef struct MPChange {
  int kind; /* LJM_ALLOC, LJM_FREE, LJM_REALLOC. */
  const void *optr, *nptr;
  size_t osize, nsize;
} MPChange;

/* Set by lj_memprof_foreignstart(), freed with the recording. */
typedef struct MPForeign {
  uint64_t base;       /* The VM's count, less the bytes of its own events. */
  MPMap live;          /* Address -> size of what was taken while recording. */
  MPChange last;       /* The last event, while it may be foreign. */
  uint64_t nevents[4]; /* Of all events so far, those that are foreign. */
  uint64_t bytesin;
  uint64_t bytesout;
} MPForeign;

/* The owner of a block that is about to be freed. */
enum {
  MP_FREE_VM,
  MP_FREE_MAYBE, /* The VM's count at the next event will show it. */
  MP_FREE_FOREIGN
};

/* Begins to follow the VM's count. */
LJ_FUNC void lj_memprof_foreignstart(MPState *mp);

/* The size in bytes of a block that is known to be foreign, or 0. */
LJ_FUNC size_t lj_memprof_foreignsize(const MPState *mp, const void *ptr);

/* An event that was written is foreign. Records that. */
LJ_FUNC void lj_memprof_foreign(MPState *mp, const MPChange *c);

/*
** The same if the last event, c, was foreign: returns 0 if it was not. The
** current event is to free ptr, of size bytes, or else size is 0.
*/
LJ_FUNC int lj_memprof_settle(MPState *mp, const MPChange *c, const void *ptr,
                              size_t size);

/* The same of an allocation, the newest one. Samples are not judged. */
LJ_FUNC int lj_memprof_settlealloc(MPState *mp, const void *ptr, size_t size);

/*
** The owner of a block that is about to be freed, by its address or by the VM's
** count: MP_FREE_*. Corrects the size, in bytes, of one that is foreign: its
** module may not keep it.
*/
LJ_FUNC int lj_memprof_freeing(MPState *mp, const void *ptr, size_t *size);

#endif

/*
** Heap snapshots: the live objects of every site at regular intervals.
**
** A snapshot is a record of the sites that hold something else than in the one
** before: so memory grows with changes, not with sites. Records are played back
** in the order of time, those of several streams together.
*/

#ifndef LP_SNAPS_H
#define LP_SNAPS_H

#include <stddef.h>
#include <stdint.h>

#include "mem.h"
#include "weight.h"

/* Without events for long, the last snapshot is repeated; but in one stream not
** more often than this, whatever times it claims.
*/
#define SNAPS_REPEATS 10000

/* The changes that a snapshot of one stream brings. */
typedef struct LpSnap {
  uint64_t at;    /* So many intervals have passed. */
  size_t from, n; /* Bytes of the log. */
} LpSnap;

/* All of a profile. */
typedef struct LpSnaps {
  LpBuf log;
  LpSnap *snap;
  size_t n;
  size_t nsnap; /* Room. */
} LpSnaps;

/* What a site holds now, and what the last snapshot recorded. */
typedef struct LpSnapSite {
  LpWeight live;
  uint64_t objects, bytes;
  int touched; /* It is in the list. */
} LpSnapSite;

/* A stream's sites. */
typedef struct LpSnapper {
  uint64_t next;    /* So many intervals will have passed at the next one. */
  uint64_t repeats; /* Snapshots that repeat the one before. */
  LpSnapSite *site;
  size_t nsite;
  uint32_t *touched; /* Sites that changed since the last snapshot. */
  size_t ntouched;
  size_t touchable; /* Room. */
} LpSnapper;

/* One site of a snapshot that is played back. */
typedef struct LpSnapState {
  uint64_t objects, bytes;
} LpSnapState;

/* The entry of a site whose live objects are about to change. Valid until the
** next call.
*/
LpSnapSite *lp_snaps_touch(LpSnapper *s, uint32_t site);

/* Append the snapshots that are due at NS nanoseconds, one each INTERVAL
** nanoseconds, to TO.
*/
void lp_snaps_take(LpSnapper *s, LpSnaps *to, uint64_t ns, uint64_t interval);

/* Free the memory. */
void lp_snapper_free(LpSnapper *s);

/* Sort the snapshots of several streams by time. */
void lp_snaps_sort(LpSnaps *s);

/* Apply the snapshot of record I to STATE, which has one element per site.
** Returns the first record of the next snapshot. Records must be played from
** the first one on.
*/
size_t lp_snaps_play(const LpSnaps *s, size_t i, LpSnapState *state);

/* Free the memory. */
void lp_snaps_free(LpSnaps *s);

#endif

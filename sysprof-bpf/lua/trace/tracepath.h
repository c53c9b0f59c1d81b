/*
** Paths of a trace: the bytecode instructions from one snapshot to the next.
*/

#ifndef LS_TRACEPATH_H
#define LS_TRACEPATH_H

#include "luatrace.h"

#define LS_PATH_MAX 160 /* Parts of the way from one snapshot to the next. */

/* Instructions from `pos` up to `end` of a function. */
typedef struct LsLeg {
  LsFunc *f;
  const LsPlace *outer; /* Its callers. */
  uint32_t nouter;
  uint32_t pos, end;
  bool calls;   /* The last instruction is the call that the next leg is of. */
  bool detour;  /* And another function may have called that, in a tail call. */
  bool hidden;  /* The leg is in no snapshot. */
  uint8_t nvia; /* If so, callers that are in none either, or called it, */
  LsPlace via[LS_VIA]; /* the nearest first. */
} LsLeg;

typedef struct LsPath {
  const LsTrace *T;
  LsLeg leg[LS_PATH_MAX];
  unsigned n;
  bool vague; /* It may be another one. */
} LsPath;

/* The path from snapshot I to the next one, whose number is returned. Without
** legs, it is unknown. Behind the last snapshot a loop begins again.
*/
uint32_t ls_path_from(LsPath *p, const LsTrace *T, uint32_t i);

/* Whether functions are among a trace's constants: it may have inlined them
** without a snapshot.
*/
bool ls_path_some(const LsTrace *T);

/* Whether it may have inlined one that it has loaded from fields of this NAME.
 */
bool ls_path_mayinline(const LsTrace *T, const char *name);

/* What is called at instruction POS of a leg: see ls_loads_called. */
unsigned ls_path_called(const LsTrace *T, const LsLeg *g, uint32_t pos,
                        LsCallee called[LS_CALLED]);

/* Put in the functions without snapshots that are called on the way. Returns
** false if there may be others.
*/
bool ls_path_reveal(LsPath *p, const LsTrace *T);

#endif

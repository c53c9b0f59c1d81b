/*
** Lines that made what is in heap dumps, by the recording that these were taken
** in.
*/

#ifndef LP_MAKERS_H
#define LP_MAKERS_H

#include "growths.h"
#include "join.h"

/* What a line made of what a row keeps in the newest dump, without what rows
** below it keep.
*/
typedef struct LpMaker {
  uint32_t row;  /* Of LpLadder.paths. */
  uint32_t line; /* Of LpMakers.lines. */
  uint64_t bytes;
} LpMaker;

typedef struct LpMakers {
  LpGrowths lines; /* Bytes that are in use. */
  char *known;     /* By dump: its record was found in the recording. */
  size_t nknown;   /* In so many. */
  LpMaker *maker;
  size_t n, cap;
  uint64_t sample; /* Bytes between two samples; 0: all are recorded. */
} LpMakers;

/* Lines of N dumps. The caller frees what is in *M with lp_makers_free. */
void lp_makers_open(LpMakers *m, size_t n);

/* Add a dump, H, and a replay of its recording that has found its record.
** KEEPERs, of which there are N, keep what ROWs of paths do; of dumps but the
** newest there are none.
*/
void lp_makers_add(LpMakers *m, const LpHeap *h, LpReplay *r,
                   const LpKeeper *keeper, const uint32_t *row, size_t n);

/* All dumps were added: find the verdicts, once. */
void lp_makers_judge(LpMakers *m);

/* Free what is in *M. */
void lp_makers_free(LpMakers *m);

#endif

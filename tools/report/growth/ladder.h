/*
** A ladder: heap dumps of one program, one after another, and what each object
** and each shape keeps in each of them. The dumps are added from the newest one
** to the oldest; but for the newest, none is needed once it was added.
*/

#ifndef LP_LADDER_H
#define LP_LADDER_H

#include "growths.h"
#include "makers.h"
#include "together.h"

/* What keeps less of a dump is not looked for. In percent. */
#define LP_LADDER_LEAST 0.05

#define LP_LADDER_SHOWN 6 /* Dumps of which sentences have all figures. */

/* A dump. */
typedef struct LpRung {
  const char *file;
  char key[32], title[32]; /* Of its column: "dump-1", "dump 1". */
  uint64_t reached;        /* Bytes that are in use. */
  uint64_t total;    /* Bytes of the whole VM; 0: that is not known, nor what
                     ** parts of the VM have. */
  uint64_t realtime; /* When it was taken, in nanoseconds; 0: not known. */
} LpRung;

/* Objects that a limit is of, by a path as of lp_heap_find(). */
typedef struct LpWatch {
  const char *path;
  uint64_t bytes[2];  /* What they keep in the newest dump, and in the one
                      ** before; */
  uint64_t shared[2]; /* and what they keep alone or together with others. */
  size_t objects;     /* How many there are in the newest one. */
} LpWatch;

typedef struct LpLadder {
  LpRung *rung; /* The oldest dump first. */
  size_t n;
  size_t left; /* Dumps that were not added yet: the oldest ones. */
  int page; /* To be set before dumps are added: the newest and the oldest one
            ** are kept. */
  LpHeap *newest, *oldest;
  int keeps; /* It is known of all what objects keep. */
  LpGrowths paths, shapes;
  LpGrowths parts;      /* Of the VM itself. */
  LpMakers makers;      /* Of a recording, if there is one. */
  LpTogether *together; /* Of the rows of paths that are of several objects. */
  size_t ntogether, captogether;
  LpWatch *watch;
  size_t nwatch, capwatch;
  LpIntern whats; /* What objects are: names of shapes. */
} LpLadder;

/* A ladder of N dumps, at least 2. The caller frees it with lp_ladder_free. */
LpLadder *lp_ladder_new(size_t n);

/* Look for the objects at a path in the dumps that are added from here on. PATH
** is not copied.
*/
void lp_ladder_watch(LpLadder *l, const char *path);

/* Add the next dump, which was read from FILE and analysed: the newest one
** first. FILE is not copied; H is the ladder's, and may be freed. R is a replay
** of the recording that the dump was taken in, and has found its record; or
** NULL. The blocks of H are known then.
*/
void lp_ladder_add(LpLadder *l, const char *file, LpHeap *h, LpReplay *r);

/* All dumps were added: find the verdicts, once. No dump is kept but for a
** page.
*/
void lp_ladder_judge(LpLadder *l);

/* Free a ladder, which may be NULL. */
void lp_ladder_free(LpLadder *l);

/* Nanoseconds between the oldest and the newest dump, or 0. */
uint64_t lp_ladder_time(const LpLadder *l);

/* The line that made most of what a row keeps in the newest dump, if that is 5%
** or more of it: a row of makers.lines; *PERCENT of what the row keeps. LP_NONE
** if there is none, or that is not known.
*/
uint32_t lp_ladder_maker(const LpLadder *l, uint32_t row, unsigned *percent);

#endif

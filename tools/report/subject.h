/*
** What a report is about: all that was read, of which there may be a profile,
** a heap dump, and either of a baseline. They are the caller's.
*/

#ifndef LP_SUBJECT_H
#define LP_SUBJECT_H

#include "analysis.h"
#include "growth/ladder.h"
#include "join.h"
#include "profile.h"

typedef struct LpSubject {
  const LpProfile *prof;  /* Without a recording: what kind of data there is,
                          ** and its files. */
  const LpHeap *heap;     /* A heap dump that was analysed, or NULL. */
  const LpHeap *baseheap; /* The dump that it is compared with, or NULL. */
  const LpJoin *join;     /* The dump, joined with its recording, or NULL. */
  const LpLadder *ladder; /* Several dumps, or NULL. */
} LpSubject;

#endif

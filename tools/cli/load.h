/*
** Reads files into a profile: opens, unpacks and follows them, and prints
** warnings about damage.
*/

#ifndef LP_LOAD_H
#define LP_LOAD_H

#include "follow.h"
#include "analysis.h"
#include "ingest.h"
#include "join.h"
#include "segment.h"
#include "subject.h"

typedef struct LpLoad {
  LpProfile *prof;
  double follow; /* Seconds between two calls of show; 0: files have ended. */
  void (*body)(LpProfile *prof); /* It is known what comes, and wanted. */
  void (*show)(const struct LpLoad *l); /* While a file is followed. */
  uint64_t most; /* Bytes that are read of a file, unpacked; 0: no bound but
                 ** that of what is packed. */
  int verbose;   /* Report also where an unfinished file ends. */
  const char *timeless; /* A warning for recordings without time marks, or
                        ** NULL. */
  LpFollow followed;    /* Has a name, if a file is. */
  LpStream st;          /* What is read. */
  int paused;           /* It goes on in the segment behind this one, */
  const char *behind;   /* which is this file: */
  LpSegment segment;
  int gap;          /* The one that is read is not the next of its recording. */
  LpHeap *heap;     /* A heap dump that was read, or NULL; and the one before */
  LpHeap *baseheap; /* that is its baseline. Whoever takes them frees them. */
  int joins;        /* The heap dump is to be joined with its recording. It
                    ** comes first. */
  LpJoin *join;     /* As heap. */
  LpLadder *ladder; /* Heap dumps are added to it, and not kept; or NULL. */
  const char *recording; /* That the ladder's dumps were taken in, or NULL. It
                         ** is read for each of them, */
  int told;              /* and what is wrong with it was printed. */
} LpLoad;

/* What was read, for reports. It is valid until more is. */
LpSubject lp_load_subject(const LpLoad *l);

/* Of two exit statuses, the one that takes precedence. */
int lp_load_worse(int a, int b);

/* Report on stderr that the file NAME cannot be used, and WHY. Returns
** LP_UNREADABLE.
*/
int lp_load_failed(const char *name, const char *why);

/* Read N files into l->prof. *GOT counts those that could be read. Returns the
** worst status; warnings and errors are printed on stderr.
*/
int lp_load_files(LpLoad *l, const char *const *name, size_t n, size_t *got);

#endif

/*
** Which pages of a VM were resident when its heap dump was taken, and which
** blocks of memory are in these.
*/

#ifndef LP_RESIDENT_H
#define LP_RESIDENT_H

#include <stddef.h>
#include <stdint.h>

/* Pages beside each other, and what is below the first one. */
typedef struct LpRun {
  uint64_t from, to; /* Addresses, `to` not included. */
  int resident;
  uint64_t below, there; /* Bytes of the runs before it, and of those what was
                         ** resident. */
} LpRun;

/* Bytes of which some are resident. */
typedef struct LpPresence {
  uint64_t bytes, resident;
} LpPresence;

/* All zero: no pages. */
typedef struct LpResident {
  LpRun *run;
  size_t n, cap;
  int sealed;     /* Runs are in the order of addresses, and none overlaps. */
  size_t last;    /* The run of the block before. */
  LpPresence all; /* All of them. */
} LpResident;

/* Add pages of SIZE bytes in all. */
void lp_resident_add(LpResident *r, uint64_t addr, uint64_t size, int resident);

/* All pages were added; what comes later does not count. May be called again.
 */
void lp_resident_seal(LpResident *r);

/* How much of a block is in the pages, which are sealed. Fast for
** blocks that are near each other.
*/
LpPresence lp_resident_block(LpResident *r, uint64_t addr, uint64_t size);

/* Free the memory. */
void lp_resident_free(LpResident *r);

#endif

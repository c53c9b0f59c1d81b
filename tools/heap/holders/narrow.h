/*
** Holders as precisely as possible: below the kids that hold a set of objects,
** the objects whose references lead to these.
*/

#ifndef LP_NARROW_H
#define LP_NARROW_H

#include "sources.h"

#define LP_NARROW_MOST  63 /* Holders of a set, one bit each. */
#define LP_NARROW_OTHER (1ull << LP_NARROW_MOST) /* What is no holder. */

/* A holder. */
typedef struct LpNarrowed {
  uint32_t id;
  int edges; /* Its references, not all of it. */
} LpNarrowed;

/* A set of kids, and who holds what of it. */
typedef struct LpNarrow {
  const LpLeads *leads;
  unsigned set;
  uint64_t least; /* Bytes to which a holder's references lead, at least. */
  LpNarrowed holder[LP_NARROW_MOST];
  unsigned nholder;
  uint64_t *bits; /* By cycle: its holders. */
  const LpSources *list;
  LpMarks marks; /* While holders are found. */
  uint32_t *open;
  size_t nopen, capopen;
} LpNarrow;

/* Find the holders of a set whose weights are known; LIST has the sources of
** all sets. The caller frees them with lp_narrow_close.
*/
void lp_narrow_open(LpNarrow *w, const LpLeads *l, unsigned set,
                    const LpSources *list, uint64_t least);

/* Free the memory. */
void lp_narrow_close(LpNarrow *w);

#endif

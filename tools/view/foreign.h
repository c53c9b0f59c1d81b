/*
** Memory outside of the VM's count: what C modules take from lua_getallocf().
*/

#ifndef LP_FOREIGN_H
#define LP_FOREIGN_H

#include "profile.h"
#include "shape.h"

#define LP_FOREIGN "(outside of the VM's count)" /* What it is called. */

/* The foreign memory of a site, or of all. */
typedef struct LpForeign {
  uint64_t arrived, left; /* Objects that came, and went. */
  uint64_t bytes;         /* Of all that came. */
  uint64_t live;          /* Bytes. */
} LpForeign;

/* The sums over all sites that SHAPE keeps. SHAPE may be NULL. */
LpForeign lp_foreign_sum(const LpProfile *prof, const LpShape *shape);

/* The sums by site. The caller frees the array. */
LpForeign *lp_foreign_sites(const LpProfile *prof, const LpShape *shape);

/* Append a sentence about this memory, if there is any. */
void lp_foreign_text(LpBuf *b, const LpProfile *prof);

#endif

/*
** The sites of Lua functions, of one side of a diff.
*/

#ifndef LP_SITES_H
#define LP_SITES_H

#include "places.h"

/* A site whose line is known, in a function that has a pair; or in a trace that
** starts at the line.
*/
typedef struct LpPlaceSite {
  uint32_t place;
  uint32_t site;
  uint64_t line;
} LpPlaceSite;

/* Those of a side, by place and line. */
typedef struct LpSites {
  LpPlaceSite *at;
  size_t n;
} LpSites;

/* Is a line known? */
static inline int lp_sites_isline(uint64_t line)
{
  return line && line < UINT32_MAX;
}

/* Places of a side by their functions, of which there are N, or LP_NONE. The
** caller frees them.
*/
uint32_t *lp_places_byfunc(const LpPlaces *p, uint32_t n);

/* The sites of a side. PLACE is as from lp_places_byfunc. The caller frees
** .at.
*/
LpSites lp_sites(const LpProfile *prof, const LpPlaces *p, LpSide side,
                 const uint32_t *place);

/* The number of the first site of a place, or of what is behind it. */
size_t lp_sites_find(const LpSites *s, uint32_t place);

/* The lines of the sites of one place, each once. Returns how many there are;
** the caller frees them.
*/
size_t lp_sites_lines(const LpSites *s, uint32_t place, uint64_t **line);

#endif

/*
** Names in legacy formats: maps addresses to the sink's functions and sites.
*/

#ifndef LP_LEGACY_NAMES_H
#define LP_LEGACY_NAMES_H

#include "idmap.h"
#include "record.h"

/* Where an event says it comes from, as the old formats number it. */
typedef enum LegacySource {
  LEGACY_INTERNAL = 1,
  LEGACY_LUA,  /* A: address of the prototype. B: line. */
  LEGACY_C,    /* A: address of the function. */
  LEGACY_TRACE /* A: number of the trace. B: address of its code, or 0. */
} LegacySource;

#define LEGACY_CACHE 10 /* log2 of the sites remembered. */

typedef struct LegacySite {
  uint64_t a, b;
  uint32_t source; /* 0 is a free place. */
  uint32_t site;
} LegacySite;

typedef struct LegacyNames {
  const LpSink *sink;
  LpIdMap func[LEGACY_TRACE + 1]; /* By source: what is at an address now. */
  LegacySite cache[1u << LEGACY_CACHE];
  int stale; /* Something else is at an address that the cache may know. */
} LegacyNames;

/* Free the memory. */
void lp_legacy_names_close(LegacyNames *ln);

/* The function F is at an address from now on. A and B are as in
** LegacySource.
*/
void lp_legacy_define(LegacyNames *ln, LegacySource src, uint64_t a, uint64_t b,
                      const LpFunc *f);

/* The sink's number of the function at an address, or LP_NONE. */
uint32_t lp_legacy_function(const LegacyNames *ln, LegacySource src, uint64_t a,
                            uint64_t b);

/* As lp_legacy_site, for a site that is not in the cache. */
uint32_t lp_legacy_lookup(LegacyNames *ln, LegacySource src, uint64_t a,
                          uint64_t b);

/* Where the site of an event is remembered. */
static inline LegacySite *lp_legacy_place(LegacyNames *ln, uint64_t a,
                                          uint64_t b)
{
  return &ln->cache[lp_hash(a ^ b << 48) >> (64 - LEGACY_CACHE)];
}

/* The sink's number of the site of an event. */
static inline uint32_t lp_legacy_site(LegacyNames *ln, LegacySource src,
                                      uint64_t a, uint64_t b)
{
  const LegacySite *s = lp_legacy_place(ln, a, b);
  if (s->source == src && s->a == a && s->b == b && !ln->stale)
    return s->site;
  return lp_legacy_lookup(ln, src, a, b);
}

#endif

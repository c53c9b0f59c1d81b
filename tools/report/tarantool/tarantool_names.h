/*
** Names of sites as Tarantool's tool prints them, and the keys that it has for
** them.
*/

#ifndef LP_TARANTOOL_NAMES_H
#define LP_TARANTOOL_NAMES_H

#include "profile.h"

#define LP_TARANTOOL_NEW 3 /* The latest version. */

/* A C function, by where it begins. */
typedef struct LpTarantoolSymbol {
  uint64_t addr;
  uint32_t func;
} LpTarantoolSymbol;

typedef struct LpTarantoolNames {
  const LpProfile *prof;
  unsigned version; /* Of the stream whose tool it is, LP_TARANTOOL_NEW if there
                    ** is none. */
  int safe;         /* Control characters are escaped. */
  LpTarantoolSymbol *symbol; /* Sorted, */
  size_t nsymbol;            /* so many. */
  LpIdMap aliases;           /* Of chunks with several lines: their numbers, */
  uint32_t *chunk;           /* and the chunks by these, */
  size_t chunks;             /* room, */
  uint32_t nchunk;           /* for so many. */
} LpTarantoolNames;

/* Names for a profile that outlives them, in the way of the tool of VERSION; 0:
** it is of no single stream, and addresses of symbols mean nothing. SAFE: for
** a terminal. The caller frees them with lp_tarantool_names_close.
*/
LpTarantoolNames lp_tarantool_names(const LpProfile *prof, unsigned version,
                                    int safe);

/* Append the name of a site. */
void lp_tarantool_name(const LpTarantoolNames *t, LpBuf *b, uint32_t site);

/* Append the key of a site: what the tool's tables have. */
void lp_tarantool_key(const LpTarantoolNames *t, LpBuf *b, uint32_t site);

/* Append chunk I < t->nchunk in lines behind its alias. */
void lp_tarantool_alias(const LpTarantoolNames *t, LpBuf *b, uint32_t i);

/* Free the memory. */
void lp_tarantool_names_close(LpTarantoolNames *t);

#endif

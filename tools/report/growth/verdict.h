/*
** How something has changed from dump to dump.
*/

#ifndef LP_VERDICT_H
#define LP_VERDICT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that are not known: of a dump between the newest one and the one where
** the object was found. It kept less than LP_LADDER_LEAST of all there, or had
** another path.
*/
#define LP_LADDER_UNKNOWN (UINT64_C(1) << 63)

#define LP_LADDER_LEVEL 5 /* Dumps from which on growth can have stopped. */

/* How something has changed. */
typedef enum LpVerdict {
  LP_GREW,         /* At each step. */
  LP_ROSE,         /* It has more than at first. */
  LP_STOPPED,      /* The same, and not in the last two steps. */
  LP_WENT,         /* It came and went. */
  LP_SHRANK,       /* It has less than at first. */
  LP_SAME,         /* It has as much as at first. */
  LP_UNCOMPARABLE, /* The path is cut, or what objects keep is not known. */
  LP_NVERDICT
} LpVerdict;

/* The verdict on the bytes in N dumps, 2 or more, the oldest first; those in
** the first and in the last one are known.
*/
LpVerdict lp_verdict(const uint64_t *bytes, size_t n);

/* The word for a verdict: "grew". */
const char *lp_verdict_word(LpVerdict verdict);

#endif

/*
** Damage of a stream, and the checks of what its recorder counted.
*/

#ifndef LP_VERIFY_H
#define LP_VERIFY_H

#include "stream.h"

/* The sink's damage function. ST is an LpStream. The first damage is kept in
** full.
*/
void lp_stream_damage(void *st, const LpDamage *d);

/* Compare the recorder's totals with what was read. */
void lp_verify_totals(LpStream *st, const LpTotals *t);

/* Compare the sampler's statistics, which start at OFFSET of the stream, with
** what was read and with each other.
*/
void lp_verify_statistics(LpStream *st, uint64_t offset);

/* Report what contradicts itself in a stream that ends at OFFSET. */
void lp_verify_end(LpStream *st, uint64_t offset);

/* Report that the stream contradicts itself at OFFSET: a format and arguments
** as in printf follow.
*/
#define lp_stream_odd(st, offset, ...)                                         \
  do {                                                                         \
    const LpDamage odd_ = lp_damage_of(LP_ODD, offset, __VA_ARGS__);           \
    lp_stream_damage(st, &odd_);                                               \
  } while (0)

#endif

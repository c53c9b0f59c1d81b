/*
** Amounts as people write them: 4096, 64K, 10MB, 1.5GiB, 1e5.
*/

#ifndef LP_AMOUNT_H
#define LP_AMOUNT_H

#include <stdint.h>

/* Parse all of S into *N. Returns 0 if it is not an amount, not a whole number
** or not below 2^63.
*/
int lp_amount_parse(const char *s, uint64_t *n);

#endif

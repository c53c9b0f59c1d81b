/*
** What a file that is no recording seems to be.
*/

#ifndef LP_GUESS_H
#define LP_GUESS_H

#include <stddef.h>
#include <stdint.h>

#define LP_GUESS_BYTES 64 /* As many of the first bytes are of use. */

/* The kind of a file by its first N bytes: "JSON", "text"; NULL if unknown. */
const char *lp_guess(const uint8_t *p, size_t n);

#endif

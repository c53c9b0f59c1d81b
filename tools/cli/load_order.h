/*
** The order in which files are read: segments of a recording one after another.
*/

#ifndef LP_LOAD_ORDER_H
#define LP_LOAD_ORDER_H

#include <stddef.h>

/* The N names in the order in which they are to be read: segments of a
** recording side by side from the first one on, all else as it is. The caller
** frees the array; the names stay the caller's.
*/
const char **lp_load_order(const char *const *name, size_t n);

#endif

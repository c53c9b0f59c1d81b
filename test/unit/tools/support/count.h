/*
** How much memory the code under test has, for tests of bounds.
*/

#ifndef COUNT_H
#define COUNT_H

#include <stddef.h>

/* Count from here on: what is there already does not count. */
void count_start(void);

/* Most bytes that there were at a time since then. */
size_t count_peak(void);

#endif

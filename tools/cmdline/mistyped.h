/*
** Finds mistyped options before argp does, which suggests nothing and uses two
** lines for it.
*/

#ifndef CL_MISTYPED_H
#define CL_MISTYPED_H

#include <argp.h>

/* Reports a mistake in one line, and ends the program. */
typedef void (*ClFail)(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* Check the words of ARGV behind the first: are they among OPTIONS, and do they
** have values if they need some? FAIL is called if not. With IN_ORDER options
** end at the first argument, as with ARGP_IN_ORDER.
*/
void cl_mistyped(const struct argp_option *options, char **argv, int in_order,
                 ClFail fail);

#endif

/*
** Numbers on command lines.
*/

#ifndef CL_NUMBER_H
#define CL_NUMBER_H

#include "mistyped.h"

/* The number ARG, from LEAST to MOST. FAIL is called if it is none; WHAT names
** it then.
*/
double cl_number(const char *arg, double least, double most, const char *what,
                 ClFail fail);

/* The same of a whole number: digits only. */
unsigned cl_whole(const char *arg, unsigned least, unsigned most,
                  const char *what, ClFail fail);

#endif

/*
** Numbers on command lines.
*/

#include <errno.h>
#include <stdlib.h>

#include "number.h"

double cl_number(const char *arg, double least, double most, const char *what,
                 ClFail fail)
{
  char *end;
  double v;
  errno = 0;
  v = strtod(arg, &end);
  if (end == arg || *end || errno || !(v >= least && v <= most))
    fail("%s is a number from %.10g to %.10g, not %s", what, least, most, arg);
  return v;
}

unsigned cl_whole(const char *arg, unsigned least, unsigned most,
                  const char *what, ClFail fail)
{
  char *end;
  unsigned long v;
  errno = 0;
  v = strtoul(arg, &end, 10);
  if (*arg < '0' || *arg > '9' || *end || errno || v < least || v > most)
    fail("%s is a whole number from %u to %u, not %s", what, least, most, arg);
  return (unsigned)v;
}

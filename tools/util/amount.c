/*
** Amounts as people write them.
**
** kB, MB and GB are powers of 1000, KiB, MiB and GiB of 1024, as standards have
** it; K, M and G are short for the latter, as reports print sizes.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"

static const struct Unit {
  const char *name;
  double factor;
} amount_units[] = {{"", 1},        {"B", 1},        {"kB", 1e3},
                    {"KB", 1e3},    {"MB", 1e6},     {"GB", 1e9},
                    {"K", 1024},    {"k", 1024},     {"KiB", 1024},
                    {"M", 0x1p20},  {"MiB", 0x1p20}, {"G", 0x1p30},
                    {"GiB", 0x1p30}};

/* Read an amount, all of S, into *N. Returns 0 if it is none, or not a whole
** number, or 2^63 and more.
*/
int lp_amount_parse(const char *s, uint64_t *n)
{
  size_t i;
  char *end;
  double x;
  if (!strchr("0123456789.", *s) || strpbrk(s, "xX"))
    return 0;
  x = strtod(s, &end);
  if (end == s)
    return 0;
  for (i = 0; i < sizeof(amount_units) / sizeof(amount_units[0]); i++) {
    if (strcmp(end, amount_units[i].name) != 0)
      continue;
    x *= amount_units[i].factor;
    if (!(x < 0x1p63) || (amount_units[i].factor == 1 && x != floor(x)))
      return 0;
    *n = (uint64_t)x;
    return 1;
  }
  return 0;
}

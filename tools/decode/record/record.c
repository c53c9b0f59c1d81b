/*
** Decoded records: descriptions of damage.
*/

#include <stdarg.h>
#include <stdio.h>

#include "record.h"

LpDamage lp_damage_of(LpDamageKind kind, uint64_t offset, const char *fmt, ...)
{
  LpDamage d = {.kind = kind, .offset = offset};
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(d.what, sizeof(d.what), fmt, ap);
  va_end(ap);
  return d;
}

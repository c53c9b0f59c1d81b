/*
** How something has changed from dump to dump.
*/

#include "verdict.h"

/* Does a row grow at a step? A number that is not known does not. */
static int verdict_up(const uint64_t *bytes)
{
  return bytes[0] != LP_LADDER_UNKNOWN && bytes[1] != LP_LADDER_UNKNOWN &&
         bytes[1] > bytes[0];
}

/* Is it known that a row does not grow at a step? */
static int verdict_level(const uint64_t *bytes)
{
  return bytes[0] != LP_LADDER_UNKNOWN && bytes[1] != LP_LADDER_UNKNOWN &&
         bytes[1] <= bytes[0];
}

LpVerdict lp_verdict(const uint64_t *bytes, size_t n)
{
  uint64_t first = bytes[0], last = bytes[n - 1], most = 0;
  size_t i, up = 0;
  for (i = 0; i < n; i++) {
    up += i + 1 < n && verdict_up(bytes + i);
    if (bytes[i] != LP_LADDER_UNKNOWN && bytes[i] > most)
      most = bytes[i];
  }
  if (up == n - 1)
    return LP_GREW;
  if (most > first && most > last && most - last > (most - first) / 2)
    return LP_WENT;
  if (last > first)
    return n >= LP_LADDER_LEVEL && verdict_level(bytes + n - 2) &&
                   verdict_level(bytes + n - 3)
               ? LP_STOPPED
               : LP_ROSE;
  return last < first ? LP_SHRANK : LP_SAME;
}

const char *lp_verdict_word(LpVerdict verdict)
{
  static const char *const words[] = {[LP_GREW] = "grew at each step",
                                      [LP_ROSE] = "grew",
                                      [LP_STOPPED] = "grew, stopped",
                                      [LP_WENT] = "came and went",
                                      [LP_SHRANK] = "shrank",
                                      [LP_SAME] = "same",
                                      [LP_UNCOMPARABLE] = "not comparable"};
  return words[verdict];
}

/*
** How many objects, and bytes, a sample stands for.
**
** Each byte is chosen with a chance of 1 in SAMPLE, so an object of S bytes is
** sampled with a probability of 1 - exp(-S / SAMPLE), and stands for the
** reciprocal of that: itself, and 1 / (exp(S / SAMPLE) - 1) objects that were
** not sampled. What it stands for beyond itself is rounded to 2^-32, the rest
** is exact.
*/

#include <math.h>
#include <string.h>

#include "hash.h"
#include "weight.h"

/* Doubles from here on are no longer counted. */
#define WEIGHT_MAX 0x1p62

/* Split X, which is not negative. */
static void weight_split(double x, uint64_t *n, uint64_t *part)
{
  double whole = floor(x < WEIGHT_MAX ? x : WEIGHT_MAX);
  *n = (uint64_t)whole;
  *part = x < WEIGHT_MAX ? (uint64_t)((x - whole) * 0x1p32 + 0.5) : 0;
  *n += *part >> 32;
  *part &= UINT32_MAX;
}

/* What an object of SIZE bytes stands for. */
static LpWeight weight_of(uint64_t sample, uint64_t size)
{
  LpWeight w = {.n = 1, .bytes = size};
  if (sample && size) {
    double more = expm1((double)size / (double)sample);
    uint64_t n, bytes;
    weight_split(1 / more, &n, &w.npart);
    weight_split((double)size / more, &bytes, &w.bytespart);
    w.n += n;
    w.bytes += bytes;
  }
  return w;
}

void lp_scale_open(LpScale *s, uint64_t sample)
{
  unsigned i;
  memset(s, 0, sizeof(*s));
  s->sample = sample;
  for (i = 0; i < LP_WEIGHT_SIZES; i++)
    s->weight[i] = weight_of(sample, 0);
}

LpWeight lp_weigh(LpScale *s, uint64_t size)
{
  size_t i = lp_hash_slot(lp_hash(size), LP_WEIGHT_SIZES);
  if (s->size[i] != size) {
    s->size[i] = size;
    s->weight[i] = weight_of(s->sample, size);
  }
  return s->weight[i];
}

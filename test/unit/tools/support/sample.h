/*
** Streams of version 0x10 that have a bit of everything, in three blocks.
*/

#ifndef SAMPLE_H
#define SAMPLE_H

#include "craft.h"

#define SAMPLE_BLOCKS 3

/* Where each block begins, and its end; how many events come before it. */
typedef struct Sample {
  Craft c;
  size_t at[SAMPLE_BLOCKS + 1];
  uint64_t first[SAMPLE_BLOCKS + 1];
} Sample;

void sample_open(Sample *s);

/* One with stacks and types; all that happened, or with SAMPLE bytes between
** two samples.
*/
void sample_stacks(Sample *s, uint64_t sample);

/* A CPU profile. */
void sample_cpu(Sample *s);

extern const char sample_text[];

#endif

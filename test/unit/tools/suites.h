/*
** The suites, one for each file test_*.c.
*/

#ifndef SUITES_H
#define SUITES_H

#include <check.h>

/* clang-format off */
#define SUITES(_)                                                              \
  _(crc) _(leb) _(live) _(label) _(compact) _(stacks) _(model) _(samples)        \
  _(calls) _(summary) _(tables) _(views) _(wanted) _(shape) _(limit)                               \
  _(broken) _(damage) _(legacy) _(field) _(cpu) _(cpu_model) _(pick) _(writer)         \
  _(unpack) _(every) _(bounds) _(json) _(csv) _(heapsnapshot) _(joint)         \
  _(foreign) _(dominators) _(heap_objects) _(heap_tables) _(heap_broken)       \
  _(heap_deep) _(groups) _(growth) _(holders) _(owners) _(pairs) _(join) _(rss) _(suspects)       \
  _(ephemerons) _(retainers)                                                   \
  _(luafirst) _(fit) _(segment) _(rest) _(slices) _(compare)
/* clang-format on */

#define SUITE_DECL(name) Suite *suite_##name(void);
SUITES(SUITE_DECL)

/* A suite of one case with the tests that follow. */
Suite *suite_of(const char *name, const TTest **tests);

#endif

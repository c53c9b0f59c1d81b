/*
** The suites, one for each file test_*.c.
*/

#ifndef SUITES_H
#define SUITES_H

#include <check.h>

/* clang-format off */
#define SUITES(_)                                                              \
  _(align)                                                                     \
  _(cfi)                                                                       \
  _(elf)                                                                       \
  _(expect)                                                                    \
  _(folded)                                                                    \
  _(foreign)                                                                   \
  _(hash)                                                                      \
  _(kallsyms)                                                                  \
  _(lies)                                                                      \
  _(limits)                                                                    \
  _(lines)                                                                     \
  _(live)                                                                      \
  _(maps)                                                                      \
  _(names)                                                                     \
  _(native)                                                                    \
  _(parser)                                                                    \
  _(roles)                                                                     \
  _(roots)                                                                     \
  _(rows)                                                                      \
  _(seeds)                                                                     \
  _(snapforms)                                                                 \
  _(stock)                                                                     \
  _(symbols)                                                                   \
  _(timedread)                                                                 \
  _(traces)                                                                    \
  _(vm)                                                                        \
  _(walk)
/* clang-format on */

#define SUITE_DECL(name) Suite *suite_##name(void);
SUITES(SUITE_DECL)

/* A suite of one case with the tests that follow. */
Suite *suite_of(const char *name, const TTest **tests);

#endif

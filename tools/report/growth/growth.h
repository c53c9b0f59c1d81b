/*
** Shared by the reports of a ladder of heap dumps.
*/

#ifndef LP_GROWTH_H
#define LP_GROWTH_H

#include "report.h"

/* What an object, or several together, keep in each dump. */
typedef struct LpGrowthLine {
  const char *title; /* Its verdict: "Grew at each step". */
  uint32_t row;      /* Of LpLadder.paths. */
  uint64_t bytes;    /* How much it has changed by. */
  const char *text;
  int first; /* Of its verdict. */
} LpGrowthLine;

/* Called for each line. */
typedef void (*LpGrowthTell)(void *ctx, const LpGrowthLine *line);

/* Tell the lines of all verdicts, those that changed most first. A line is
** valid during the call.
*/
void lp_growth_lines(const LpLadder *l, LpGrowthTell tell, void *ctx);

/* Append what is in use in each dump, and how fast that grows. */
void lp_growth_head(LpBuf *b, const LpLadder *l);

/* Append sentences: how much more is in use, and which objects keep it. */
void lp_growth_sentences(LpBuf *b, const LpLadder *l);

/* The numbers of the rows of G, which are the paths, shapes or lines of L, that
** have changed enough for --min, in the order of their table: of what several
** objects keep if TOGETHER, or all others. Sets *N; the caller frees the array.
*/
uint32_t *lp_growth_shown(const LpLadder *l, const LpGrowths *g,
                          const LpReportOptions *opt, int together, size_t *n);

#endif

/*
** What two heap dumps that are compared say: how much more is in use, and what
** keeps it.
*/

#ifndef LP_HEAP_VERDICT_H
#define LP_HEAP_VERDICT_H

#include "report.h"

#define LP_VERDICTS 5 /* Lines, at most. */

/* An object that keeps more than before. */
typedef struct LpVerdictLine {
  uint32_t id;    /* Of the newer dump. */
  uint64_t bytes; /* How much more. */
  LpBuf text;     /* The caller frees it. */
} LpVerdictLine;

/* Append how much more is in use: "2.1MiB more in use (+66.5%): 3.1MiB before,
** now 5.1MiB".
*/
void lp_heap_grown(LpBuf *b, const LpSubject *subject);

/* The objects that keep most of what is more, each inside of no other one. It
** must be known what objects keep. Returns how many there are.
*/
size_t lp_heap_verdicts(LpVerdictLine line[LP_VERDICTS],
                        const LpSubject *subject);

/* Append both as sentences, below a title. */
void lp_heap_diff_sentences(LpBuf *b, const LpSubject *subject);

#endif

/*
** Shared by the reports of heap dumps that are joined with a recording.
*/

#ifndef LP_HEAP_JOIN_H
#define LP_HEAP_JOIN_H

#include "heap_report.h"
#include "join.h"

/* Append what a keeper is: the path to an object, or what it stands for. */
void lp_join_keeper(LpBuf *b, const LpJoin *j, uint32_t keeper);

/* Append a site for a sentence: search (nginx.conf:20). */
void lp_join_site(LpBuf *b, const LpProfile *prof, uint32_t site);

#define LP_JOIN_SENTENCES 7

/* Append to each of TEXT a sentence about who made what is kept, without a full
** stop. Returns how many there are.
*/
size_t lp_join_sentences(LpBuf text[LP_JOIN_SENTENCES],
                         const LpSubject *subject);

#endif

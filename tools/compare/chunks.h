/*
** Chunks of two sides: the same file under another root.
*/

#ifndef LP_CHUNKS_H
#define LP_CHUNKS_H

#include <stdint.h>

#include "strview.h"

/* How many parts of their paths two chunks have in common at their ends; 0 if
** one of them is no file.
*/
unsigned lp_chunks_tail(LpStr a, LpStr b);

/* Of N chunks and M others, of which none is the same, find which are one file:
** those with the longest common tails. TO[i] is the number of the other one of
** chunk i, or LP_NONE; where two are as good there is none.
*/
void lp_chunks_match(const LpStr *a, uint32_t n, const LpStr *b, uint32_t m,
                     uint32_t *to);

#endif

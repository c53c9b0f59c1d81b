/*
** Which nodes of a call tree are in a document of bounded size.
*/

#ifndef LP_KEEP_H
#define LP_KEEP_H

#include "calltree.h"

/* By node of a tree, the sum of its shares of all metrics, callees included: a
** caller never weighs less than who it calls. Nodes where nothing happened
** weigh 0. The caller frees the array.
*/
double *lp_keep_weights(const LpTree *t);

/* At most MOST of N weights are larger than the one that is returned, which is
** 0 if there are not more.
*/
double lp_keep_limit(const double *weight, uint32_t n, uint32_t most);

#endif

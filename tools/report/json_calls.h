/*
** The call tree of a JSON document.
*/

#ifndef LP_JSON_CALLS_H
#define LP_JSON_CALLS_H

#include "calltree.h"
#include "json.h"
#include "page/sources.h"

/* What a bounded document has of a tree. */
typedef struct LpCallsOf {
  uint32_t most; /* Nodes; smaller ones are one with their like. 0: all. */
  const LpShape *shape;     /* As of the tree. */
  size_t steps;             /* Bytes of "steps", about; 0: there are none. */
  const LpSources *sources; /* Of "sources", or NULL. */
} LpCallsOf;

/* Write the members of the current object that describe the tree. Metrics
** should be whole numbers, see lp_tree_whole. OF is NULL for all of it.
*/
void lp_json_calls(LpJson *j, const LpProfile *prof, const LpTree *t,
                   const LpCallsOf *of);

#endif

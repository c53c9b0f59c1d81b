/*
** The call tree of a JSON document.
*/

#ifndef LP_JSON_CALLS_H
#define LP_JSON_CALLS_H

#include "calltree.h"
#include "json.h"

/* Write the members of the current object that describe the tree. Metrics
** should be whole numbers, see lp_tree_whole.
*/
void lp_json_calls(LpJson *j, const LpProfile *prof, const LpTree *t);

#endif

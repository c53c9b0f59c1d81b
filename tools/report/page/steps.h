/*
** What happened in each step of time, by node of a JSON document.
*/

#ifndef LP_STEPS_H
#define LP_STEPS_H

#include "calltree.h"
#include "json.h"

/* Where the figures of a profile are in a document. */
typedef struct LpStepsOf {
  const LpTree *tree;     /* Opened with places. */
  const uint32_t *ofnode; /* By node of the tree: that of the document. */
  const uint32_t *site;   /* By node of the document: its site there. */
  uint32_t nnode;         /* Nodes of the document. */
  const LpShape *shape;   /* What is left out; NULL: nothing is. */
  size_t most;            /* Bytes of JSON, about, of each kind of profile. */
} LpStepsOf;

/* Write the member "steps": of memory and of samples, as far as they were
** counted. Nothing is written if there are less than two steps.
*/
void lp_json_steps(LpJson *j, const LpProfile *prof, const LpStepsOf *of);

#endif

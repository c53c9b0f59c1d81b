/*
** Objects whose references lead to a set of shared kids, and what dominates
** these objects.
*/

#ifndef LP_SOURCES_H
#define LP_SOURCES_H

#include "cycles.h"
#include "shared.h"

/* Shared kids with the same kids as holders. */
typedef struct LpKidSets {
  uint32_t *of; /* By cycle: the number of its set, or LP_NONE. */
  uint64_t bytes[LP_SHARED_MOST]; /* By set: that its objects keep. */
  size_t n;                       /* Sets. */
} LpKidSets;

/* Objects with references to sets, or to what leads to them. */
typedef struct LpSources {
  uint32_t *id;
  size_t n, cap;
} LpSources;

/* Where references between kids lead. */
typedef struct LpLeads {
  const LpDomTree *t;
  const LpSiblings *s;
  const LpCycles *c;
  const LpKidSets *sets;
  uint64_t *weight; /* By cycle: bytes of one set that it has or leads to, at
                    ** least 1; or 0. What is reached on several ways counts as
                    ** often, but no more than the whole set. */
} LpLeads;

/* Start with no set. The caller frees `weight`. */
void lp_leads_open(LpLeads *l);

/* Compute the weights of a set. */
void lp_leads_weigh(LpLeads *l, unsigned set);

/* The cycle to which a reference of FROM leads, or LP_NONE. */
static inline uint32_t lp_leads_edge(const LpLeads *l, uint32_t from,
                                     const LpEdge *e)
{
  uint32_t kid = lp_siblings_edge(l->s, l->t, from, e);
  return kid == LP_NONE ? LP_NONE : l->c->of[kid];
}

/* The same, if it leads to the set. */
static inline uint32_t lp_leads_weighty(const LpLeads *l, uint32_t from,
                                        const LpEdge *e)
{
  uint32_t cycle = lp_leads_edge(l, from, e);
  return cycle == LP_NONE || !l->weight[cycle] ? LP_NONE : cycle;
}

/* Find the sources of all sets together, below kids that are not shared. The
** caller frees the array.
*/
void lp_sources_find(LpSources *list, const LpLeads *l);

/* An object that is, or dominates, a source. */
typedef struct LpMark {
  uint32_t id;
  uint32_t above;      /* The mark of its dominator, or LP_NONE: it is a kid. */
  uint32_t below;      /* Marks that are directly below it, */
  uint32_t first;      /* one of them, or LP_NONE, */
  uint32_t next;       /* and the next one below the same mark. */
  uint64_t own_weight; /* Of what its references lead to; 0: it is no source. */
  uint64_t weight;     /* The same, and of all sources below. */
  uint64_t all, own;   /* Bits of holders: for sources below, for itself. */
} LpMark;

typedef struct LpMarks {
  LpIdMap at; /* Object -> number in mark. */
  LpMark *mark;
  size_t n, cap;
} LpMarks;

/* Mark the sources of the set whose weights are known. The caller frees them
** with lp_marks_close.
*/
void lp_marks_open(LpMarks *m, const LpLeads *l, const LpSources *list);

/* Free the memory. */
void lp_marks_close(LpMarks *m);

#endif

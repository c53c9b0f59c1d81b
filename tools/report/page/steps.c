/*
** What happened in each step of time, by node of a JSON document.
**
** Member "steps" has "memory" and "cpu", each with columns of entries in the
** order of steps and nodes: "count" is how many entries a step has, "node" the
** difference to the node of the entry before in the same step.
**
** To bound the size, only the nodes with most have entries of their own; what
** happens in all others of a site is one entry, the node of which is the number
** of all nodes + the site. So sums of lines are exact in each step; a reader
** estimates their stacks, from the whole recording. Steps become longer too.
*/

#include <stdlib.h>
#include <string.h>

#include "keep.h"
#include "steps.h"

/* An entry: of a step, a node and, of samples, a metric of LP_METRIC_PARTS. */
typedef struct StepEntry {
  uint32_t step, node, part;
  uint64_t n[LP_NSLICE];
} StepEntry;

#define STEPS_ENOUGH 96  /* If they do not fit, that many will do, */
#define STEPS_OWN    500 /* with as many nodes that have entries. */

typedef struct Steps {
  StepEntry *list;
  size_t n;
  uint64_t width; /* Nanoseconds of a step. */
  size_t steps;
  int cpu, parts;
  double *weight; /* By node of the document: its share of all. */
} Steps;

/* By step, node and part. */
static int steps_before(const void *a, const void *b)
{
  const StepEntry *x = a, *y = b;
  if (x->step != y->step)
    return x->step < y->step ? -1 : 1;
  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return x->part < y->part ? -1 : x->part > y->part;
}

/* Sort the entries, and make those of a place one. */
static void steps_sort(Steps *s)
{
  size_t i, to = 0;
  int k;
  if (s->n > 1)
    qsort(s->list, s->n, sizeof(StepEntry), steps_before);
  for (i = 0; i < s->n; i++) {
    if (to && !steps_before(&s->list[to - 1], &s->list[i]))
      for (k = 0; k < LP_NSLICE; k++)
        s->list[to - 1].n[k] += s->list[i].n[k];
    else
      s->list[to++] = s->list[i];
  }
  s->n = to;
}

/* Set the place of an entry of the profile. Returns 0 if it is left out. */
static int steps_place(StepEntry *e, const Steps *s, const LpStepsOf *of,
                       uint32_t id)
{
  const LpTree *t = of->tree;
  if (s->cpu) {
    e->node = of->ofnode[t->place[id]];
    e->part = s->parts ? t->part[id] : 0;
    return lp_shape_stack(of->shape, id);
  }
  e->node = of->ofnode[t->origin[id]];
  return lp_shape_origin(of->shape, id);
}

/* By node, its shares of all that was counted. */
static void steps_weigh(Steps *s, const LpStepsOf *of)
{
  double all[LP_NSLICE] = {0};
  size_t i;
  int k;
  s->weight = lp_zalloc(of->nnode, sizeof(double));
  for (i = 0; i < s->n; i++)
    for (k = 0; k < LP_NSLICE; k++)
      all[k] += (double)s->list[i].n[k];
  for (i = 0; i < s->n; i++)
    for (k = 0; k < LP_NSLICE; k++)
      if (all[k] > 0)
        s->weight[s->list[i].node] += (double)s->list[i].n[k] / all[k];
}

/* All entries of one kind of profile. */
static void steps_open(Steps *s, const LpSlices *from, const LpStepsOf *of)
{
  size_t i, k;
  s->list = lp_alloc((from->entries + 1) * sizeof(StepEntry));
  s->width = from->width;
  s->steps = from->n;
  for (i = 0; i < from->n; i++) {
    for (k = 0; k < from->step[i].n; k++) {
      const LpSlice *slice = &from->step[i].list[k];
      StepEntry e = {.step = (uint32_t)i};
      memcpy(e.n, slice->n, sizeof(e.n));
      if (steps_place(&e, s, of, slice->id))
        s->list[s->n++] = e;
    }
  }
  steps_weigh(s, of);
  steps_sort(s);
}

/* Only OWN nodes have entries of their own from now on, or less if many weigh
** the same.
*/
static void steps_merge(Steps *s, const LpStepsOf *of, uint32_t own)
{
  double limit = lp_keep_limit(s->weight, of->nnode, own);
  size_t i;
  for (i = 0; i < s->n; i++) {
    StepEntry *e = &s->list[i];
    if (e->node < of->nnode && s->weight[e->node] <= limit)
      e->node = of->nnode + of->site[e->node];
  }
  steps_sort(s);
}

/* How many digits a number has. */
static size_t steps_digits(uint64_t n)
{
  size_t digits = 1;
  for (; n > 9; n /= 10)
    digits++;
  return digits;
}

/* Bytes of JSON that all entries have. */
static size_t steps_bytes(const Steps *s)
{
  size_t bytes = 0, i;
  int k;
  for (i = 0; i < s->n; i++) {
    bytes += 6;
    for (k = 0; k < (s->cpu ? 1 : LP_NSLICE); k++)
      bytes += 1 + steps_digits(s->list[i].n[k]);
  }
  return bytes;
}

/* Steps twice as long. */
static void steps_halve(Steps *s)
{
  size_t i;
  for (i = 0; i < s->n; i++)
    s->list[i].step /= 2;
  s->steps = (s->steps + 1) / 2;
  s->width *= 2;
  steps_sort(s);
}

/* Make the entries fit: first with longer steps, then with fewer nodes, then
** with steps that are longer still.
*/
static void steps_fit(Steps *s, const LpStepsOf *of)
{
  uint32_t own = of->nnode;
  while (s->steps > 1 && steps_bytes(s) > of->most) {
    if (s->steps > STEPS_ENOUGH || own <= STEPS_OWN)
      steps_halve(s);
    else
      steps_merge(s, of, own /= 2);
  }
}

/* A column of a counter. */
static void steps_column(LpJson *j, const Steps *s, const char *key, int k)
{
  size_t i;
  lp_json_array(j, key);
  for (i = 0; i < s->n; i++)
    lp_json_number(j, s->list[i].n[k]);
  lp_json_end(j);
}

/* Columns of places: how many entries a step has, and their nodes. */
static void steps_places(LpJson *j, const Steps *s)
{
  size_t i, k = 0, from;
  lp_json_array(j, "count");
  for (i = 0; i < s->steps; i++) {
    for (from = k; k < s->n && s->list[k].step == i; k++)
      ;
    lp_json_number(j, k - from);
  }
  lp_json_end(j);
  lp_json_array(j, "node");
  for (i = 0; i < s->n; i++)
    lp_json_number(j, i && s->list[i].step == s->list[i - 1].step
                          ? s->list[i].node - s->list[i - 1].node
                          : s->list[i].node);
  lp_json_end(j);
}

/* The metrics of samples: names, and which of them each entry has. */
static void steps_parts(LpJson *j, const Steps *s)
{
  size_t i;
  LpMetric m;
  lp_json_array(j, "parts");
  for (m = LP_METRIC_INTERPRETED; m <= LP_METRIC_UNNAMED; m++)
    lp_json_text(j, lp_metrics[m].key);
  lp_json_end(j);
  lp_json_array(j, "part");
  for (i = 0; i < s->n; i++)
    lp_json_number(j, s->list[i].part - LP_METRIC_INTERPRETED);
  lp_json_end(j);
}

/* The steps of one kind of profile. */
static void steps_write(LpJson *j, const Steps *s)
{
  lp_json_object(j, s->cpu ? "cpu" : "memory");
  lp_json_keynumber(j, "width_ns", s->width);
  steps_places(j, s);
  if (s->cpu) {
    steps_column(j, s, "samples", LP_SLICE_SAMPLES);
    if (s->parts)
      steps_parts(j, s);
  } else {
    steps_column(j, s, "allocations", LP_SLICE_BIRTHS);
    steps_column(j, s, "bytes", LP_SLICE_BYTES);
    steps_column(j, s, "deallocations", LP_SLICE_DEATHS);
    steps_column(j, s, "freed", LP_SLICE_FREED);
  }
  lp_json_end(j);
}

void lp_json_steps(LpJson *j, const LpProfile *prof, const LpStepsOf *of)
{
  int cpu;
  lp_json_object(j, "steps");
  for (cpu = 0; cpu < 2; cpu++) {
    const LpSlices *from = &prof->slices[cpu];
    Steps s = {.cpu = cpu, .parts = cpu && of->tree->part};
    if (from->n < 2)
      continue;
    steps_open(&s, from, of);
    steps_fit(&s, of);
    if (s.steps > 1)
      steps_write(j, &s);
    free(s.list);
    free(s.weight);
  }
  lp_json_end(j);
}

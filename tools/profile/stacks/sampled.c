/*
** Samples of CPU time by stack.
*/

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "sampled.h"

uint32_t lp_sampled_add(LpSampled *s, uint32_t node, uint64_t count)
{
  uint32_t id = lp_idmap_add(&s->ids, node, s->n);
  if (id == s->n) {
    s->n++;
    s->node = lp_grow(s->node, &s->nodes, s->n, sizeof(uint32_t));
    s->node[id] = node;
  }
  s->samples = lp_grow(s->samples, &s->nsamples, id + 1u, sizeof(uint64_t));
  s->samples[id] += count;
  return id;
}

void lp_sampled_free(LpSampled *s)
{
  lp_idmap_free(&s->ids);
  free(s->node);
  free(s->samples);
  memset(s, 0, sizeof(*s));
}

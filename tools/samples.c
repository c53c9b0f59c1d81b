/*
** Samples: events that stand for more than themselves.
**
** They are few, so this is written for clarity: stream.c is its model, which
** has the speed. An object weighs the same when it comes and when it goes,
** since its size is told both times; no weight is kept.
*/

#include "stream.h"

/* Add WHAT and its PART, below 1, to a number and its part. */
static void samples_add(uint64_t *n, uint64_t *part, uint64_t what,
                        uint64_t whatpart)
{
  *part += whatpart;
  *n += what + (*part >> 32);
  *part &= UINT32_MAX;
}

/* Count objects of an origin: how many, and their bytes. */
static void samples_count(LpStream *st, uint32_t origin, int count, int bytes,
                          const LpWeight *w)
{
  LpOrigins *o = &st->prof->origins;
  uint64_t *n, *part;
  if (origin >= o->nparts)
    lp_origins_parts(o);
  n = o->cell[origin].n;
  part = o->part[origin];
  samples_add(&n[count], &part[count], w->n, w->npart);
  samples_add(&n[bytes], &part[bytes], w->bytes, w->bytespart);
}

/* An object of an origin comes. */
static void samples_arrive(LpStream *st, const LpEvent *e, uint32_t origin,
                           int count, int bytes)
{
  LpWeight w = lp_weigh(st->scale, e->nsize);
  uint32_t was = lp_live_put(&st->live, e->naddr, origin);
  samples_count(st, origin, count, bytes, &w);
  if (was != LP_NONE) { /* Its end was not told. */
    st->prof->row[lp_cell_site(&st->prof->origins.cell[was])].twice++;
    st->twice++;
  }
}

/* An object goes. Returns its type. */
static uint32_t samples_leave(LpStream *st, const LpEvent *e, int count,
                              uint64_t key)
{
  LpWeight w = lp_weigh(st->scale, e->osize), *taken;
  uint32_t origin = lp_live_take(&st->live, e->oaddr);
  const LpCell *c;
  if (origin == LP_NONE) {
    origin = LP_ORIGIN_BEFORE;
    st->before += e->osize;
    st->strays++;
  }
  c = &st->prof->origins.cell[origin];
  samples_count(st, origin, count, LP_LEFT_BYTES, &w);
  taken = lp_taken_of(&st->prof->taken,
                      key | LP_TAKEN_KEY(e->site, lp_cell_site(c)));
  samples_add(&taken->n, &taken->npart, w.n, w.npart);
  samples_add(&taken->bytes, &taken->bytespart, w.bytes, w.bytespart);
  return lp_cell_type(c);
}

/* A reallocation: of its old and its new object, one may be no sample. What was
** no sample before has no known type.
*/
static void samples_realloc(LpStream *st, const LpEvent *e)
{
  uint32_t type = LJM_TYPE_UNKNOWN;
  if (e->sampled & LJM_SAMPLED_OLD)
    type = samples_leave(st, e, LP_MOVES, LP_TAKEN_REALLOC);
  if (e->sampled & LJM_SAMPLED_NEW)
    samples_arrive(st, e,
                   lp_origins_get(&st->prof->origins, e->node, e->site, type),
                   LP_REALLOCS, LP_REALLOC_BYTES);
}

/* As the events of a whole recording, but of samples. The books count what was
** told, as the recorder's totals do.
*/
void lp_stream_samples(LpStream *st, const LpEvent *ev, size_t n)
{
  for (; n--; ev++) {
    st->in += ev->nsize;
    st->out += ev->osize;
    if (ev->kind == LJM_ALLOC) {
      st->allocs++;
      samples_arrive(
          st, ev,
          lp_origins_get(&st->prof->origins, ev->node, ev->site, ev->type),
          LP_ALLOCS, LP_ALLOC_BYTES);
    } else if (ev->kind == LJM_FREE) {
      st->frees++;
      samples_leave(st, ev, LP_FREES, 0);
    } else {
      st->reallocs++;
      samples_realloc(st, ev);
    }
  }
}

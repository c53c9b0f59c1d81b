/*
** The two sides of a diff, made comparable: what was counted for the baseline
** goes to where its functions and lines are now.
*/

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "moves.h"

/* -- Stacks and figures ---------------------------------------------------- */

/* While the figures of a baseline go elsewhere. */
typedef struct Move {
  LpProfile *prof;
  LpMoves moves;
  uint32_t *node; /* Where a list of callers is now; LP_NONE: it was not looked
                  ** up, */
  uint32_t nnode; /* for so many: others stay where they are. */
} Move;

/* Where a list of callers is now. */
static uint32_t move_node(Move *m, uint32_t node)
{
  LpOrigins *o = &m->prof->origins;
  uint32_t *back = NULL, n = 0, at = node;
  size_t cap = 0;
  for (; at < m->nnode && m->node[at] == LP_NONE;
       at = lp_calls_parent(&o->calls, at)) {
    back = lp_grow(back, &cap, n + 1u, sizeof(*back));
    back[n++] = at;
  }
  at = at < m->nnode ? m->node[at] : at;
  while (n-- > 0) {
    at = lp_origins_node(o, at,
                         lp_moves_site(&m->moves, o->calls.site[back[n]]));
    m->node[back[n]] = at;
  }
  free(back);
  return at;
}

/* What was counted for origins. */
static void move_origins(Move *m)
{
  LpBaseline *b = &m->prof->baseline;
  LpOrigins *o = &m->prof->origins;
  uint32_t n = b->n, i, *to = lp_alloc((n + 1u) * sizeof(*to));
  LpFigures *figures;
  for (i = 0; i < n; i++) {
    uint32_t what = o->cell[i].what, node = o->callers[i];
    static const LpFigures none;
    to[i] = i;
    if (i > LP_ORIGIN_LOST && memcmp(&b->figures[i], &none, sizeof(none)) != 0)
      to[i] = lp_origins_get(o, move_node(m, node),
                             lp_moves_site(&m->moves, what >> 4), what & 15);
  }
  figures = lp_zalloc(o->n, sizeof(*figures));
  for (i = 0; i < n; i++)
    lp_figures_add(&figures[to[i]], &b->figures[i]);
  free(b->figures);
  b->figures = figures;
  b->n = o->n;
  free(to);
}

/* What was counted for stacks of samples. */
static void move_samples(Move *m)
{
  LpBaseline *b = &m->prof->baseline;
  LpSampled *s = &m->prof->sampled;
  size_t n = b->nsamples < s->n ? b->nsamples : s->n, i;
  uint32_t *to = lp_alloc((n + 1) * sizeof(*to));
  uint64_t *samples;
  for (i = 0; i < n; i++) {
    to[i] = (uint32_t)i;
    if (b->samples[i])
      to[i] = lp_sampled_add(s, move_node(m, s->node[i]), 0);
  }
  samples = lp_zalloc(s->n + 1u, sizeof(*samples));
  for (i = 0; i < n; i++)
    samples[to[i]] += b->samples[i];
  free(b->samples);
  b->samples = samples;
  b->nsamples = s->n;
  free(to);
}

/* -- All of it ------------------------------------------------------------- */

/* Functions have the names that they have now. */
static void compare_names(LpProfile *prof)
{
  uint32_t i;
  for (i = 0; i < prof->funckeys.n; i++) {
    const LpFuncSide *now = &prof->func[i].side[LP_NOW];
    if (now->defined && lp_profile_name(prof, now->name).n)
      prof->func[i].name = now->name;
  }
}

/* Remember which functions have moved, or are others. They are not looked for
** again: what others have moved to their places is not theirs.
*/
static void compare_matches(LpProfile *prof, const LpPlaces side[LP_NSIDE])
{
  LpBaseline *b = &prof->baseline;
  const LpPlace *p = side[LP_BASE].at, *end = p + side[LP_BASE].n;
  for (; p < end; p++) {
    uint32_t now;
    prof->func[p->id].side[LP_BASE].defined &= (uint8_t)(p->pair == LP_NONE);
    if (p->pair == LP_NONE)
      continue;
    now = side[LP_NOW].at[p->pair].id;
    if (now == p->id)
      continue;
    b->match = lp_grow(b->match, &b->capmatch, b->nmatch + 1, sizeof(LpMatch));
    b->match[b->nmatch++] = (LpMatch){p->id, now, p->guessed};
  }
}

void lp_compare(LpProfile *prof)
{
  Move m = {.prof = prof, .nnode = prof->origins.calls.n};
  if (!prof->baseline.present)
    return;
  lp_moves_open(&m.moves, prof);
  compare_matches(prof, m.moves.side);
  compare_names(prof);
  if (m.moves.moved) {
    m.node = lp_alloc(m.nnode * sizeof(*m.node));
    memset(m.node, 0xff, m.nnode * sizeof(*m.node));
    m.node[LP_NODE_ROOT] = LP_NODE_ROOT;
    m.node[LP_NODE_CUT] = LP_NODE_CUT;
    move_origins(&m);
    if (prof->baseline.nsamples)
      move_samples(&m);
    free(m.node);
  }
  lp_moves_close(&m.moves);
}

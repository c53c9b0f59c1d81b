/*
** Where the sites of a baseline are now.
*/

#include <stdlib.h>

#include "lines_moved.h"
#include "match.h"
#include "moves.h"

/* -- Lines ----------------------------------------------------------------- */

/* Behind the places that may be in one of the baseline. */
static uint32_t place_end(const LpPlaces *p, uint32_t base)
{
  const LpPlace *b = &p->at[base];
  uint32_t end = base + 1;
  while (end < p->n && p->at[end].chunk == b->chunk &&
         p->at[end].first <= b->first + b->lines)
    end++;
  return end;
}

/* What a function in a place is now, if it is still in that; else NULL. */
static const LpPlace *place_now(const LpPlaces side[LP_NSIDE], uint32_t base,
                                uint32_t in)
{
  const LpPlace *b = &side[LP_BASE].at[in], *now;
  if (b->up != base || b->pair == LP_NONE)
    return NULL;
  now = &side[LP_NOW].at[b->pair];
  return now->up == side[LP_BASE].at[base].pair ? now : NULL;
}

/* Add an anchor, if it is behind the one before. */
static size_t anchor_add(LpAnchor *a, size_t n, uint64_t base, uint64_t now)
{
  if (n && base <= a[n - 1].base)
    return n;
  a[n] = (LpAnchor){base, now};
  return n + 1;
}

/* Keep most of N anchors that are in the same order now. Returns how many. */
static size_t anchors_order(LpAnchor *a, size_t n)
{
  size_t *last = lp_alloc(n * sizeof(*last)); /* Of the chains of a length, */
  size_t *before = lp_alloc(n * sizeof(*before)); /* and what is before. */
  size_t most = 0, i;
  for (i = 0; i < n; i++) {
    size_t low = 0, high = most;
    while (low < high) {
      size_t mid = low + (high - low) / 2;
      if (a[last[mid]].now < a[i].now)
        low = mid + 1;
      else
        high = mid;
    }
    before[i] = low ? last[low - 1] : SIZE_MAX;
    last[low] = i;
    most += low == most;
  }
  for (i = most, n = last[most - 1]; i-- > 0; n = before[n])
    last[i] = n;
  for (i = 0; i < most; i++)
    a[i] = a[last[i]];
  free(last);
  free(before);
  return most;
}

#define ANCHORS_BY 64 /* Distances, at most. */

/* By how many lines anchors have moved: the first ones that differ. */
static size_t anchors_by(const LpAnchor *a, size_t n, int64_t *by)
{
  size_t nby = 0, i, k;
  for (i = 0; i < n && nby < ANCHORS_BY; i++) {
    by[nby] = (int64_t)(a[i].now - a[i].base);
    for (k = 0; by[k] != by[nby];)
      k++;
    nby += k == nby;
  }
  return nby;
}

/* The first and the last line of a function, and of those that are in it, in
** both sides. The caller frees the arrays.
*/
static LpEdited place_edited(const LpPlaces side[LP_NSIDE], uint32_t base)
{
  const LpPlaces *p = &side[LP_BASE];
  const LpPlace *b = &p->at[base], *now = &side[LP_NOW].at[b->pair], *in;
  uint32_t end = place_end(p, base), i;
  size_t room = 2 * (size_t)(end - base), n;
  LpEdited f = {.anchor = lp_alloc(room * sizeof(*f.anchor)),
                .by = lp_alloc(room * sizeof(*f.by))};
  n = anchor_add(f.anchor, 0, b->first, now->first);
  for (i = base + 1; i < end; i++)
    if ((in = place_now(side, base, i))) {
      n = anchor_add(f.anchor, n, p->at[i].first, in->first);
      n = anchor_add(f.anchor, n, p->at[i].first + p->at[i].lines,
                     in->first + in->lines);
    }
  if (b->lines && now->lines && b->name != LP_PLACE_MAIN)
    n = anchor_add(f.anchor, n, b->first + b->lines, now->first + now->lines);
  f.nby = anchors_by(f.anchor, n, f.by);
  f.nanchor = anchors_order(f.anchor, n);
  return f;
}

/* Lines of a place, and those that are known. */
typedef struct Known {
  const uint64_t *line;
  size_t n;
  char *known;
} Known;

/* A line is known, if it is one of these. Returns its number, or n. */
static size_t line_known(Known *k, uint64_t line)
{
  size_t low = 0, high = k->n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (k->line[mid] < line)
      low = mid + 1;
    else
      high = mid;
  }
  if (low == k->n || k->line[low] != line)
    return k->n;
  k->known[low] = 1;
  return low;
}

/* Lines where a function begins or ends that is in a place are known, whatever
** the order of these functions is now.
*/
static void place_known(const LpPlaces side[LP_NSIDE], uint32_t base,
                        Known *lines, Known *now, uint64_t *to)
{
  const LpPlaces *p = &side[LP_BASE];
  uint32_t end = place_end(p, base), i, k;
  for (i = base + 1; i < end; i++) {
    const LpPlace *in = place_now(side, base, i);
    for (k = 0; in && k < 2; k++) {
      uint64_t is = in->first + (k ? in->lines : 0);
      size_t at = line_known(lines, p->at[i].first + (k ? p->at[i].lines : 0));
      line_known(now, is);
      if (at < lines->n)
        to[at] = is;
    }
  }
}

/* The lines that are not known. Returns how many there are. */
static size_t lines_rest(const Known *k, uint64_t *rest)
{
  size_t n = 0, i;
  for (i = 0; i < k->n; i++)
    if (!k->known[i])
      rest[n++] = k->line[i];
  return n;
}

/* Find where N lines of a place are now. */
static void move_lines(const LpMoves *m, uint32_t place, const uint64_t *line,
                       size_t n, uint64_t *to)
{
  LpEdited f = place_edited(m->side, place);
  Known base = {line, n, lp_zalloc(n + 1, 1)}, now = {.n = 0};
  uint64_t *is, *rest = lp_alloc((n + 1) * sizeof(*rest)), *restnow, *restto;
  size_t nrest, i, at = 0;
  now.n = lp_sites_lines(&m->now, m->side[LP_BASE].at[place].pair, &is);
  now.line = is;
  now.known = lp_zalloc(now.n + 1, 1);
  restnow = lp_alloc((now.n + 1) * sizeof(*restnow));
  restto = lp_alloc((n + 1) * sizeof(*restto));
  place_known(m->side, place, &base, &now, to);
  nrest = lines_rest(&base, rest);
  lp_lines_moved(&f, rest, nrest, restnow, lines_rest(&now, restnow), restto);
  for (i = 0; i < n; i++)
    if (!base.known[i])
      to[i] = restto[at++];
  free(restto);
  free(restnow);
  free(now.known);
  free(is);
  free(rest);
  free(base.known);
  free(f.anchor);
  free(f.by);
}

/* -- Sites ----------------------------------------------------------------- */

/* A site is in another function now, at another line. */
static void move_row(LpMoves *m, uint32_t site, uint32_t func, uint64_t line)
{
  LpProfile *prof = m->prof;
  const LpSite s = {func, prof->row[site].marks, line};
  uint32_t n = prof->sitekeys.n, to = lp_profile_site(prof, &s);
  if (to == n) /* Only the baseline has it. */
    prof->row[to].sides = 1u << LP_BASE;
  m->site[site] = to;
  m->moved += to != site;
}

/* A trace of which only the start is known starts elsewhere. */
static void move_trace(LpMoves *m, uint32_t site, uint32_t func, uint64_t line)
{
  LpProfile *prof = m->prof;
  LpFuncInfo fi = prof->func[prof->row[site].func];
  const LpFunc f = {.kind = LP_FUNC_TRACE,
                    .traceno = fi.first,
                    .addr = fi.addr,
                    .start = func,
                    .line = line};
  uint64_t at = prof->row[site].line;
  if (func != fi.start || line != fi.line)
    move_row(m, site, lp_profile_func(prof, &f), at == fi.line ? line : at);
}

/* Find where the sites of a place are now, those from FROM up to END. */
static void move_place(LpMoves *m, const LpSites *base, size_t from, size_t end)
{
  uint32_t place = base->at[from].place, func;
  const LpPlace *p = &m->side[LP_BASE].at[place];
  uint64_t *line, *to;
  size_t n = lp_sites_lines(base, place, &line), at = 0;
  to = lp_alloc((n + 1) * sizeof(*to));
  move_lines(m, place, line, n, to);
  func = m->side[LP_NOW].at[p->pair].id;
  for (; from < end; from++) {
    const LpPlaceSite *s = &base->at[from];
    while (line[at] < s->line)
      at++;
    if (m->prof->row[s->site].func != p->id)
      move_trace(m, s->site, func, to[at]);
    else if (func != p->id || to[at] != s->line)
      move_row(m, s->site, func, to[at]);
  }
  free(to);
  free(line);
}

/* Find where the sites of all functions are now that have a pair. */
static void move_sites(LpMoves *m)
{
  LpSites base = lp_sites(m->prof, &m->side[LP_BASE], LP_BASE, m->place);
  size_t at = 0, end;
  for (; at < base.n; at = end) {
    end = lp_sites_find(&base, base.at[at].place + 1);
    move_place(m, &base, at, end);
  }
  free(base.at);
}

/* Sites without a line go with their functions. Those of functions that are
** gone are apart from what is at their places now.
*/
static void move_rest(LpMoves *m)
{
  LpProfile *prof = m->prof;
  uint32_t i;
  for (i = LP_SITE_FIRST; i < m->nsite; i++) {
    uint32_t func = prof->row[i].func, place = LP_NONE, pair;
    if ((prof->row[i].sides & 1u << LP_BASE) && func < m->nfunc)
      place = m->place[func];
    if (place == LP_NONE)
      continue;
    pair = m->side[LP_BASE].at[place].pair;
    if (pair != LP_NONE && !lp_sites_isline(prof->row[i].line))
      move_row(m, i, m->side[LP_NOW].at[pair].id, prof->row[i].line);
    else if (pair == LP_NONE && prof->func[func].side[LP_NOW].defined)
      move_row(m, i, lp_profile_gone(prof, func), prof->row[i].line);
  }
}

void lp_moves_open(LpMoves *m, LpProfile *prof)
{
  uint32_t i, *now;
  *m = (LpMoves){
      .prof = prof, .nfunc = prof->funckeys.n, .nsite = prof->sitekeys.n};
  lp_places_open(m->side, prof);
  lp_match(m->side);
  m->place = lp_places_byfunc(&m->side[LP_BASE], m->nfunc);
  now = lp_places_byfunc(&m->side[LP_NOW], m->nfunc);
  m->now = lp_sites(prof, &m->side[LP_NOW], LP_NOW, now);
  free(now);
  m->site = lp_alloc(m->nsite * sizeof(*m->site));
  for (i = 0; i < m->nsite; i++)
    m->site[i] = i;
  move_sites(m);
  move_rest(m);
}

void lp_moves_close(LpMoves *m)
{
  lp_places_close(m->side);
  free(m->now.at);
  free(m->place);
  free(m->site);
}

/*
** The sites of Lua functions, of one side of a diff.
*/

#include <stdlib.h>
#include <string.h>

#include "sites.h"

/* For qsort. */
static int sites_compare(const void *x, const void *y)
{
  const LpPlaceSite *a = x, *b = y;
  if (a->place != b->place)
    return a->place < b->place ? -1 : 1;
  if (a->line != b->line)
    return a->line < b->line ? -1 : 1;
  return a->site < b->site ? -1 : 1;
}

uint32_t *lp_places_byfunc(const LpPlaces *p, uint32_t n)
{
  uint32_t *of = lp_alloc((n + 1u) * sizeof(*of)), i;
  memset(of, 0xff, n * sizeof(*of));
  for (i = 0; i < p->n; i++)
    of[p->at[i].id] = i;
  return of;
}

LpSites lp_sites(const LpProfile *prof, const LpPlaces *p, LpSide side,
                 const uint32_t *place)
{
  LpSites s = {lp_alloc((prof->sitekeys.n + 1u) * sizeof(LpPlaceSite)), 0};
  uint32_t i;
  for (i = LP_SITE_FIRST; i < prof->sitekeys.n; i++) {
    const LpRow *r = &prof->row[i];
    const LpFuncInfo *fi = &prof->func[r->func];
    int trace = fi->kind == LP_FUNC_TRACE;
    uint32_t at = place[trace ? fi->start : r->func];
    uint64_t line = trace ? fi->line : r->line;
    if ((r->sides & 1u << side) && at != LP_NONE && p->at[at].pair != LP_NONE &&
        lp_sites_isline(line))
      s.at[s.n++] = (LpPlaceSite){at, i, line};
  }
  qsort(s.at, s.n, sizeof(*s.at), sites_compare);
  return s;
}

size_t lp_sites_find(const LpSites *s, uint32_t place)
{
  size_t low = 0, high = s->n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (s->at[mid].place < place)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

size_t lp_sites_lines(const LpSites *s, uint32_t place, uint64_t **line)
{
  size_t from = lp_sites_find(s, place), end = lp_sites_find(s, place + 1),
         n = 0, i;
  *line = lp_alloc((end - from + 1) * sizeof(**line));
  for (i = from; i < end; i++)
    if (!n || (*line)[n - 1] != s->at[i].line)
      (*line)[n++] = s->at[i].line;
  return n;
}

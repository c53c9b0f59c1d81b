/*
** Heap snapshots: the live objects of every site at regular intervals.
*/

#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "leb.h"
#include "snaps.h"

/* -- A stream ------------------------------------------------------------- */

LpSnapSite *lp_snaps_touch(LpSnapper *s, uint32_t site)
{
  LpSnapSite *t;
  s->site = lp_grow(s->site, &s->nsite, (size_t)site + 1, sizeof(LpSnapSite));
  t = &s->site[site];
  if (t->touched)
    return t;
  t->touched = 1;
  s->touched =
      lp_grow(s->touched, &s->touchable, s->ntouched + 1, sizeof(uint32_t));
  s->touched[s->ntouched++] = site;
  return t;
}

/* Add an integer to the log. */
static void snaps_uleb(LpBuf *b, uint64_t v)
{
  uint8_t s[LJM_ULEB_MAX];
  lp_buf_add(b, s, (size_t)(ljm_putuleb(s, v) - s));
}

/* Record a site, if it holds something else than in the snapshot before. */
static void snaps_site(LpBuf *log, uint32_t site, LpSnapSite *t)
{
  uint64_t objects = lp_round(t->live.n, t->live.npart);
  uint64_t bytes = lp_round(t->live.bytes, t->live.bytespart);
  t->touched = 0;
  if (objects == t->objects && bytes == t->bytes)
    return;
  snaps_uleb(log, site);
  snaps_uleb(log, ljm_zigzag(objects - t->objects));
  snaps_uleb(log, ljm_zigzag(bytes - t->bytes));
  t->objects = objects;
  t->bytes = bytes;
}

/* One record: all that was touched. */
static void snaps_record(LpSnapper *s, LpSnaps *to, uint64_t at)
{
  size_t i, from = to->log.n;
  for (i = 0; i < s->ntouched; i++)
    snaps_site(&to->log, s->touched[i], &s->site[s->touched[i]]);
  s->ntouched = 0;
  to->snap = lp_grow(to->snap, &to->nsnap, to->n + 1, sizeof(LpSnap));
  to->snap[to->n++] = (LpSnap){at, from, to->log.n - from};
}

/* It is NS now: take those snapshots that are due. What changed since the last
** one happened before the first of them, since nothing was recorded in between.
** If there are too many, only the last one is recorded.
*/
void lp_snaps_take(LpSnapper *s, LpSnaps *to, uint64_t ns, uint64_t interval)
{
  uint64_t last = ns / interval, at = s->next ? s->next : 1;
  if (last < at)
    return;
  if (last - at > SNAPS_REPEATS - s->repeats)
    at = last;
  s->repeats += last - at;
  for (; at <= last; at++)
    snaps_record(s, to, at);
  s->next = at;
}

void lp_snapper_free(LpSnapper *s)
{
  free(s->site);
  free(s->touched);
  memset(s, 0, sizeof(*s));
}

/* -- All of them ---------------------------------------------------------- */

/* By time. */
static int snaps_before(const void *a, const void *b)
{
  const LpSnap *x = a, *y = b;
  if (x->at != y->at)
    return x->at < y->at ? -1 : 1;
  return x->from < y->from ? -1 : x->from > y->from;
}

void lp_snaps_sort(LpSnaps *s)
{
  if (s->n)
    qsort(s->snap, s->n, sizeof(LpSnap), snaps_before);
}

/* Bring STATE, by site, to the time of record I. Returns the number of the
** first record of the next snapshot. To be called from the first one on.
*/
size_t lp_snaps_play(const LpSnaps *s, size_t i, LpSnapState *state)
{
  uint64_t at = s->snap[i].at;
  for (; i < s->n && s->snap[i].at == at; i++) {
    LpCursor c = {(const uint8_t *)s->log.s, NULL, 0};
    if (!s->snap[i].n)
      continue;
    c.p += s->snap[i].from;
    c.end = c.p + s->snap[i].n;
    while (c.p < c.end) {
      LpSnapState *t = &state[lp_cursor_uleb(&c)];
      t->objects += ljm_unzigzag(lp_cursor_uleb(&c));
      t->bytes += ljm_unzigzag(lp_cursor_uleb(&c));
    }
  }
  return i;
}

void lp_snaps_free(LpSnaps *s)
{
  lp_buf_free(&s->log);
  free(s->snap);
  memset(s, 0, sizeof(*s));
}

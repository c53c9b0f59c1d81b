/*
** Lines that made what is in heap dumps.
*/

#include <stdlib.h>

#include "heap/heap_join.h"
#include "makers.h"

void lp_makers_open(LpMakers *m, size_t n)
{
  m->lines.n = n;
  m->lines.exact = 1;
  m->known = lp_zalloc(n, 1);
}

void lp_makers_free(LpMakers *m)
{
  lp_growths_free(&m->lines);
  free(m->known);
  free(m->maker);
}

/* The row of a line. */
static uint32_t makers_line(LpMakers *m, const LpProfile *prof, uint32_t site,
                            LpBuf *b)
{
  b->n = 0;
  lp_join_site(b, prof, site);
  return lp_growths_row(&m->lines, b);
}

/* Remember what a line made of what a row keeps. */
static void makers_push(LpMakers *m, uint32_t row, uint32_t line,
                        uint64_t bytes)
{
  m->maker = lp_grow(m->maker, &m->cap, m->n + 1, sizeof(*m->maker));
  m->maker[m->n++] = (LpMaker){row, line, bytes};
}

void lp_makers_add(LpMakers *m, const LpHeap *h, LpReplay *r,
                   const LpKeeper *keeper, const uint32_t *row, size_t n)
{
  LpJoin *j = lp_join_with(h, r, keeper, n);
  LpBuf b = {0};
  size_t i;
  m->known[m->lines.at] = 1;
  m->nknown++;
  m->sample = j->sample;
  for (i = 0; i < j->nmade; i++) {
    const LpMade *made = &j->made[i];
    uint32_t line;
    if (made->keeper == LP_KEEPER_GARBAGE || made->keeper == LP_KEEPER_UNKNOWN)
      continue;
    line = makers_line(m, r->st.prof, made->site, &b);
    *lp_growths_cell(&m->lines, line) += made->live.bytes;
    if (made->keeper >= LP_KEEPER_FIRST && made->site >= LP_SITE_FIRST)
      makers_push(m, row[made->keeper - LP_KEEPER_FIRST], line,
                  made->live.bytes);
  }
  lp_buf_free(&b);
  lp_join_free(j);
}

/* The verdict on a line. Of dumps that the recording does not know, nothing is
** known.
*/
static LpVerdict makers_verdict(LpMakers *m, uint32_t line)
{
  size_t i, n = m->lines.n;
  for (i = 0; i < n; i++)
    if (!m->known[i])
      m->lines.bytes[line * n + i] = LP_LADDER_UNKNOWN;
  return m->known[0] && m->known[n - 1]
             ? lp_verdict(lp_growths_bytes(&m->lines, line), n)
             : LP_UNCOMPARABLE;
}

void lp_makers_judge(LpMakers *m)
{
  uint32_t line;
  for (line = 0; line < m->lines.names.n; line++)
    m->lines.row[line].verdict = makers_verdict(m, line);
}

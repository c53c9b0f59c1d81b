/*
** What of a diff has moved: functions of the baseline that are at other lines,
** in other chunks, or have other names.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "summary_report.h"

#define MOVED_TOLD 3  /* Groups, or names, that are told. */
#define MOVED_NAME 40 /* Columns of a chunk or a name. */

/* Functions of one chunk, and by how many lines they have moved. */
typedef struct Moved {
  uint32_t base, now; /* Chunks. */
  uint32_t n;
  const LpMatch *one;
  int64_t least, most;
} Moved;

typedef struct Groups {
  LpIntern keys;
  Moved *at;
  size_t cap;
} Groups;

/* Append a chunk. */
static void moved_chunk(LpBuf *b, const LpProfile *prof, uint32_t chunk)
{
  LpBuf name = {0};
  lp_printable_chunk(&name, lp_profile_name(prof, chunk));
  lp_buf_middle(b, name.n ? name.s + (name.s[0] == '@') : "?", MOVED_NAME);
  lp_buf_free(&name);
}

/* Append the name of a function in a side, or what it is. */
static void moved_name(LpBuf *b, const LpProfile *prof, uint32_t func,
                       LpSide side)
{
  LpBuf name = {0};
  lp_printable(&name, lp_profile_name(prof, prof->func[func].side[side].name));
  lp_buf_middle(b, name.n ? name.s : "a function", MOVED_NAME);
  lp_buf_free(&name);
}

/* Has a function moved, and was not only edited? */
static int moved_has(const LpProfile *prof, const LpMatch *m)
{
  const LpFuncInfo *base = &prof->func[m->base], *now = &prof->func[m->now];
  return base->chunk != now->chunk || base->first != now->first;
}

/* Add a function to those of its chunk. */
static void moved_add(Groups *g, const LpProfile *prof, const LpMatch *m)
{
  const LpFuncInfo *base = &prof->func[m->base], *now = &prof->func[m->now];
  const uint32_t key[] = {base->chunk, now->chunk};
  int64_t lines = (int64_t)(now->first - base->first);
  uint32_t n = g->keys.n, at = lp_intern(&g->keys, key, sizeof(key));
  Moved *group;
  g->at = lp_grow(g->at, &g->cap, at + 1u, sizeof(*g->at));
  group = &g->at[at];
  if (at == n)
    *group = (Moved){base->chunk, now->chunk, 0, m, lines, lines};
  group->n++;
  group->least = lines < group->least ? lines : group->least;
  group->most = lines > group->most ? lines : group->most;
}

/* For qsort: most functions first. */
static int moved_compare(const void *x, const void *y)
{
  const Moved *a = x, *b = y;
  if (a->n != b->n)
    return a->n > b->n ? -1 : 1;
  return a->one < b->one ? -1 : 1;
}

/* Append what of a chunk has moved. */
static void moved_text(LpBuf *b, const LpProfile *prof, const Moved *g)
{
  if (g->n == 1)
    moved_name(b, prof, g->one->now, LP_NOW);
  else
    lp_buf_printf(b, "%" PRIu32 " functions", g->n);
  if (g->base != g->now) {
    lp_buf_puts(b, " of ");
    moved_chunk(b, prof, g->base);
    lp_buf_puts(b, ", to ");
    moved_chunk(b, prof, g->now);
    return;
  }
  if (g->n == 1)
    lp_buf_printf(b, " from line %" PRIu64 " to %" PRIu64,
                  prof->func[g->one->base].first,
                  prof->func[g->one->now].first);
  lp_buf_puts(b, " of ");
  moved_chunk(b, prof, g->now);
  if (g->n == 1)
    return;
  lp_buf_printf(b, ", by %+" PRId64, g->least);
  if (g->most != g->least)
    lp_buf_printf(b, " to %+" PRId64, g->most);
  lp_buf_puts(b, g->most == g->least && (g->most == 1 || g->most == -1)
                     ? " line"
                     : " lines");
}

/* Which functions have moved, by their chunks. */
static void moved_groups(LpClauses *c, const LpProfile *prof)
{
  const LpBaseline *base = &prof->baseline;
  Groups g = {.cap = 0};
  uint32_t i, left = 0;
  for (i = 0; i < base->nmatch; i++)
    if (!base->match[i].guessed && moved_has(prof, &base->match[i]))
      moved_add(&g, prof, &base->match[i]);
  if (g.keys.n)
    qsort(g.at, g.keys.n, sizeof(*g.at), moved_compare);
  for (i = 0; i < g.keys.n; i++) {
    LpBuf b = {0};
    if (i >= MOVED_TOLD) {
      left += g.at[i].n;
      continue;
    }
    moved_text(&b, prof, &g.at[i]);
    lp_clause(c, "; ", "%s%s", i ? "" : "Moved: ", b.s);
    lp_buf_free(&b);
  }
  if (left)
    lp_clause(c, "; ", "and %" PRIu32 " more", left);
  lp_clause_end(c);
  lp_intern_free(&g.keys);
  free(g.at);
}

/* Append the chunk of one of the functions of a match, if they differ. */
static void moved_in(LpBuf *b, const LpProfile *prof, const LpMatch *m,
                     uint32_t func)
{
  if (prof->func[m->base].chunk == prof->func[m->now].chunk)
    return;
  lp_buf_puts(b, " of ");
  moved_chunk(b, prof, prof->func[func].chunk);
}

/* Which functions have other names, as far as that can be told. */
static void moved_renamed(LpClauses *c, const LpProfile *prof)
{
  const LpBaseline *base = &prof->baseline;
  uint32_t i, n = 0;
  for (i = 0; i < base->nmatch; i++) {
    const LpMatch *m = &base->match[i];
    LpBuf b = {0};
    if (!m->guessed || n++ >= MOVED_TOLD)
      continue;
    moved_name(&b, prof, m->base, LP_BASE);
    moved_in(&b, prof, m, m->base);
    lp_buf_puts(&b, " is now ~");
    moved_name(&b, prof, m->now, LP_NOW);
    moved_in(&b, prof, m, m->now);
    lp_clause(c, "; ", "%s%s", n > 1 ? "" : "By its bytecode, ", b.s);
    lp_buf_free(&b);
  }
  if (n > MOVED_TOLD)
    lp_clause(c, "; ", "and %" PRIu32 " more", n - MOVED_TOLD);
  lp_clause_end(c);
}

void lp_summary_moved(LpClauses *c, const LpProfile *prof)
{
  moved_groups(c, prof);
  moved_renamed(c, prof);
}

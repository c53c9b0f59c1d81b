/*
** Which Lua function of the baseline is which one now.
*/

#include <stdlib.h>
#include <string.h>

#include "match.h"

#define MATCH_CELLS (1u << 22) /* Of a table that aligns two lists. */
#define MATCH_DEEP  200        /* Functions in functions; Lua has no more. */
#define MATCH_NEAR  256        /* Places that are looked at beside one. */

/* What is compared. */
enum {
  BY_CHUNK = 1,
  BY_NAME = 2, /* Places without one are left out. */
  BY_CODE = 4,
  BY_LINES = 8
};

/* Two places are one function. */
static void match_pair(LpPlaces side[LP_NSIDE], uint32_t base, uint32_t now,
                       int guessed)
{
  side[LP_BASE].at[base].pair = now;
  side[LP_BASE].at[base].guessed = guessed;
  side[LP_NOW].at[now].pair = base;
}

/* -- What there is one of -------------------------------------------------- */

typedef struct Key {
  uint32_t chunk, name;
  uint64_t hash, lines;
} Key;

/* Places of both sides with the same key: how many, and the last one. */
typedef struct Unique {
  uint32_t n[LP_NSIDE], at[LP_NSIDE];
} Unique;

static Key unique_key(const LpPlace *p, unsigned by)
{
  return (Key){by & BY_CHUNK ? p->chunk : 0, by & BY_NAME ? p->name : 0,
               by & BY_CODE ? p->hash : 0, by & BY_LINES ? p->lines : 0};
}

/* Pair places that have no pair, and are the only one of their side with some
** key.
*/
static void match_unique(LpPlaces side[LP_NSIDE], unsigned by, int guessed)
{
  LpIntern keys = {0};
  Unique *u = NULL;
  size_t cap = 0;
  uint32_t i;
  LpSide s;
  for (s = 0; s < LP_NSIDE; s++)
    for (i = 0; i < side[s].n; i++) {
      const LpPlace *p = &side[s].at[i];
      Key k = unique_key(p, by);
      uint32_t at;
      if (p->pair != LP_NONE || ((by & BY_NAME) && !p->name))
        continue;
      at = lp_intern(&keys, &k, sizeof(k));
      u = lp_grow(u, &cap, at + 1u, sizeof(*u));
      u[at].n[s]++;
      u[at].at[s] = i;
    }
  for (i = 0; i < keys.n; i++)
    if (u[i].n[LP_NOW] == 1 && u[i].n[LP_BASE] == 1)
      match_pair(side, u[i].at[LP_BASE], u[i].at[LP_NOW], guessed);
  lp_intern_free(&keys);
  free(u);
}

/* -- Lists of the same name ------------------------------------------------ */

/* Places of one side that have no pair, in the order of the file. */
typedef struct List {
  uint32_t *at;
  uint32_t n;
} List;

/* By how many lines the nearest place before (STEP -1) or behind one (1) has
** moved, of those of its chunk that have a pair. Returns 0 if there is none.
*/
static int match_moved(const LpPlaces side[LP_NSIDE], uint32_t base, int step,
                       int64_t *lines)
{
  const LpPlaces *p = &side[LP_BASE];
  uint32_t i = base + (uint32_t)step, chunk = p->at[base].chunk;
  unsigned left = MATCH_NEAR;
  for (; left-- && i < p->n && p->at[i].chunk == chunk; i += (uint32_t)step)
    if (p->at[i].pair != LP_NONE) {
      *lines = (int64_t)(side[LP_NOW].at[p->at[i].pair].first - p->at[i].first);
      return 1;
    }
  return 0;
}

/* What a pair is worth: the same bytecode most, then that it has moved as far
** as one beside it.
*/
typedef struct Worth {
  uint64_t hash, line[2]; /* Of the baseline; where it may be now. */
  int nline;
} Worth;

static Worth worth_of(const LpPlaces side[LP_NSIDE], uint32_t base)
{
  const LpPlace *p = &side[LP_BASE].at[base];
  Worth w = {.hash = p->hash};
  int64_t lines;
  int step;
  for (step = -1; step <= 1; step += 2)
    if (match_moved(side, base, step, &lines))
      w.line[w.nline++] = p->first + (uint64_t)lines;
  return w;
}

static unsigned worth_pair(const Worth *w, const LpPlace *now)
{
  unsigned worth = w->hash == now->hash ? 8 : 2;
  if ((w->nline > 0 && w->line[0] == now->first) ||
      (w->nline > 1 && w->line[1] == now->first))
    worth++;
  return worth;
}

/* Pair two lists in their order, so that what the pairs are worth is most. */
static void match_align(LpPlaces side[LP_NSIDE], const List list[LP_NSIDE])
{
  const List *base = &list[LP_BASE], *now = &list[LP_NOW];
  size_t wide = now->n + 1u;
  uint32_t *best = lp_zalloc((base->n + 1u) * wide, sizeof(*best));
  uint32_t i, k;
  for (i = base->n; i-- > 0;) {
    Worth w = worth_of(side, base->at[i]);
    for (k = now->n; k-- > 0;) {
      uint32_t most = best[(i + 1) * wide + k + 1] +
                      worth_pair(&w, &side[LP_NOW].at[now->at[k]]);
      uint32_t other = best[(i + 1) * wide + k];
      if (best[i * wide + k + 1] > other)
        other = best[i * wide + k + 1];
      best[i * wide + k] = most > other ? most : other;
    }
  }
  for (i = k = 0; i < base->n && k < now->n;) {
    uint32_t is = best[i * wide + k];
    if (is == best[(i + 1) * wide + k]) {
      i++;
    } else if (is == best[i * wide + k + 1]) {
      k++;
    } else {
      match_pair(side, base->at[i++], now->at[k++], 0);
    }
  }
  free(best);
}

/* What places must have in common to be in one list; 0: it is in none. */
static int list_key(const LpPlaces side[LP_NSIDE], LpSide s, uint32_t i,
                    int around, Key *k)
{
  const LpPlace *p = &side[s].at[i];
  uint32_t up = around ? p->up : LP_NONE;
  if (p->pair != LP_NONE)
    return 0;
  if (up != LP_NONE && s == LP_BASE) {
    up = side[s].at[up].pair;
    if (up == LP_NONE)
      return 0;
  }
  *k = (Key){p->chunk, p->name, up, 0};
  return 1;
}

/* Number the lists; OF gets those of the places of a side, or LP_NONE. */
static void lists_number(const LpPlaces side[LP_NSIDE], LpSide s, int around,
                         LpIntern *keys, uint32_t *of)
{
  uint32_t i;
  for (i = 0; i < side[s].n; i++) {
    Key k;
    of[i] = LP_NONE;
    if (list_key(side, s, i, around, &k))
      of[i] = lp_intern(keys, &k, sizeof(k));
  }
}

/* Collect the places of a side by their lists, of which there are N. ROOM is
** for all places. The caller frees the array.
*/
static List *lists_fill(const uint32_t *of, uint32_t places, uint32_t n,
                        uint32_t *room)
{
  List *list = lp_zalloc(n + 1u, sizeof(*list));
  uint32_t i;
  for (i = 0; i < places; i++)
    if (of[i] != LP_NONE)
      list[of[i]].n++;
  for (i = 0; i < n; i++) {
    list[i].at = room;
    room += list[i].n;
    list[i].n = 0;
  }
  for (i = 0; i < places; i++)
    if (of[i] != LP_NONE)
      list[of[i]].at[list[of[i]].n++] = i;
  return list;
}

/* Pair places with the same chunk and name, or without one, and AROUND: the
** same around them. Returns how many lists were looked at.
*/
static uint32_t match_lists(LpPlaces side[LP_NSIDE], int around)
{
  LpIntern keys = {0};
  uint32_t *of[LP_NSIDE], *room[LP_NSIDE], i, found = 0;
  List *list[LP_NSIDE];
  LpSide s;
  for (s = 0; s < LP_NSIDE; s++) {
    of[s] = lp_alloc((side[s].n + 1u) * sizeof(**of));
    room[s] = lp_alloc((side[s].n + 1u) * sizeof(**room));
    lists_number(side, s, around, &keys, of[s]);
  }
  for (s = 0; s < LP_NSIDE; s++)
    list[s] = lists_fill(of[s], side[s].n, keys.n, room[s]);
  for (i = 0; i < keys.n; i++) {
    const List both[LP_NSIDE] = {
        [LP_NOW] = list[LP_NOW][i], [LP_BASE] = list[LP_BASE][i]};
    uint64_t cells = (uint64_t)both[LP_NOW].n * both[LP_BASE].n;
    if (!cells || cells > MATCH_CELLS)
      continue;
    match_align(side, both);
    found++;
  }
  for (s = 0; s < LP_NSIDE; s++) {
    free(of[s]);
    free(room[s]);
    free(list[s]);
  }
  lp_intern_free(&keys);
  return found;
}

void lp_match(LpPlaces side[LP_NSIDE])
{
  unsigned deep;
  match_unique(side, BY_CHUNK | BY_NAME | BY_CODE, 0);
  match_unique(side, BY_CHUNK | BY_NAME, 0);
  for (deep = MATCH_DEEP; deep && match_lists(side, 1);)
    deep--;
  match_lists(side, 0);
  match_unique(side, BY_NAME | BY_CODE | BY_LINES, 1);
  match_unique(side, BY_CHUNK | BY_CODE | BY_LINES, 1);
}

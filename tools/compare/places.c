/*
** Where the Lua functions of the two sides of a diff are.
*/

#include <stdlib.h>

#include "chunks.h"
#include "places.h"

/* -- Functions ------------------------------------------------------------- */

/* Is it a Lua function that is in a file or another chunk? */
static int places_has(const LpFuncInfo *fi, LpSide side)
{
  return fi->kind == LP_FUNC_LUA && fi->side[side].defined &&
         fi->first < UINT32_MAX;
}

/* Append the place of a function. */
static void places_add(LpPlaces *p, const LpProfile *prof, LpSide side,
                       uint32_t id)
{
  const LpFuncInfo *fi = &prof->func[id];
  const LpFuncSide *s = &fi->side[side];
  uint32_t name = lp_profile_name(prof, s->name).n ? s->name + 1 : 0;
  uint64_t lines = s->lines < LP_PLACE_ALL ? s->lines : LP_PLACE_ALL;
  if (fi->first == 0 && !(fi->flags & LJM_PROTO_BYHASH)) {
    name = LP_PLACE_MAIN;
    lines = LP_PLACE_ALL;
  }
  p->at[p->n++] = (LpPlace){.id = id,
                            .chunk = fi->chunk,
                            .name = name,
                            .first = fi->first,
                            .lines = lines,
                            .hash = fi->hash,
                            .up = LP_NONE,
                            .pair = LP_NONE};
}

/* -- Chunks ---------------------------------------------------------------- */

/* Chunks that one side has alone. */
typedef struct Chunks {
  uint32_t *name;
  LpStr *text;
  uint32_t n;
} Chunks;

/* Which sides have each chunk: 1 << LP_NOW and so on, by name. */
static uint8_t *chunks_sides(const LpPlaces side[LP_NSIDE],
                             const LpProfile *prof)
{
  uint8_t *has = lp_zalloc(prof->names.n + 1u, 1);
  LpSide s;
  uint32_t i;
  for (s = 0; s < LP_NSIDE; s++)
    for (i = 0; i < side[s].n; i++)
      has[side[s].at[i].chunk] |= (uint8_t)(1u << s);
  return has;
}

/* Those that only one side has. */
static Chunks chunks_only(const uint8_t *has, LpSide s, const LpProfile *prof)
{
  Chunks c = {lp_alloc((prof->names.n + 1u) * sizeof(*c.name)),
              lp_alloc((prof->names.n + 1u) * sizeof(*c.text)), 0};
  uint32_t i;
  for (i = 0; i < prof->names.n; i++)
    if (has[i] == 1u << s) {
      c.name[c.n] = i;
      c.text[c.n++] = lp_profile_name(prof, i);
    }
  return c;
}

/* A function of a chunk: the name of that, and what makes it the same. */
typedef struct ChunkKey {
  uint32_t chunk, name;
  uint64_t hash;
} ChunkKey;

/* Have two chunks a function with the same name and bytecode? Files with the
** same name need not be one file: there are many init.lua.
*/
static int chunks_alike(const LpPlaces side[LP_NSIDE], const LpIntern *now,
                        uint32_t base, uint32_t chunk)
{
  const LpPlace *p = side[LP_BASE].at, *end = p + side[LP_BASE].n;
  for (; p < end; p++) {
    const ChunkKey k = {chunk, p->name, p->hash};
    if (p->chunk == base && lp_intern_find(now, &k, sizeof(k)) != LP_NONE)
      return 1;
  }
  return 0;
}

/* The functions of all chunks of a side. */
static LpIntern chunks_functions(const LpPlaces *p)
{
  LpIntern keys = {0};
  uint32_t i;
  for (i = 0; i < p->n; i++) {
    const ChunkKey k = {p->at[i].chunk, p->at[i].name, p->at[i].hash};
    lp_intern(&keys, &k, sizeof(k));
  }
  return keys;
}

/* Chunks of the baseline get the names that they have now. */
static void places_chunks(LpPlaces side[LP_NSIDE], const LpProfile *prof)
{
  uint8_t *has = chunks_sides(side, prof);
  Chunks base = chunks_only(has, LP_BASE, prof);
  Chunks now = chunks_only(has, LP_NOW, prof);
  uint32_t *to = lp_alloc((base.n + 1) * sizeof(*to)), i;
  LpIntern functions = chunks_functions(&side[LP_NOW]);
  LpIdMap map = {0};
  lp_chunks_match(base.text, base.n, now.text, now.n, to);
  for (i = 0; i < base.n; i++)
    if (to[i] != LP_NONE &&
        (lp_chunks_tail(base.text[i], now.text[to[i]]) > 1 ||
         chunks_alike(side, &functions, base.name[i], now.name[to[i]])))
      lp_idmap_put(&map, base.name[i], now.name[to[i]]);
  lp_intern_free(&functions);
  for (i = 0; i < side[LP_BASE].n; i++) {
    uint32_t name = lp_idmap_get(&map, side[LP_BASE].at[i].chunk);
    if (name != LP_NONE)
      side[LP_BASE].at[i].chunk = name;
  }
  lp_idmap_free(&map);
  free(to);
  free(has);
  free(base.name);
  free(base.text);
  free(now.name);
  free(now.text);
}

/* -- Order ----------------------------------------------------------------- */

/* For qsort: by chunk, line, and what is larger first. */
static int places_compare(const void *x, const void *y)
{
  const LpPlace *a = x, *b = y;
  if (a->chunk != b->chunk)
    return a->chunk < b->chunk ? -1 : 1;
  if (a->first != b->first)
    return a->first < b->first ? -1 : 1;
  if (a->lines != b->lines)
    return a->lines > b->lines ? -1 : 1;
  return a->id < b->id ? -1 : 1;
}

/* Is B inside of A, which is before it? Of two on the same lines none is. */
static int places_inside(const LpPlace *a, const LpPlace *b)
{
  return a->chunk == b->chunk && b->first + b->lines <= a->first + a->lines &&
         (a->first != b->first || a->lines != b->lines);
}

/* Find what is around each place. */
static void places_nest(LpPlaces *p)
{
  uint32_t i, up;
  for (i = 1; i < p->n; i++) {
    for (up = i - 1; up != LP_NONE; up = p->at[up].up)
      if (places_inside(&p->at[up], &p->at[i]))
        break;
    p->at[i].up = up;
  }
}

void lp_places_open(LpPlaces side[LP_NSIDE], const LpProfile *prof)
{
  LpSide s;
  uint32_t id;
  for (s = 0; s < LP_NSIDE; s++) {
    side[s] =
        (LpPlaces){lp_alloc((prof->funckeys.n + 1u) * sizeof(LpPlace)), 0};
    for (id = 0; id < prof->funckeys.n; id++)
      if (places_has(&prof->func[id], s))
        places_add(&side[s], prof, s, id);
  }
  places_chunks(side, prof);
  for (s = 0; s < LP_NSIDE; s++) {
    qsort(side[s].at, side[s].n, sizeof(LpPlace), places_compare);
    places_nest(&side[s]);
  }
}

void lp_places_close(LpPlaces side[LP_NSIDE])
{
  LpSide s;
  for (s = 0; s < LP_NSIDE; s++)
    free(side[s].at);
}

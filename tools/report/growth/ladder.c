/*
** A ladder: heap dumps of one program, one after another.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "heap/heap_suspects.h"
#include "ladder.h"

#define MAKER_PERCENT 5 /* Of a row: a line that made less is not told. */

/* -- Rows ------------------------------------------------------------------ */

/* Shapes of one dump that have the same name are one. */
static void ladder_shapes(LpLadder *l, const LpHeap *h)
{
  LpBuf b = {0};
  uint32_t i;
  for (i = 0; i < h->shapes.keys.n; i++) {
    b.n = 0;
    lp_shape_name(&b, h, i);
    *lp_growths_cell(&l->shapes, lp_growths_row(&l->shapes, &b)) +=
        h->shapes.shape[i].bytes;
  }
  lp_buf_free(&b);
}

/* What the VM itself has, by the names of its parts. */
static void ladder_parts(LpLadder *l, const LpDump *d)
{
  LpBuf b = {0};
  size_t i, n;
  for (i = 0; i < d->npart; i++) {
    const char *name = lp_intern_get(&d->graph.names, d->part[i].name, &n);
    b.n = 0;
    lp_buf_add(&b, name, n);
    *lp_growths_cell(&l->parts, lp_growths_row(&l->parts, &b)) +=
        d->part[i].size;
  }
  lp_buf_free(&b);
}

/* An object of a row, if the dump that is being added is the newest or the
** oldest one. The largest object comes first.
*/
static void ladder_object(LpLadder *l, uint32_t row, uint32_t id)
{
  LpGrowth *r = &l->paths.row[row];
  if (l->left + 1 == l->n && r->now == LP_NONE)
    r->now = id;
  else if (!l->left && r->base == LP_NONE)
    r->base = id;
}

/* The row of an object's path. */
static uint32_t ladder_path(LpLadder *l, const LpHeap *h, uint32_t id, LpBuf *b)
{
  int whole;
  uint32_t row;
  b->n = 0;
  whole = lp_path_name(b, &h->dump, &h->paths, id, LP_HEAP_STEPS);
  row = lp_growths_row(&l->paths, b);
  l->paths.row[row].cut = !whole;
  ladder_object(l, row, id);
  if (l->paths.row[row].what == LP_NONE) {
    b->n = 0;
    lp_shape_nameof(b, h, id);
    l->paths.row[row].what = lp_intern(&l->whats, b->s, b->n);
  }
  return row;
}

/* The nearest row at an object, or above it in this dump; or LP_NONE. */
static uint32_t ladder_up(const LpHeap *h, const LpIdMap *rows, uint32_t id)
{
  uint32_t row = lp_idmap_get(rows, id);
  while (row == LP_NONE && id != LP_GRAPH_ROOT && id != LP_NONE) {
    id = h->dom.parent[id];
    row = lp_idmap_get(rows, id);
  }
  return row;
}

/* Finds for each row that is new, from the number KNOWN on, the nearest one
** that keeps it in this dump.
*/
static void ladder_above(LpLadder *l, const LpHeap *h, const LpIdMap *rows,
                         const uint32_t *id, size_t n, uint32_t known)
{
  size_t i;
  for (i = 0; i < n; i++) {
    uint32_t row = lp_idmap_get(rows, id[i]), above;
    if (row < known)
      continue;
    above = ladder_up(h, rows, h->dom.parent[id[i]]);
    if (above != row)
      l->paths.row[row].above = above;
  }
}

/* Looks for all paths in a dump. Those that are cut are only known if they are
** FOUND among its largest objects.
*/
static void ladder_find(LpLadder *l, const LpHeap *h, const char *found)
{
  LpBuf b = {0};
  uint32_t row;
  for (row = 0; row < l->paths.names.n; row++) {
    uint64_t *bytes = lp_growths_cell(&l->paths, row);
    size_t n;
    const char *s = lp_intern_get(&l->paths.names, row, &n);
    if (l->paths.row[row].together != LP_NONE)
      continue;
    b.n = 0;
    lp_buf_add(&b, s, n);
    if (!l->paths.row[row].cut) {
      LpFound f = lp_heap_find_path(h, b.s);
      *bytes = f.retained;
      ladder_object(l, row, f.most);
    } else if (!found[row]) {
      *bytes = LP_LADDER_UNKNOWN;
    }
  }
  lp_buf_free(&b);
}

/* -- Who keeps something --------------------------------------------------- */

/* Objects, or several together, that keep enough of a dump; and their rows. */
typedef struct Keepers {
  LpKeeper *keeper;
  uint32_t *row;
  size_t n, cap, caprow;
} Keepers;

/* Add one. Its row may be LP_NONE. */
static void keepers_add(Keepers *k, LpKeeper keeper, uint32_t row)
{
  k->keeper = lp_grow(k->keeper, &k->cap, k->n + 1, sizeof(*k->keeper));
  k->row = lp_grow(k->row, &k->caprow, k->n + 1, sizeof(*k->row));
  k->keeper[k->n] = keeper;
  k->row[k->n++] = row;
}

/* -- What several objects keep together ------------------------------------ */

#define TOGETHER_NAMES 4 /* Holders that are named. */

/* A row of its own for a group: named by some of its holders if no row has that
** name, or else by all; or LP_NONE. A reference of an object may have the name
** of another object.
*/
static uint32_t together_named(LpLadder *l, const LpHeap *h, const LpShared *g)
{
  const size_t names[] = {TOGETHER_NAMES, g->nholder};
  LpBuf b = {0};
  uint32_t row = LP_NONE;
  size_t i;
  for (i = 0; i < 2 && row == LP_NONE; i++) {
    uint32_t n = l->paths.names.n;
    b.n = 0;
    lp_together_name(&b, h, g, names[i]);
    row = lp_growths_row(&l->paths, &b);
    if (row != n)
      row = LP_NONE;
  }
  lp_buf_free(&b);
  return row;
}

/* Most of a group. */
static uint32_t together_what(LpLadder *l, const LpHeap *h, const LpShared *g)
{
  LpSuspect s = lp_suspect_shared(h, g);
  LpBuf b = {0};
  uint32_t what;
  if (s.shape == LP_NONE)
    return LP_NONE;
  lp_shape_name(&b, h, s.shape);
  what = lp_intern(&l->whats, b.s, b.n);
  lp_buf_free(&b);
  return what;
}

/* The row of a group with these holders, or LP_NONE. */
static uint32_t together_find(const LpLadder *l, const LpTogether *t)
{
  uint32_t row;
  for (row = 0; row < l->paths.names.n; row++) {
    uint32_t at = l->paths.row[row].together;
    if (at != LP_NONE && lp_together_same(&l->together[at], t))
      return row;
  }
  return LP_NONE;
}

/* Was the largest object of a group in another one in a newer dump? */
static int together_again(const LpLadder *l, const LpShared *g,
                          const LpIdMap *rows, uint32_t known)
{
  uint32_t row = lp_idmap_get(rows, g->id[0]), above;
  if (row == LP_NONE || row >= known)
    return 0;
  above = l->paths.row[row].above;
  return above != LP_NONE && l->paths.row[above].together != LP_NONE;
}

/* What is kept together, if it has rows that are new, is below the group. */
static void together_below(LpLadder *l, const LpShared *g, const LpIdMap *rows,
                           uint32_t row, uint32_t known)
{
  size_t i;
  for (i = 0; i < g->n; i++) {
    uint32_t below = lp_idmap_get(rows, g->id[i]);
    if (below != LP_NONE && below >= known)
      l->paths.row[below].above = row;
  }
}

/* Remember a group: a row is made if there is none. Before this dump there were
** KNOWN rows. Returns the row, or LP_NONE.
*/
static uint32_t together_add(LpLadder *l, const LpHeap *h, const LpShared *g,
                             const LpIdMap *rows, uint32_t known)
{
  LpTogether t = lp_together(h, g);
  uint32_t row = together_find(l, &t);
  LpGrowth *r;
  if (row != LP_NONE || (row = together_named(l, h, g)) == LP_NONE) {
    lp_together_close(&t);
  } else {
    r = &l->paths.row[row];
    r->cut = t.cut;
    r->together = (uint32_t)l->ntogether;
    r->what = together_what(l, h, g);
    r->above = ladder_up(h, rows, g->top);
    r->again = together_again(l, g, rows, known);
    l->together = lp_grow(l->together, &l->captogether, l->ntogether + 1,
                          sizeof(*l->together));
    l->together[l->ntogether++] = t;
    together_below(l, g, rows, row, known);
  }
  if (row != LP_NONE)
    ladder_object(l, row, g->id[0]);
  if (row != LP_NONE && l->paths.row[row].cut)
    *lp_growths_cell(&l->paths, row) = g->bytes;
  return row;
}

/* Finds the bytes of all groups in a dump. Of those whose paths are cut only
** those are known that it has itself.
*/
static void together_bytes(LpLadder *l, const LpHeap *h, size_t at)
{
  uint64_t *all = lp_together_bytes(h, l->together, l->ntogether);
  uint32_t row;
  for (row = 0; row < l->paths.names.n; row++) {
    uint32_t which = l->paths.row[row].together;
    uint64_t *bytes = &l->paths.bytes[row * l->n + at];
    if (which == LP_NONE)
      continue;
    if (!l->together[which].cut)
      *bytes = all[which];
    else if (!*bytes)
      *bytes = LP_LADDER_UNKNOWN;
  }
  free(all);
}

/* What several objects keep together. */
static void ladder_together(LpLadder *l, const LpHeap *h, const LpIdMap *rows,
                            uint32_t known, Keepers *k)
{
  const LpShared *group[LP_SHARED_MOST];
  const LpReportOptions all = {.min = 0};
  size_t i, n = lp_heap_shared(group, h, &all);
  for (i = 0; i < n; i++)
    keepers_add(k, (LpKeeper){.shared = group[i]},
                together_add(l, h, group[i], rows, known));
  if (l->ntogether)
    together_bytes(l, h, l->left);
}

/* -- Objects --------------------------------------------------------------- */

/* What objects keep, by their paths; *K gets those that are looked at. */
static void ladder_paths(LpLadder *l, const LpHeap *h, Keepers *k)
{
  const LpReportOptions most = {.top = LP_HEAP_ROWS, .min = LP_LADDER_LEAST};
  LpBuf b = {0};
  LpIdMap rows = {0};
  size_t i, n;
  uint32_t *id = lp_heap_retained(h, &most, &n);
  uint32_t known = l->paths.names.n;
  char *found = lp_zalloc(known + n + 1, 1);
  for (i = 0; i < n; i++) {
    uint32_t row = ladder_path(l, h, id[i], &b);
    if (l->paths.row[row].cut)
      *lp_growths_cell(&l->paths, row) += h->dom.retained[id[i]];
    found[row] = 1;
    lp_idmap_put(&rows, id[i], row);
    keepers_add(k, (LpKeeper){.id = id[i]}, row);
  }
  ladder_find(l, h, found);
  ladder_above(l, h, &rows, id, n, known);
  ladder_together(l, h, &rows, known, k);
  lp_idmap_free(&rows);
  lp_buf_free(&b);
  free(found);
  free(id);
}

/* -- Dumps ----------------------------------------------------------------- */

LpLadder *lp_ladder_new(size_t n)
{
  LpLadder *l = lp_zalloc(1, sizeof(*l));
  size_t i;
  l->rung = lp_zalloc(n, sizeof(*l->rung));
  l->n = l->left = n;
  l->paths.n = l->shapes.n = l->parts.n = n;
  l->shapes.exact = l->parts.exact = 1;
  lp_makers_open(&l->makers, n);
  l->keeps = 1;
  for (i = 0; i < n; i++) {
    snprintf(l->rung[i].key, sizeof(l->rung[i].key), "dump-%zu", i + 1);
    snprintf(l->rung[i].title, sizeof(l->rung[i].title), "dump %zu", i + 1);
  }
  return l;
}

void lp_ladder_watch(LpLadder *l, const char *path)
{
  l->watch = lp_grow(l->watch, &l->capwatch, l->nwatch + 1, sizeof(*l->watch));
  l->watch[l->nwatch++] = (LpWatch){.path = path};
}

/* What objects that limits are of keep in the dump that is being added. */
static void ladder_watched(LpLadder *l, const LpHeap *h)
{
  size_t i, age = l->n - 1 - l->left;
  for (i = 0; i < l->nwatch && age < 2; i++) {
    LpFound f = lp_heap_find(h, l->watch[i].path);
    l->watch[i].bytes[age] = f.retained;
    l->watch[i].shared[age] = f.shared;
    if (age == 0)
      l->watch[i].objects = f.objects;
  }
}

/* It is not known of a dump what objects keep. */
static void ladder_unknown(LpLadder *l)
{
  uint32_t row;
  for (row = 0; row < l->paths.names.n; row++)
    *lp_growths_cell(&l->paths, row) = LP_LADDER_UNKNOWN;
}

void lp_ladder_add(LpLadder *l, const char *file, LpHeap *h, LpReplay *r)
{
  Keepers k = {0};
  l->left--;
  l->paths.at = l->shapes.at = l->parts.at = l->makers.lines.at = l->left;
  l->rung[l->left].file = file;
  l->rung[l->left].reached = lp_heap_reached(h);
  l->rung[l->left].total = lp_dump_ispart(&h->dump) ? 0 : h->dump.end.total;
  l->rung[l->left].realtime = h->dump.origin.realtime;
  l->keeps &= lp_heap_keeps(h);
  ladder_shapes(l, h);
  ladder_parts(l, &h->dump);
  if (l->keeps) {
    ladder_paths(l, h, &k);
    ladder_watched(l, h);
  } else {
    ladder_unknown(l);
  }
  /* Who keeps what is only asked of the newest dump. */
  if (r)
    lp_makers_add(&l->makers, h, r, k.keeper, k.row, l->newest ? 0 : k.n);
  free(k.keeper);
  free(k.row);
  if (!l->newest)
    l->newest = h;
  else if (l->page && !l->left)
    l->oldest = h;
  else
    lp_heap_free(h);
}

void lp_ladder_free(LpLadder *l)
{
  size_t i;
  if (!l)
    return;
  lp_growths_free(&l->paths);
  lp_growths_free(&l->shapes);
  lp_growths_free(&l->parts);
  lp_makers_free(&l->makers);
  for (i = 0; i < l->ntogether; i++)
    lp_together_close(&l->together[i]);
  free(l->together);
  lp_intern_free(&l->whats);
  lp_heap_free(l->newest);
  lp_heap_free(l->oldest);
  free(l->watch);
  free(l->rung);
  free(l);
}

/* -- Verdicts -------------------------------------------------------------- */

/* Looks for the paths of older dumps in the newest one: what became of them? */
static void judge_newest(LpLadder *l)
{
  LpBuf b = {0};
  uint32_t row;
  for (row = 0; row < l->paths.names.n; row++) {
    uint64_t *last = &l->paths.bytes[row * l->n + l->n - 1];
    size_t n;
    const char *s = lp_intern_get(&l->paths.names, row, &n);
    LpFound f;
    if (*last != LP_LADDER_UNKNOWN || l->paths.row[row].cut ||
        l->paths.row[row].together != LP_NONE)
      continue;
    b.n = 0;
    lp_buf_add(&b, s, n);
    f = lp_heap_find_path(l->newest, b.s);
    *last = f.retained;
    l->paths.row[row].now = f.most;
  }
  lp_buf_free(&b);
  if (l->ntogether)
    together_bytes(l, l->newest, l->n - 1);
}

/* What parts of the VM have is not known of dumps that are not whole. */
static void judge_parts(LpLadder *l)
{
  uint32_t row;
  size_t i;
  for (i = 0; i < l->n; i++)
    for (row = 0; row < l->parts.names.n && !l->rung[i].total; row++)
      l->parts.bytes[row * l->n + i] = LP_LADDER_UNKNOWN;
}

void lp_ladder_judge(LpLadder *l)
{
  uint32_t row;
  judge_parts(l);
  if (l->keeps)
    judge_newest(l);
  for (row = 0; row < l->paths.names.n; row++)
    l->paths.row[row].verdict =
        l->paths.row[row].cut || !l->keeps
            ? LP_UNCOMPARABLE
            : lp_verdict(lp_growths_bytes(&l->paths, row), l->n);
  for (row = 0; row < l->shapes.names.n; row++)
    l->shapes.row[row].verdict =
        lp_verdict(lp_growths_bytes(&l->shapes, row), l->n);
  lp_makers_judge(&l->makers);
  if (l->page)
    return;
  lp_heap_free(l->newest);
  l->newest = NULL;
}

/* Is a row another one, or below it? */
static int ladder_within(const LpLadder *l, uint32_t row, uint32_t above)
{
  while (row != LP_NONE && row != above)
    row = l->paths.row[row].above;
  return row == above;
}

uint32_t lp_ladder_maker(const LpLadder *l, uint32_t row, unsigned *percent)
{
  const LpMakers *m = &l->makers;
  uint64_t all = lp_growths_bytes(&l->paths, row)[l->n - 1];
  uint64_t *sum = lp_zalloc(m->lines.names.n + 1, sizeof(*sum));
  uint32_t line, best = LP_NONE;
  double share = 0;
  size_t i;
  for (i = 0; i < m->n; i++)
    if (ladder_within(l, m->maker[i].row, row))
      sum[m->maker[i].line] += m->maker[i].bytes;
  for (line = 0; line < m->lines.names.n; line++)
    if (sum[line] && (best == LP_NONE || sum[line] > sum[best]))
      best = line;
  if (best != LP_NONE && all && all != LP_LADDER_UNKNOWN)
    share = 100.0 * (double)sum[best] / (double)all;
  free(sum);
  *percent = share < 100 ? (unsigned)share : 100; /* Samples may say more. */
  return share >= MAKER_PERCENT ? best : LP_NONE;
}

uint64_t lp_ladder_time(const LpLadder *l)
{
  uint64_t first = l->rung[0].realtime, last = l->rung[l->n - 1].realtime;
  return first && last > first ? last - first : 0;
}

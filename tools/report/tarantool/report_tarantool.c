/*
** --format=tarantool: the text of Tarantool's own tool, for scripts that read
** it.
**
** It is the tool's in all respects: rows are by address, its heap summary
** credits what a reallocation adds to the site that allocated before, and rows
** that count the same are in the order of the tool's tables (luaorder.h). That
** order is known of a single recording in one of its formats. Else names decide
** it: there are no addresses, which are in the tables' keys.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "luaorder.h"
#include "report.h"
#include "tarantool_names.h"

/* What happened to objects of one site at one place. */
typedef struct TntChunk {
  uint32_t of;
  uint64_t grown, freed, n;
} TntChunk;

/* A row of the heap summary. */
typedef struct TntHeap {
  int64_t bytes;
  uint64_t allocs, frees;
} TntHeap;

/* Rows of one kind of events, in the tool's order of pairs(). */
typedef struct TntEvents {
  uint32_t *site;
  uint32_t n;
} TntEvents;

typedef struct Tnt {
  LpOut *out;
  const LpProfile *prof;
  const LpReportOptions *opt;
  LpTarantoolNames names;
  int exact;       /* The tool's order is known. */
  LpLuaTable *of;  /* By site: the sites whose objects it took, as numbers of */
  TntChunk *chunk; /* these, */
  uint32_t nchunk; /* so many. */
  LpIntern rows;   /* Names in the heap summary, */
  LpLuaTable order;
  TntHeap *heap;      /* and their rows, */
  size_t heaps;       /* room. */
  LpIntern labels;    /* Names of sites: equal ones have one number, */
  uint32_t *label;    /* that of each site. */
  const uint64_t *by; /* What values are sorted by, while they are. */
} Tnt;

enum { TNT_ALLOC, TNT_REALLOC, TNT_FREE, TNT_KINDS };

/* -- Text ----------------------------------------------------------------- */

/* The name of a site, as lp_intern_get. */
static LpStr tnt_name(const Tnt *t, uint32_t site)
{
  LpStr s;
  s.s = lp_intern_get(&t->labels, t->label[site], &s.n);
  return s;
}

/* A size: the third version has a unit. */
static void tnt_size(Tnt *t, int64_t bytes)
{
  static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
  double n = (double)bytes;
  unsigned unit = 0;
  if (!t->opt->human) {
    lp_out_printf(t->out, "%" PRId64 "%s", bytes,
                  t->names.version < LP_TARANTOOL_NEW ? " bytes" : "B");
    return;
  }
  while (n >= 1024 && unit < 3) {
    n /= 1024;
    unit++;
  }
  lp_out_printf(t->out, "%.*f%s", n == (double)(int64_t)n ? 0 : 2, n,
                units[unit]);
}

/* -- Order ---------------------------------------------------------------- */

/* Bytes, as Lua compares strings. */
static int tnt_compare(LpStr x, LpStr y)
{
  int c = memcmp(x.s, y.s, x.n < y.n ? x.n : y.n);
  return c ? c : (x.n > y.n) - (x.n < y.n);
}

/* Of two values, the larger one is first. */
static int tnt_before(const void *ctx, uint32_t x, uint32_t y)
{
  const Tnt *t = ctx;
  return t->by[x] > t->by[y];
}

/* The same for qsort_r, then by NAME. */
static int tnt_by_name(const void *a, const void *b, void *ctx,
                       LpStr (*name)(const Tnt *, uint32_t))
{
  const Tnt *t = ctx;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  int c;
  if (t->by[x] != t->by[y])
    return t->by[x] > t->by[y] ? -1 : 1;
  c = tnt_compare(name(t, x), name(t, y));
  return c ? c : x < y ? -1 : x > y;
}

/* A row of the heap summary. */
static LpStr tnt_heap_name(const Tnt *t, uint32_t row)
{
  LpStr s;
  s.s = lp_intern_get(&t->rows, row, &s.n);
  return s;
}

static int tnt_site_order(const void *a, const void *b, void *ctx)
{
  return tnt_by_name(a, b, ctx, tnt_name);
}

static int tnt_heap_order(const void *a, const void *b, void *ctx)
{
  return tnt_by_name(a, b, ctx, tnt_heap_name);
}

/* Sort values by what BY has for them, most first. */
static void tnt_sort(Tnt *t, uint32_t *value, size_t n, const uint64_t *by,
                     int (*order)(const void *, const void *, void *))
{
  t->by = by;
  if (!t->exact || !lp_luasort(value, n, tnt_before, t))
    qsort_r(value, n, sizeof(*value), order, t);
}

/* -- What happened -------------------------------------------------------- */

/* The sites of events of a kind, in the order in which the tool visits them. */
static TntEvents tnt_events(const Tnt *t, int kind)
{
  const LpOverrides *o =
      kind == TNT_ALLOC ? &t->prof->arrivals : &t->prof->overrides;
  uint8_t *seen = lp_zalloc(t->prof->sitekeys.n, 1);
  LpLuaTable order = {0};
  LpBuf key = {0};
  TntEvents e = {0};
  uint32_t i;
  for (i = 0; i < o->n; i++) {
    uint64_t k = o->entry[i].key;
    uint32_t site = LP_OVERRIDE_BY(k);
    if (((k & LP_OVERRIDE_REALLOC) != 0) != (kind == TNT_REALLOC) ||
        seen[site]++)
      continue;
    key.n = 0;
    lp_tarantool_key(&t->names, &key, site);
    lp_luatable_add(&order, key.s, key.n, site);
  }
  e.site = lp_alloc(order.n * sizeof(uint32_t));
  e.n = lp_luatable_pairs(&order, e.site);
  lp_luatable_free(&order);
  lp_buf_free(&key);
  free(seen);
  return e;
}

/* Sort what reallocations or deallocations did to objects that the recording
** has, by the site where they happened.
*/
static void tnt_chunks(Tnt *t, int kind)
{
  const LpOverrides *o = &t->prof->overrides;
  LpBuf key = {0};
  uint32_t i;
  t->nchunk = 0;
  for (i = 0; i < o->n; i++) {
    const LpOverride *e = &o->entry[i];
    uint32_t of = LP_OVERRIDE_OF(e->key), grown;
    int realloc = (e->key & LP_OVERRIDE_REALLOC) != 0;
    TntChunk c = {of, 0, e->w.bytes, e->w.n};
    if (realloc != (kind == TNT_REALLOC) || of == LP_SITE_BEFORE)
      continue;
    grown = realloc ? lp_idmap_get(&t->prof->arrivals.ids, e->key) : LP_NONE;
    if (grown != LP_NONE)
      c.grown = t->prof->arrivals.entry[grown].w.bytes;
    key.n = 0;
    lp_tarantool_key(&t->names, &key, of);
    t->chunk[t->nchunk] = c;
    lp_luatable_add(&t->of[LP_OVERRIDE_BY(e->key)], key.s, key.n, t->nchunk++);
  }
  lp_buf_free(&key);
}

/* Forget them again. */
static void tnt_chunks_free(Tnt *t)
{
  uint32_t site;
  for (site = 0; site < t->prof->sitekeys.n; site++)
    lp_luatable_free(&t->of[site]);
}

/* -- Events --------------------------------------------------------------- */

static int tnt_names_order(const void *a, const void *b, void *ctx)
{
  const Tnt *t = ctx;
  return tnt_compare(tnt_name(t, *(const uint32_t *)a),
                     tnt_name(t, *(const uint32_t *)b));
}

/* The sites whose objects were reallocated or freed at a SITE, if any. */
static void tnt_overrides(Tnt *t, uint32_t site)
{
  uint32_t *of = lp_alloc((size_t)t->of[site].n * sizeof(uint32_t));
  uint32_t i, n = lp_luatable_pairs(&t->of[site], of);
  for (i = 0; i < n; i++)
    of[i] = t->chunk[of[i]].of;
  qsort_r(of, n, sizeof(uint32_t), tnt_names_order, t);
  if (n)
    lp_out_puts(t->out, "\tOverrides:\n");
  for (i = 0; i < n; i++) {
    LpStr s = tnt_name(t, of[i]);
    lp_out_puts(t->out, "\t\t");
    lp_buf_add(&t->out->buf, s.s, s.n);
    lp_out_puts(t->out, "\n");
  }
  if (n)
    lp_out_puts(t->out, "\n");
  free(of);
}

/* How many events of a kind a row has, and their bytes. */
static uint64_t tnt_count(const LpRow *r, int kind, uint64_t *in, uint64_t *out)
{
  *in = kind == TNT_ALLOC  ? r->alloc_bytes
        : kind == TNT_FREE ? 0
                           : r->realloc_in;
  *out = kind == TNT_ALLOC  ? 0
         : kind == TNT_FREE ? r->free_bytes
                            : r->realloc_out;
  return kind == TNT_ALLOC  ? r->allocs
         : kind == TNT_FREE ? r->frees
                            : r->reallocs;
}

/* The section of a kind of events. */
static void tnt_section(Tnt *t, int kind, const TntEvents *events)
{
  static const char *const heading[] = {"ALLOCATIONS\n", "REALLOCATIONS\n",
                                        "DEALLOCATIONS\n"};
  uint64_t *by = lp_zalloc(t->prof->sitekeys.n, sizeof(uint64_t)), in, out;
  uint32_t i;
  for (i = 0; i < events->n; i++)
    by[events->site[i]] =
        tnt_count(&t->prof->row[events->site[i]], kind, &in, &out);
  tnt_sort(t, events->site, events->n, by, tnt_site_order);
  lp_out_puts(t->out, heading[kind]);
  for (i = 0; i < events->n; i++) {
    uint32_t site = events->site[i];
    LpStr s = tnt_name(t, site);
    uint64_t n = tnt_count(&t->prof->row[site], kind, &in, &out);
    lp_buf_add(&t->out->buf, s.s, s.n);
    lp_out_printf(t->out, ": %" PRIu64 " events\t+", n);
    tnt_size(t, (int64_t)in);
    lp_out_puts(t->out, "\t-");
    tnt_size(t, (int64_t)out);
    lp_out_puts(t->out, "\n");
    tnt_overrides(t, site);
  }
  lp_out_puts(t->out, "\n");
  free(by);
}

/* -- The heap summary ----------------------------------------------------- */

/* Add to the row of a site's name. */
static void tnt_hold(Tnt *t, uint32_t site, int64_t bytes, uint64_t allocs,
                     uint64_t frees)
{
  LpStr s = tnt_name(t, site);
  uint32_t n = t->rows.n, row = lp_intern(&t->rows, s.s, s.n);
  if (row == n)
    lp_luatable_add(&t->order, s.s, s.n, row);
  t->heap = lp_grow(t->heap, &t->heaps, (size_t)row + 1, sizeof(TntHeap));
  t->heap[row].bytes += bytes;
  t->heap[row].allocs += allocs;
  t->heap[row].frees += frees;
}

/* Add what events of a kind did. */
static void tnt_hold_all(Tnt *t, int kind, const TntEvents *events)
{
  uint32_t i, k, n;
  for (i = 0; i < events->n; i++) {
    uint32_t site = events->site[i];
    const LpRow *r = &t->prof->row[site];
    uint32_t *of = lp_alloc((size_t)t->of[site].n * sizeof(uint32_t));
    if (kind == TNT_ALLOC && r->alloc_bytes)
      tnt_hold(t, site, (int64_t)r->alloc_bytes, r->allocs, 0);
    n = lp_luatable_pairs(&t->of[site], of);
    for (k = 0; k < n; k++) {
      const TntChunk *c = &t->chunk[of[k]];
      if (c->grown)
        tnt_hold(t, c->of, (int64_t)c->grown, c->n, 0);
      if (c->freed)
        tnt_hold(t, c->of, -(int64_t)c->freed, 0, c->n);
    }
    free(of);
  }
}

/* The heap summary. */
static void tnt_summary(Tnt *t)
{
  uint64_t *by = lp_zalloc(t->rows.n, sizeof(uint64_t));
  uint32_t *row = lp_alloc((size_t)t->order.n * sizeof(uint32_t));
  uint32_t i, all = lp_luatable_pairs(&t->order, row), n = 0;
  for (i = 0; i < all; i++)
    if (t->heap[row[i]].bytes > 0) {
      by[row[i]] = (uint64_t)t->heap[row[i]].bytes;
      row[n++] = row[i];
    }
  tnt_sort(t, row, n, by, tnt_heap_order);
  lp_out_puts(t->out, "HEAP SUMMARY:\n");
  for (i = 0; i < n; i++) {
    const TntHeap *h = &t->heap[row[i]];
    LpStr s = tnt_heap_name(t, row[i]);
    lp_buf_add(&t->out->buf, s.s, s.n);
    lp_out_puts(t->out, " holds ");
    tnt_size(t, h->bytes);
    lp_out_printf(t->out, ": %" PRIu64 " allocs, %" PRIu64 " frees\n",
                  h->allocs, h->frees);
  }
  lp_out_puts(t->out, "\n");
  free(by);
  free(row);
}

/* -- All of it ------------------------------------------------------------ */

/* The names of all sites. */
static void tnt_open(Tnt *t)
{
  const LpFiles *f = &t->prof->files;
  uint32_t n = t->prof->sitekeys.n, site;
  LpBuf b = {0};
  t->exact = f->legacy && f->n == 1;
  t->names = lp_tarantool_names(t->prof, t->exact ? f->legacy : 0,
                                t->opt->screen.columns != 0);
  t->of = lp_zalloc(n, sizeof(LpLuaTable));
  t->chunk = lp_alloc(t->prof->overrides.n * sizeof(TntChunk));
  t->label = lp_alloc(n * sizeof(uint32_t));
  for (site = 0; site < n; site++) {
    b.n = 0;
    lp_tarantool_name(&t->names, &b, site);
    t->label[site] = lp_intern(&t->labels, b.s, b.n);
  }
  lp_buf_free(&b);
}

static void tnt_close(Tnt *t)
{
  lp_tarantool_names_close(&t->names);
  lp_luatable_free(&t->order);
  lp_intern_free(&t->labels);
  lp_intern_free(&t->rows);
  free(t->of);
  free(t->chunk);
  free(t->label);
  free(t->heap);
}

/* The names with several lines that aliases stand for. */
static void tnt_aliases(Tnt *t)
{
  uint32_t i;
  if (t->names.nchunk)
    lp_out_puts(t->out, "ALIASES:\n");
  for (i = 0; i < t->names.nchunk; i++) {
    lp_tarantool_alias(&t->names, &t->out->buf, i);
    lp_out_step(t->out);
  }
}

static void tnt_write(LpOut *out, const LpSubject *subject,
                      const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  Tnt t = {.out = out, .prof = prof, .opt = opt};
  int kind;
  tnt_open(&t);
  for (kind = 0; kind < TNT_KINDS; kind++) {
    TntEvents e = tnt_events(&t, kind);
    if (kind != TNT_ALLOC)
      tnt_chunks(&t, kind);
    tnt_hold_all(&t, kind, &e); /* Before e is sorted. */
    if (!opt->leakonly)
      tnt_section(&t, kind, &e);
    tnt_chunks_free(&t);
    free(e.site);
  }
  tnt_summary(&t);
  tnt_aliases(&t);
  tnt_close(&t);
}

const LpReport lp_report_tarantool = {
    .format = "tarantool",
    .of = LP_OF_MEMORY,
    .takes = LP_TAKES_HUMAN | LP_TAKES_LEAKONLY,
    .wants = LP_WANT_ARRIVALS,
    .write = tnt_write,
};

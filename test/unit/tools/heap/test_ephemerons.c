/*
** Tables with weak keys: random heaps beside brute force, and what is said of
** known ones.
*/

#include <stdlib.h>
#include <string.h>

#include "heap/heap_weak.h"
#include "heap_graph.h"
#include "suites.h"

#define OBJECTS 30 /* Objects 1, the root, to 30. */
#define HEAPS   5000
#define PAIRS   6 /* Of a table. */

/* -- Random heaps ---------------------------------------------------------- */

/* A table with a strong reference per object, or pairs. */
typedef struct Model {
  unsigned weak[OBJECTS + 1], entries[OBJECTS + 1], npair[OBJECTS + 1];
  unsigned key[OBJECTS + 1][PAIRS], value[OBJECTS + 1][PAIRS];
  unsigned char ref[OBJECTS + 1][OBJECTS + 1];
} Model;

typedef unsigned char Set[OBJECTS + 1];

static uint64_t state;

static unsigned below(unsigned n)
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % n;
}

static uint64_t size_of(unsigned i)
{
  return 32 + 8 * (i * 5 % 17);
}

/* A table whose keys are weak, or keys and values. Few of its keys are strings,
** which it keeps as it does their values.
*/
static void random_weak(Model *m, CraftHeap *h, unsigned i)
{
  CraftTable t = {.addr = GRAPH_AT(i), .size = size_of(i), .nodes = 8};
  unsigned k, n = below(PAIRS + 1);
  m->weak[i] = t.weak =
      below(5) ? LJM_TABLE_WEAKKEY : LJM_TABLE_WEAKKEY | LJM_TABLE_WEAKVALUE;
  t.free = t.nodes - n;
  m->entries[i] = n;
  craft_table_of(h, &t);
  for (k = 0; k < n; k++) {
    unsigned key = 1 + below(OBJECTS), value = 1 + below(OBJECTS);
    int strong = !below(8) && t.weak == LJM_TABLE_WEAKKEY;
    craft_node(h, LJM_VALUE_REF, GRAPH_AT(strong ? GRAPH_ID : key),
               LJM_VALUE_REF, GRAPH_AT(value));
    if (strong) {
      m->ref[i][value] = 1;
    } else {
      m->key[i][m->npair[i]] = key;
      m->value[i][m->npair[i]++] = value;
    }
  }
}

/* Other objects have at most two references, and the root has two, so that it
** has the strings.
*/
static HeapRun random_run(Model *m, uint64_t number)
{
  CraftHeap h;
  unsigned i;
  state = number;
  memset(m, 0, sizeof(*m));
  graph_open(&h, "t");
  for (i = 1; i <= OBJECTS; i++) {
    unsigned id = below(OBJECTS + 1), other = below(4) ? 0 : below(OBJECTS + 1);
    if (i == 1) {
      id = 2 + below(OBJECTS - 1);
      other = 2 + below(OBJECTS - 1);
    } else if (!below(3)) {
      random_weak(m, &h, i);
      continue;
    }
    graph_table(&h, i, size_of(i), id, other);
    m->ref[i][id] = m->ref[i][other] = 1;
    m->ref[i][0] = 0;
  }
  return graph_read(&h);
}

/* -- Brute force ----------------------------------------------------------- */

/* What is reached without an object, 0 for none. A pair whose values are not
** weak counts if its key is ALIVE.
*/
static void reach(const Model *m, const Set alive, unsigned without, Set seen)
{
  unsigned i, k, more = 1;
  memset(seen, 0, sizeof(Set));
  seen[1] = without != 1;
  while (more) {
    for (i = 1, more = 0; i <= OBJECTS; i++) {
      Set to = {0};
      if (!seen[i])
        continue;
      memcpy(to, m->ref[i], sizeof(to));
      for (k = 0; k < m->npair[i]; k++)
        if (m->weak[i] == LJM_TABLE_WEAKKEY && alive[m->key[i][k]])
          to[m->value[i][k]] = 1;
      for (k = 1; k <= OBJECTS; k++) {
        more |= to[k] && !seen[k] && k != without;
        seen[k] |= to[k] && k != without;
      }
    }
  }
}

/* Reach again with what was reached, until nothing changes. */
static void settle(const Model *m, int from, Set seen)
{
  Set alive;
  memset(alive, from, sizeof(alive));
  reach(m, alive, 0, seen);
  while (memcmp(alive, seen, sizeof(Set)) != 0) {
    memcpy(alive, seen, sizeof(Set));
    reach(m, alive, 0, seen);
  }
}

typedef struct Wanted {
  Set now;  /* Reached as the collector has it now. */
  Set free; /* What would be free with ephemerons. */
  Set dominates[OBJECTS + 1];
} Wanted;

static Wanted wanted_of(const Model *m)
{
  Wanted w;
  Set all, last, least;
  unsigned i, k;
  memset(all, 1, sizeof(all));
  reach(m, all, 0, w.now);
  settle(m, 1, last);
  settle(m, 0, least);
  for (i = 0; i <= OBJECTS; i++)
    w.free[i] = last[i] && !least[i];
  for (i = 0; i <= OBJECTS; i++) {
    Set seen;
    reach(m, all, i, seen);
    for (k = 0; k <= OBJECTS; k++)
      w.dominates[i][k] = i && w.now[k] && !seen[k];
  }
  return w;
}

/* Is a table the last one that stays, of those that all ways to an object pass?
 */
static int is_last(const Wanted *w, unsigned table, unsigned object)
{
  unsigned i;
  if (w->free[table] || !w->free[object] || !w->dominates[table][object])
    return 0;
  for (i = 1; i <= OBJECTS; i++)
    if (i != table && !w->free[i] && w->dominates[table][i] &&
        w->dominates[i][object])
      return 0;
  return 1;
}

/* The figures of a table. */
static LpWeakSum sum_of(const Model *m, const Wanted *w, unsigned table)
{
  LpWeakSum s = {.weak = m->npair[table], .mode = m->weak[table]};
  unsigned k;
  for (k = 0; k < m->npair[table]; k++) {
    unsigned key = m->key[table][k], value = m->value[table][k];
    int both = (s.mode & LJM_TABLE_WEAKVALUE) != 0;
    int held = w->now[key] && (!both || w->now[value]);
    s.held += (unsigned)held;
    s.by_values += held && (w->free[key] || (both && w->free[value]));
  }
  for (k = 1; k <= OBJECTS && s.mode == LJM_TABLE_WEAKKEY; k++)
    s.freed += is_last(w, table, k) ? size_of(k) : 0;
  return s;
}

/* The number of a table. */
static unsigned object_of(const LpHeap *h, uint32_t id)
{
  return (unsigned)((h->dump.graph.node[id].addr - GRAPH_AT(0)) / 0x100);
}

/* All tables have their figures. Returns how many are in use. */
static unsigned check_tables(const LpHeap *h, const Model *m, const Wanted *w)
{
  size_t i, n;
  LpWeakSum *s = lp_weak_tables(h, &n);
  for (i = 0; i < n; i++) {
    unsigned table = object_of(h, s[i].table);
    LpWeakSum want = sum_of(m, w, table);
    ck_assert(w->now[table]);
    ck_assert_uint_eq(s[i].mode, want.mode);
    ck_assert_uint_eq(s[i].weak, want.weak);
    ck_assert_uint_eq(s[i].entries, m->entries[table]);
    ck_assert_uint_eq(s[i].held, want.held);
    ck_assert_uint_eq(s[i].by_values, want.by_values);
    ck_assert_uint_eq(s[i].freed, want.freed);
    ck_assert(i == 0 || s[i - 1].freed >= s[i].freed);
  }
  free(s);
  return (unsigned)n;
}

/* An object is free, or not, as brute force says. Returns how many are. */
static unsigned check_free(const LpHeap *h, const Wanted *w)
{
  uint64_t bytes = 0;
  unsigned n = 0;
  uint32_t id;
  for (id = 1; id < h->dump.graph.n; id++) {
    unsigned object = object_of(h, id);
    int is = h->ephemerons.free && h->ephemerons.free[id];
    ck_assert_int_eq(is, object <= OBJECTS && w->free[object]);
    bytes += is ? size_of(object) : 0;
    n += (unsigned)is;
  }
  ck_assert_uint_eq(h->ephemerons.bytes, bytes);
  ck_assert_uint_eq(h->ephemerons.objects, n);
  return n;
}

START_TEST(test_random)
{
  unsigned number, some = 0, tables = 0, wanted = 0, cleared = 0;
  for (number = 1; number <= HEAPS; number++) {
    Model m;
    HeapRun r = random_run(&m, number);
    Wanted w = wanted_of(&m);
    Set last;
    unsigned i;
    some += check_free(r.heap, &w) > 0;
    tables += check_tables(r.heap, &m, &w);
    for (i = 1; i <= OBJECTS; i++)
      wanted += w.now[i] && m.entries[i];
    settle(&m, 1, last);
    cleared += memcmp(last, w.now, sizeof(last)) != 0;
    heap_run_close(&r);
  }
  ck_assert_uint_eq(tables, wanted);
  /* Not all of it is trivial. */
  ck_assert_uint_gt(some, HEAPS / 10);
  ck_assert_uint_gt(cleared, HEAPS / 20);
}
END_TEST

/* -- Sentences ------------------------------------------------------------- */

/* A table whose pairs are records that their values refer to, from FIRST on.
** What has the key of the last one else is up to the caller.
*/
static void cache(CraftHeap *h, unsigned i, unsigned first, unsigned n)
{
  CraftTable t = {
      .addr = GRAPH_AT(i), .size = 100, .weak = LJM_TABLE_WEAKKEY, .nodes = n};
  unsigned k;
  craft_table_of(h, &t);
  for (k = 0; k < n; k++)
    craft_node(h, LJM_VALUE_REF, GRAPH_AT(first + 2 * k), LJM_VALUE_REF,
               GRAPH_AT(first + 2 * k + 1));
  for (k = 0; k < n; k++) {
    graph_record(h, first + 2 * k, 50);
    graph_table(h, first + 2 * k + 1, 150, first + 2 * k, 0);
  }
}

static const char *said(const HeapRun *r, LpBuf *b)
{
  LpWeakLine line[LP_WEAK_LINES] = {0};
  size_t i, n = lp_heap_weak_lines(line, r->heap);
  b->n = 0;
  for (i = 0; i < n; i++) {
    lp_buf_printf(b, "%s%s", i ? "; " : "", line[i].text.s);
    lp_buf_free(&line[i].text);
  }
  return n ? b->s : "";
}

/* One table, or more than one. */
START_TEST(test_sentences)
{
  LpBuf b = {0};
  CraftHeap h;
  HeapRun r;
  unsigned n;
  for (n = 0; n < 3; n++) {
    graph_open(&h, "t");
    graph_list(&h, 1, 100, 10, n + 2);
    graph_list(&h, 10 + n + 1, 100, 1000 + 8, 1);
    for (unsigned i = 0; i <= n; i++)
      cache(&h, 10 + i, 1000 + 10 * i, 5);
    r = graph_read(&h);
    ck_assert_str_eq(
        said(&r, &b),
        n == 0   ? "4 of 5 keys of t[0], a table with weak keys, are kept only "
                   "by values of such tables; with ephemerons, which LuaJIT "
                   "does not have, 61.2% (800B) would be free"
        : n == 1 ? "9 of 10 keys of t[1] and 1 more table with weak keys are "
                   "kept only by values of such tables; with ephemerons, which "
                   "LuaJIT does not have, 74.8% (1.8KiB) would be free"
                 : "14 of 15 keys of t[1] and 2 more tables with weak keys are "
                   "kept only by values of such tables; with ephemerons, which "
                   "LuaJIT does not have, 79.8% (2.7KiB) would be free");
    heap_run_close(&r);
  }
  lp_buf_free(&b);
}
END_TEST

/* A table with four values, of 100 bytes each, N of them by number or by NAMES;
** the others by a record. If it is its OWN metatable, its first value is, too.
*/
static HeapRun never_read(unsigned n, const char *names, int own)
{
  CraftTable t = {.addr = GRAPH_AT(10),
                  .size = 100,
                  .weak = LJM_TABLE_WEAKKEY,
                  .meta = own ? GRAPH_AT(10) : 0,
                  .nodes = 4};
  CraftHeap h;
  unsigned k;
  graph_open(&h, "t");
  for (k = 0; k < n && names; k++) /* Strings have no references. */
    craft_string(&h, GRAPH_AT(20 + k), names);
  graph_list(&h, 1, 1000, 10, 1);
  craft_table_of(&h, &t);
  for (k = 0; k < 4; k++)
    craft_node(&h, k < n && !names ? LJM_VALUE_INT : LJM_VALUE_REF,
               k < n && !names ? 1000 + k : GRAPH_AT(20 + k), LJM_VALUE_REF,
               own && !k ? GRAPH_AT(10) : GRAPH_AT(30 + k));
  for (k = 0; k < 4; k++) {
    graph_record(&h, 30 + k, 100);
    if (k >= n || !names)
      graph_record(&h, 20 + k, 0);
  }
  return graph_read(&h);
}

/* Weak keys of which some are no objects: what the others keep is not said of
** them.
*/
START_TEST(test_never)
{
  LpBuf b = {0};
  HeapRun r;
  unsigned n;
  for (n = 2; n < 5; n++) {
    r = never_read(n, NULL, 0);
    ck_assert_str_eq(said(&r, &b),
                     n == 2   ? ""
                     : n == 3 ? "3 of 4 keys of t[0], a table with weak keys, "
                                "are no objects but strings or the like, which "
                                "are never cleared: for these it keeps 25.4% "
                                "(383B)"
                              : "4 of 4 keys of t[0], a table with weak keys, "
                                "are no objects but strings or the like, which "
                                "are never cleared: for these it keeps 33.7% "
                                "(508B)");
    heap_run_close(&r);
  }
  r = never_read(3, "name", 0);
  ck_assert_str_eq(said(&r, &b),
                   "3 of 4 keys of t[0], a table with weak keys, are no "
                   "objects but strings or the like, which are never cleared: "
                   "for these it keeps 29.3% (467B)");
  heap_run_close(&r);
  r = never_read(4, "__index", 1); /* A class. */
  ck_assert_str_eq(said(&r, &b), "");
  heap_run_close(&r);
  r = never_read(4, "index", 1);
  ck_assert_ptr_nonnull(strstr(said(&r, &b), "4 of 4 keys of t[0]"));
  heap_run_close(&r);
  lp_buf_free(&b);
}
END_TEST

/* What the VM may have been making is in use, and of a dump that is cut nothing
** is known.
*/
START_TEST(test_unknown)
{
  LpBuf b = {0};
  CraftHeap h;
  HeapRun r;
  graph_open(&h, "t");
  craft_heap_making(&h, GRAPH_AT(1000));
  graph_list(&h, 1, 100, 10, 1);
  cache(&h, 10, 1000, 1);
  r = graph_read(&h);
  ck_assert_str_eq(said(&r, &b), "");
  heap_run_close(&r);
  graph_open(&h, "t");
  graph_list(&h, 1, 100, 10, 1);
  cache(&h, 10, 1000, 5);
  craft_heap_flush(&h);
  r = heap_read(&h);
  craft_heap_close(&h);
  ck_assert_ptr_null(r.heap->ephemerons.free);
  ck_assert_str_eq(said(&r, &b), "");
  heap_run_close(&r);
  lp_buf_free(&b);
}
END_TEST

Suite *suite_ephemerons(void)
{
  return suite_of("ephemerons",
                  (const TTest *[]){test_random, test_sentences, test_never,
                                    test_unknown, NULL});
}

/*
** Ladders of heap dumps: verdicts of small heaps, and figures of random ones
** beside brute force.
*/

#include <stdlib.h>
#include <string.h>

#include "growth/growth.h"
#include "heap/heap_suspects.h"
#include "heap_graph.h"
#include "heap_limit.h"
#include "suites.h"

/* The heap of a run, which is the ladder's then. */
static LpHeap *taken(HeapRun *r)
{
  LpHeap *h = r->l.heap;
  r->l.heap = NULL;
  return h;
}

/* -- Verdicts -------------------------------------------------------------- */

/*
** Two lists of N and of M objects:
**
**   1 --id-----> 2 --> 1000 ..
**     --other--> 3 --> 2000 ..
*/
static HeapRun two_lists(unsigned n, unsigned m)
{
  CraftHeap h;
  unsigned i;
  graph_open(&h, "t");
  graph_table(&h, 1, 48, 2, 3);
  graph_list(&h, 2, 40, 1000, n);
  graph_list(&h, 3, 40, 2000, m);
  for (i = 0; i < n; i++)
    graph_record(&h, 1000 + i, 64);
  for (i = 0; i < m; i++)
    graph_record(&h, 2000 + i, 64);
  return graph_read(&h);
}

/* A ladder of such heaps, of which there are COUNT. */
static LpLadder *ladder_of(const unsigned (*sizes)[2], size_t count)
{
  LpLadder *l = lp_ladder_new(count);
  size_t i;
  for (i = count; i-- > 0;) {
    HeapRun r = two_lists(sizes[i][0], sizes[i][1]);
    lp_ladder_add(l, "file", taken(&r), NULL);
    heap_run_close(&r);
  }
  lp_ladder_judge(l);
  return l;
}

/* The row of a path. */
static uint32_t row_of(LpLadder *l, const char *path)
{
  uint32_t n = l->paths.names.n;
  uint32_t row = lp_intern(&l->paths.names, path, strlen(path));
  ck_assert_uint_lt(row, n);
  return row;
}

/* The verdicts on the two lists. */
static void verdicts(const unsigned (*sizes)[2], size_t count, LpVerdict id,
                     LpVerdict other)
{
  LpLadder *l = ladder_of(sizes, count);
  uint32_t row = row_of(l, "t.id");
  size_t i;
  ck_assert_int_eq(l->paths.row[row].verdict, id);
  for (i = 0; i < count; i++)
    ck_assert_uint_eq(lp_growths_bytes(&l->paths, row)[i],
                      40 + 64 * sizes[i][0]);
  ck_assert_int_eq(lp_growths_change(&l->paths, row),
                   64 * ((int64_t)sizes[count - 1][0] - sizes[0][0]));
  row = row_of(l, "t.other");
  ck_assert_int_eq(l->paths.row[row].verdict, other);
  ck_assert_uint_eq(l->paths.row[row].above, row_of(l, "t"));
  lp_ladder_free(l);
}

/* -- Parts of the VM ------------------------------------------------------- */

/* A heap whose VM has so many bytes of C types, and of others; without others
** the end of the dump is missing.
*/
static HeapRun two_parts(unsigned ctypes, unsigned others)
{
  CraftHeap h;
  graph_open(&h, "t");
  graph_list(&h, 1, 100, 0, 0);
  craft_heap_vmpart(&h, others, "string table");
  if (ctypes)
    craft_heap_vmpart(&h, ctypes, "FFI: types");
  if (!others) {
    HeapRun r;
    craft_heap_flush(&h);
    r = heap_read(&h);
    craft_heap_close(&h);
    return r;
  }
  return graph_read(&h);
}

/* What is said of parts of the VM, in a ladder and of two dumps. */
static void parts_said(const unsigned (*sizes)[2], size_t n, const char *grown,
                       const char *two)
{
  LpLadder *l = lp_ladder_new(n);
  HeapRun first = two_parts(sizes[0][0], sizes[0][1]), last = {0};
  LpBuf b = {0}, text[LP_HEAP_NOTES] = {0};
  size_t i, notes;
  const char *at;
  for (i = n; i-- > 0;) {
    HeapRun r = two_parts(sizes[i][0], sizes[i][1]);
    lp_ladder_add(l, "file", taken(&r), NULL);
    heap_run_close(&r);
  }
  lp_ladder_judge(l);
  lp_growth_sentences(&b, l);
  at = strstr(b.s, "  Memory of");
  ck_assert_int_eq(at != NULL, grown != NULL);
  if (grown)
    ck_assert_str_eq(at, grown);
  last = two_parts(sizes[n - 1][0], sizes[n - 1][1]);
  notes = lp_heap_notes(
      text, &(LpSubject){.heap = last.heap, .baseheap = first.heap});
  ck_assert_uint_eq(notes, two != NULL);
  if (two)
    ck_assert_str_eq(text[0].s, two);
  lp_buf_free(&text[0]);
  lp_buf_free(&b);
  lp_ladder_free(l);
  heap_run_close(&first);
  heap_run_close(&last);
}

/* The part that has grown by most is told if that is 64 KiB, and a fifth of
** what all has grown by.
*/
START_TEST(test_parts)
{
  static const unsigned grew[][2] = {{0, 9000}, {70000, 9000}, {140000, 9000}};
  static const unsigned cut[][2] = {{70000, 9000}, {1, 0}, {210000, 9000}};
  static const unsigned little[][2] = {{9000, 9000}, {70000, 9000}};
  static const unsigned less[][2] = {{100000, 9000}, {9000, 109000}};
  parts_said(grew, 3,
             "  Memory of the VM itself, \"FFI: types\", has grown: 0B, "
             "68.4KiB, 136.7KiB: types of C are never freed\n\n",
             "Memory of the VM itself, \"FFI: types\", has grown by 136.7KiB, "
             "from 0B: types of C are never freed");
  parts_said(
      cut, 3,
      "  Memory of the VM itself, \"FFI: types\", has grown: 68.4KiB, ?, "
      "205.1KiB: types of C are never freed\n\n",
      "Memory of the VM itself, \"FFI: types\", has grown by 136.7KiB, "
      "from 68.4KiB: types of C are never freed");
  parts_said(cut, 2, NULL, NULL);
  parts_said(little, 2, NULL, NULL);
  parts_said(less, 2,
             "  Memory of the VM itself, \"string table\", has grown: 8.8KiB, "
             "106.4KiB\n\n",
             "Memory of the VM itself, \"string table\", has grown by 97.7KiB, "
             "from 8.8KiB");
}
END_TEST

/* -- Verdicts of small heaps ----------------------------------------------- */

START_TEST(test_verdicts)
{
  static const unsigned five[][2] = {{1, 1}, {2, 5}, {3, 9}, {4, 9}, {5, 9}};
  static const unsigned gone[][2] = {{3, 2}, {2, 90}, {1, 2}};
  static const unsigned held[][2] = {{7, 5}, {7, 4}, {7, 6}, {7, 6}};
  verdicts(five, 5, LP_GREW, LP_STOPPED);
  verdicts(five, 4, LP_GREW, LP_ROSE);
  verdicts(gone, 3, LP_SHRANK, LP_WENT);
  verdicts(held, 4, LP_SAME, LP_ROSE);
}
END_TEST

/* The text says the rows that say most, and shapes are added up. */
START_TEST(test_text)
{
  static const unsigned sizes[][2] = {{10, 1}, {20, 90}, {30, 1}};
  LpLadder *l = ladder_of(sizes, 3);
  const LpSubject subject = {.ladder = l};
  LpReportOptions all = {.min = 20};
  LpTable t = {.name = "shapes"};
  LpBuf b = {0};
  uint32_t i, records = 0;
  lp_growth_sentences(&b, l);
  ck_assert_ptr_nonnull(
      strstr(b.s, "\n  Grew at each step:\n    t.id, a table, list of tables: "
                  "680B, 1.3KiB, 1.9KiB; 640B a dump\n"
                  "  Came and went:\n    t.other, a table, list of tables: "
                  "104B, 5.7KiB, 104B\n\n"));
  lp_buf_free(&b);
  for (i = 0; i < l->shapes.names.n; i++) {
    size_t n;
    const char *s = lp_intern_get(&l->shapes.names, i, &n);
    const uint64_t *bytes = lp_growths_bytes(&l->shapes, i);
    if (n != 10 || memcmp(s, "table {id}", n) != 0)
      continue;
    records++;
    ck_assert_uint_eq(bytes[0], 64 * 11);
    ck_assert_uint_eq(bytes[1], 64 * 110);
    ck_assert_uint_eq(bytes[2], 64 * 31);
  }
  ck_assert_uint_eq(records, 1);
  lp_report_growth_paths.table(&t, &subject, &all);
  ck_assert_uint_eq(t.n, 3);
  lp_table_close(&t);
  lp_ladder_free(l);
}
END_TEST

/* Two lists of the same N records. */
static HeapRun index_and_list(unsigned n)
{
  CraftHeap h;
  unsigned i;
  graph_open(&h, "t");
  graph_table(&h, 1, 48, 2, 3);
  graph_list(&h, 2, 40, 1000, n);
  graph_list(&h, 3, 40, 1000, n);
  for (i = 0; i < n; i++)
    graph_record(&h, 1000 + i, 64);
  return graph_read(&h);
}

/* What two objects keep together is one row, and a limit of one of them says
** so.
*/
START_TEST(test_shared)
{
  LpLadder *l = lp_ladder_new(3);
  const LpSubject subject = {.ladder = l};
  LpReportOptions all = {.min = 0};
  LpTable t = {.name = "shared"};
  LpBuf b = {0};
  LpLimit limit;
  size_t i;
  ck_assert(lp_limit_parse(&limit, "growth@t.id<=100", &b));
  lp_ladder_watch(l, limit.glob);
  for (i = 3; i-- > 0;) {
    HeapRun r = index_and_list(10 * (unsigned)(i + 1));
    lp_ladder_add(l, "file", taken(&r), NULL);
    heap_run_close(&r);
  }
  lp_ladder_judge(l);
  lp_growth_sentences(&b, l);
  ck_assert_ptr_nonnull(strstr(
      b.s, "\n  Grew at each step:\n    t.id and t.other together, mostly "
           "table {id}: 640B, 1.2KiB, 1.9KiB; 640B a dump\n\n"));
  b.n = 0;
  ck_assert(lp_growth_limit_holds(&limit, l, &b));
  ck_assert_str_eq(b.s, "limit growth@t.id<=100 is kept, but together with "
                        "others t.id grew by 640 bytes, see --view=shared");
  lp_buf_free(&b);
  lp_report_growth_shared.table(&t, &subject, &all);
  ck_assert_uint_eq(t.n, 1);
  lp_table_close(&t);
  free(limit.glob);
  lp_ladder_free(l);
}
END_TEST

/* -- Brute force ----------------------------------------------------------- */

#define OBJECTS 25
#define LADDERS 100 /* Of three heaps each, in each part; */
#define PARTS   17  /* which takes seconds with AddressSanitizer. */

/* A heap, and the names of its references. */
typedef struct Brute {
  const LpHeap *h;
  char **step; /* By their numbers in the graph. */
  size_t n;
} Brute;

/* Finds all names once: they are compared often. */
static Brute brute_open(const LpHeap *h)
{
  const LpGraph *g = &h->dump.graph;
  Brute b = {.h = h};
  size_t cap = 0;
  uint32_t id;
  for (id = 0; id < g->n; id++) {
    const LpEdge *e = lp_graph_first(g, id);
    for (; e; e = lp_graph_next(e)) {
      size_t at = (size_t)(e - g->edge);
      LpBuf step = {0};
      lp_buf_puts(&step, "");
      lp_path_step(&step, &h->dump, id, e);
      b.step = lp_grow(b.step, &cap, at + 1, sizeof(*b.step));
      b.step[at] = step.s;
      b.n = at + 1 > b.n ? at + 1 : b.n;
    }
  }
  return b;
}

/* Free the memory. */
static void brute_close(Brute *b)
{
  size_t i;
  for (i = 0; i < b->n; i++)
    free(b->step[i]);
  free(b->step);
}

/* The name of a reference. */
static const char *brute_step(const Brute *b, const LpEdge *e)
{
  ck_assert_ptr_nonnull(b->step);
  return b->step[e - b->h->dump.graph.edge];
}

/* Marks what a path leads to. */
/* NOLINTNEXTLINE(misc-no-recursion): each call takes a part of the text. */
static void brute_mark(const Brute *b, uint32_t id, const char *text,
                       uint8_t *mark)
{
  const LpEdge *e = lp_graph_first(&b->h->dump.graph, id);
  for (; e; e = lp_graph_next(e)) {
    const char *step = brute_step(b, e);
    size_t n = strlen(step);
    if (!n || strncmp(text, step, n) != 0)
      continue;
    if (text[n])
      brute_mark(b, lp_edge_to(e), text + n, mark);
    else
      mark[lp_edge_to(e)] = 1;
  }
}

/* What is at a path keeps so much. */
static uint64_t brute_keeps(const Brute *b, const char *text)
{
  const LpHeap *h = b->h;
  uint8_t *mark = calloc(h->dump.graph.n, 1);
  uint64_t sum = 0;
  uint32_t id;
  brute_mark(b, LP_GRAPH_ROOT, text, mark);
  for (id = 1; id < h->dump.graph.n; id++) {
    uint32_t up = id;
    while (mark[id] && up != LP_GRAPH_ROOT && (up == id || !mark[up]))
      up = h->dom.parent[up];
    if (mark[id] && up == LP_GRAPH_ROOT)
      sum += h->dom.retained[id];
  }
  free(mark);
  return sum;
}

/* Is holder I of T of the same part as another one, T->n: of none? */
static int brute_part(const LpTogether *t, size_t i, size_t other)
{
  return other < t->n && strcmp(t->holder[i].path, t->holder[other].path) == 0;
}

/* Marks what is reached, but not through holders of T: all of them but those of
** one part, that of BUT.
*/
static void brute_reach(const Brute *b, const LpTogether *t, size_t but,
                        uint8_t *reached)
{
  const LpGraph *g = &b->h->dump.graph;
  uint8_t *stop = calloc(g->n, 1), *from = calloc(g->n * t->n, 1);
  int more = 1;
  uint32_t id;
  size_t i;
  for (i = 0; i < t->n; i++) {
    uint8_t *mark = t->holder[i].step ? from + g->n * i : stop;
    if (brute_part(t, i, but)) {
      LpBuf name = {0};
      const char *step = t->holder[i].step;
      lp_buf_printf(&name, "%s%s", t->holder[i].path, step ? step : "");
      brute_mark(b, LP_GRAPH_ROOT, name.s, reached);
      lp_buf_free(&name);
      continue;
    }
    if (!t->holder[i].path[0])
      mark[LP_GRAPH_ROOT] = 1;
    else
      brute_mark(b, LP_GRAPH_ROOT, t->holder[i].path, mark);
  }
  for (id = 0; id < g->n; id++)
    reached[id] &= !stop[id];
  reached[LP_GRAPH_ROOT] = 1;
  while (more) {
    more = 0;
    for (id = 0; id < g->n; id++) {
      const LpEdge *e = lp_graph_first(g, id);
      for (; reached[id] && e; e = lp_graph_next(e)) {
        int cut = stop[lp_edge_to(e)] || reached[lp_edge_to(e)];
        for (i = 0; !cut && i < t->n; i++)
          cut = from[g->n * i + id] &&
                strcmp(brute_step(b, e), t->holder[i].step) == 0;
        more |= !cut;
        reached[lp_edge_to(e)] |= !cut;
      }
    }
  }
  free(stop);
  free(from);
}

/* What is not reached without all holders, but with each one of them. */
static uint64_t brute_together(const Brute *b, const LpTogether *t)
{
  const LpHeap *h = b->h;
  const LpGraph *g = &h->dump.graph;
  uint8_t *without = calloc(g->n, 1), *with = calloc(g->n * t->n, 1);
  uint64_t sum = 0;
  uint32_t id;
  size_t i;
  brute_reach(b, t, t->n, without);
  for (i = 0; i < t->n; i++)
    brute_reach(b, t, i, with + g->n * i);
  for (id = 1; id < g->n; id++) {
    int all = lp_dominators_has(&h->dom, id) && !without[id];
    for (i = 0; i < t->n; i++)
      all &= with[g->n * i + id];
    sum += all ? lp_graph_size(g, id) : 0;
  }
  free(without);
  free(with);
  return sum;
}

/* What a row of objects that keep something together has in a dump. */
static uint64_t brute_row(const LpLadder *l, const Brute *b, uint32_t row,
                          const char *name)
{
  uint32_t at = l->paths.row[row].together;
  return at == LP_NONE ? brute_keeps(b, name)
                       : brute_together(b, &l->together[at]);
}

/* Compares the figures that are known. Returns how many these are. */
static unsigned check(const LpLadder *l, HeapRun *r)
{
  Brute brute[3];
  unsigned known = 0;
  uint32_t row;
  size_t i;
  for (i = 0; i < 3; i++)
    brute[i] = brute_open(r[i].heap);
  for (row = 0; row < l->paths.names.n; row++) {
    const uint64_t *bytes = lp_growths_bytes(&l->paths, row);
    size_t n;
    const char *s = lp_intern_get(&l->paths.names, row, &n);
    LpBuf name = {0};
    lp_buf_add(&name, s, n);
    lp_buf_puts(&name, "");
    if (!l->paths.row[row].cut) {
      ck_assert_uint_ne(bytes[0], LP_LADDER_UNKNOWN);
      ck_assert_uint_ne(bytes[2], LP_LADDER_UNKNOWN);
    }
    for (i = 0; i < 3 && !l->paths.row[row].cut; i++) {
      if (bytes[i] == LP_LADDER_UNKNOWN)
        continue;
      ck_assert_uint_eq(bytes[i], brute_row(l, &brute[i], row, name.s));
      known++;
    }
    lp_buf_free(&name);
  }
  for (i = 0; i < 3; i++)
    brute_close(&brute[i]);
  return known;
}

/* Compares what objects keep together with a dump's groups. Returns how many of
** these have a row.
*/
static unsigned check_groups(const LpLadder *l, const LpHeap *h, size_t at)
{
  unsigned found = 0;
  uint32_t row;
  size_t i;
  for (i = 0; i < h->sharing.n; i++) {
    LpTogether t = lp_together(h, &h->sharing.group[i]);
    for (row = 0; row < l->paths.names.n; row++) {
      uint32_t which = l->paths.row[row].together;
      if (which == LP_NONE || !lp_together_same(&l->together[which], &t))
        continue;
      ck_assert_uint_eq(lp_growths_bytes(&l->paths, row)[at],
                        h->sharing.group[i].bytes);
      found++;
    }
    lp_together_close(&t);
  }
  return found;
}

START_TEST(as_brute_force)
{
  unsigned number, known = 0, groups = 0;
  for (number = 0; number < LADDERS; number++) {
    uint64_t state = (uint64_t)_i * LADDERS + number;
    LpLadder *l = lp_ladder_new(3);
    HeapRun r[3], twin[3];
    size_t i;
    for (i = 3; i-- > 0;) {
      uint64_t again = state;
      r[i] = graph_random(&state, OBJECTS);
      twin[i] = graph_random(&again, OBJECTS);
      lp_ladder_add(l, "file", taken(&twin[i]), NULL);
    }
    lp_ladder_judge(l);
    known += check(l, r);
    groups += check_groups(l, r[2].heap, 2);
    lp_ladder_free(l);
    for (i = 0; i < 3; i++) {
      heap_run_close(&twin[i]);
      heap_run_close(&r[i]);
    }
  }
  ck_assert_uint_gt(known, 20 * LADDERS);
  ck_assert_uint_gt(groups, LADDERS);
}
END_TEST

Suite *suite_growth(void)
{
  const TTest *tests[] = {test_parts, test_verdicts, test_text, test_shared,
                          NULL};
  Suite *s = suite_of("growth", tests);
  TCase *tc = tcase_create("as brute force");
  tcase_set_timeout(tc, 300);
  tcase_add_loop_test(tc, as_brute_force, 0, PARTS);
  suite_add_tcase(s, tc);
  return s;
}

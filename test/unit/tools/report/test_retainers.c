/*
** What refers to the boxes of a page: in small heaps whose references are
** known, and in random ones the same as by brute force.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap/page/heap_retainers.h"
#include "heap_graph.h"
#include "suites.h"

#define RETAINER_HEAPS 1000

static const LpReportOptions options = {.min = 0};

/* The text of a label: how, and what. */
static void label_text(LpBuf *b, const LpBoxes *boxes, uint32_t label)
{
  size_t n, size;
  const LpBoxLabel *l = lp_intern_get(&boxes->names.labels, label, &size);
  const char *s = lp_intern_get(&boxes->names.texts, l->step, &n);
  lp_buf_add(b, s, n);
  lp_buf_puts(b, "  ");
  s = lp_intern_get(&boxes->names.texts, l->name, &n);
  lp_buf_add(b, s, n);
}

/* The box that an object is in. */
static uint32_t box_of(const HeapRun *r, const LpBoxes *b, unsigned object)
{
  return lp_boxes_find(b, LP_NOW, heap_id(r, GRAPH_AT(object)));
}

/* The retainers of the box of an object, a line each. The caller frees it. */
static char *lines_of(const HeapRun *r, LpBoxes *b, unsigned object)
{
  LpRetainers all = lp_retainers(b);
  uint32_t box = box_of(r, b, object);
  LpBuf text = {0};
  size_t i;
  lp_buf_puts(&text, "");
  for (i = 0; i < all.n; i++) {
    const LpRetainer *row = &all.row[i];
    if (row->box != box)
      continue;
    lp_buf_printf(&text, "%u x ", (unsigned)row->n);
    if (row->from == LP_NONE)
      lp_buf_puts(&text, "more");
    else
      label_text(&text, b, row->label);
    lp_buf_puts(&text, "\n");
  }
  free(all.row);
  return text.s;
}

/* Compare them. */
static void check_lines(HeapRun *r, unsigned object, const char *want)
{
  LpBoxes b;
  char *got;
  lp_boxes_open(&b, r->heap, NULL, &options);
  got = lines_of(r, &b, object);
  ck_assert_str_eq(got, want);
  free(got);
  lp_boxes_close(&b);
}

/* A table of two lists, of the same N records. */
static HeapRun two_lists(unsigned n)
{
  CraftHeap h;
  unsigned i;
  graph_open(&h, "t");
  graph_table(&h, 1, 48, 2, 3);
  graph_list(&h, 2, 20000, 1000, n); /* Records are little beside it. */
  graph_list(&h, 3, 20008, 1000, n);
  for (i = 0; i < n; i++)
    graph_record(&h, 1000 + i, 64);
  return graph_read(&h);
}

/* Many references of one list are one row, a few have their own. */
START_TEST(test_lists)
{
  HeapRun r = two_lists(6);
  check_lines(&r, 1000,
              "6 x [0]  t.other  table, list of tables\n"
              "6 x [0]  t.id  table, list of tables\n");
  heap_run_close(&r);
  r = two_lists(2);
  check_lines(&r, 1000,
              "1 x [0]  t.other  table, list of tables\n"
              "1 x [1]  t.other  table, list of tables\n"
              "1 x [0]  t.id  table, list of tables\n"
              "1 x [1]  t.id  table, list of tables\n");
  heap_run_close(&r);
}
END_TEST

/* One object under two names; what it keeps refers to it, too. */
START_TEST(test_names)
{
  CraftHeap h;
  HeapRun r;
  graph_open(&h, "t");
  graph_table(&h, 1, 48, 2, 2);
  graph_table(&h, 2, 48, 3, 0);
  graph_table(&h, 3, 48, 2, 3);
  r = graph_read(&h);
  check_lines(&r, 1, "1 x t  a root\n");
  check_lines(&r, 2,
              "1 x .id  t  table {id, other}\n"
              "1 x .other  t  table {id, other}\n");
  check_lines(&r, 3, "1 x .id  t.id  table {id}\n");
  heap_run_close(&r);
}
END_TEST

/* -- Random heaps ---------------------------------------------------------- */

/* Is an object in a box, or kept alive by one that is? */
static int is_inside(const LpBoxes *b, LpSide side, uint32_t id, uint32_t box)
{
  while (b->in[side][id] != box + 1 && id != LP_GRAPH_ROOT)
    id = b->heaps.h[side]->dom.parent[id];
  return b->in[side][id] == box + 1;
}

/* References to objects of a box from outside of it. */
static uint64_t count_box(const LpBoxes *b, LpSide side, uint32_t box)
{
  const LpHeap *h = b->heaps.h[side];
  uint64_t n = 0;
  uint32_t id;
  for (id = 0; id < h->dump.graph.n; id++) {
    const LpEdge *e = lp_graph_first(&h->dump.graph, id);
    if (!lp_dominators_has(&h->dom, id) || is_inside(b, side, id, box))
      continue;
    for (; e; e = lp_graph_next(e))
      n += b->in[side][lp_edge_to(e)] == box + 1;
  }
  return n;
}

/* What holds of a row. */
static void check_row(const LpBoxes *b, const LpRetainers *all, size_t i)
{
  const LpRetainer *row = &all->row[i];
  ck_assert(i == 0 || all->row[i - 1].box <= row->box);
  ck_assert_uint_lt(row->box, all->boxes);
  ck_assert_uint_gt(row->n, 0);
  if (row->from == LP_NONE)
    ck_assert(i + 1 == all->n || all->row[i + 1].box > row->box);
  else
    ck_assert(row->from < b->n && row->label < b->names.labels.n);
}

/* All references to each box are told once. */
static void check_all(const LpHeap *now, const LpHeap *base)
{
  LpBoxes b;
  LpRetainers all;
  uint64_t *sum;
  uint32_t box;
  size_t i;
  lp_boxes_open(&b, now, base, &options);
  all = lp_retainers(&b);
  sum = lp_zalloc(b.n, sizeof(*sum));
  ck_assert_uint_eq(all.boxes, b.n);
  for (i = 0; i < all.n; i++) {
    check_row(&b, &all, i);
    sum[all.row[i].box] += all.row[i].n;
  }
  for (box = 0; box < b.n; box++)
    ck_assert_uint_eq(
        sum[box],
        count_box(&b, base && !b.box[box].of[LP_NOW].objects ? LP_BASE : LP_NOW,
                  box));
  free(sum);
  free(all.row);
  lp_boxes_close(&b);
}

START_TEST(test_random)
{
  uint64_t state = 11;
  unsigned i;
  for (i = 0; i < RETAINER_HEAPS; i++) {
    HeapRun now = graph_random(&state, 4 + graph_below(&state, 60));
    HeapRun base = graph_random(&state, 4 + graph_below(&state, 60));
    check_all(now.heap, NULL);
    check_all(now.heap, base.heap);
    heap_run_close(&now);
    heap_run_close(&base);
  }
}
END_TEST

/* 80 lists, each in a box of its own, refer to one record, and so do 30 lists
** of one box: these come first, then a dozen rows, and one of all others.
*/
START_TEST(test_bounded)
{
  CraftHeap h;
  HeapRun r;
  LpBoxes b;
  char *got, more[32], *line;
  unsigned i, n = 0;
  graph_open(&h, "t");
  graph_list(&h, 1, 80, 1000, 21);
  for (i = 0; i < 20; i++)
    graph_list(&h, 1000 + i, 80, 1100 + 4 * i, 4);
  graph_list(&h, 1020, 80, 1300, 30);
  for (i = 0; i < 80; i++)
    graph_list(&h, 1100 + i, 8000, 2000, 1);
  for (i = 0; i < 30; i++)
    graph_list(&h, 1300 + i, 40, 2000, 1);
  graph_record(&h, 2000, 64);
  r = graph_read(&h);
  lp_boxes_open(&b, r.heap, NULL, &options);
  ck_assert_uint_ne(box_of(&r, &b, 1100), box_of(&r, &b, 1179));
  ck_assert_uint_eq(box_of(&r, &b, 1300), box_of(&r, &b, 1329));
  got = lines_of(&r, &b, 2000);
  ck_assert_msg(
      strncmp(got, "30 x [0]  table, list of tables\n1 x [0]  t[", 43) == 0,
      "%s", got);
  for (line = got; (line = strchr(line, '\n')) != NULL; line++)
    n++;
  ck_assert_uint_eq(n, LP_RETAINERS_ROWS + 1);
  snprintf(more, sizeof(more), "\n%u x more\n", 81 - LP_RETAINERS_ROWS);
  ck_assert_msg(strstr(got, more) != NULL, "%s", got);
  free(got);
  lp_boxes_close(&b);
  heap_run_close(&r);
}
END_TEST

Suite *suite_retainers(void)
{
  const TTest *tests[] = {test_lists, test_names, test_random, test_bounded,
                          NULL};
  return suite_of("retainers", tests);
}

/*
** Threads of a heap dump: where each one waits, and what its stack holds.
*/

#include <stdlib.h>

#include "heap_columns.h"
#include "heap_join.h"
#include "heap_report.h"
#include "printable.h"
#include "text.h"

#define THREAD_FRAMES 8 /* Of a stack that are shown, */
#define THREAD_HELD   3 /* and of what it holds, so many objects. */

/* -- Stacks ---------------------------------------------------------------- */

/* Append a frame of a function, which waits in LINE; 0: that is not known. */
static void thread_frame(LpBuf *b, const LpDump *d, uint32_t fn, uint64_t line)
{
  LpBuf name = {0}, file = {0};
  uint32_t proto = lp_dump_link(d, fn, LP_EDGE_PROTO);
  const LpProto *pt = proto == LP_NONE ? NULL : lp_dump_proto(d, proto);
  LpStr chunk;
  if (!pt || pt->line == LP_PROTO_BUILTIN) {
    lp_buf_puts(b, proto == LP_NONE ? "[C]" : "function");
    if (proto == LP_NONE)
      lp_identifiers_add(b, d, fn);
    else
      lp_path_proto(b, d, proto);
    return;
  }
  lp_identifiers_add(&name, d, proto);
  chunk.s = lp_intern_get(&d->graph.names, pt->chunk, &chunk.n);
  lp_printable_file(&file, chunk);
  lp_heap_function(b, name.n ? name.s + 1 : "", file.n ? file.s : "?", pt->line,
                   line);
  lp_buf_free(&name);
  lp_buf_free(&file);
}

/* The function that a coroutine is to begin with, or LP_NONE. */
static uint32_t thread_first(const LpGraph *g, uint32_t thread)
{
  const LpEdge *e = lp_graph_first(g, thread);
  for (; e; e = lp_graph_next(e))
    if (lp_edge_kind(e) == LP_EDGE_SLOT)
      return g->type[lp_edge_to(e)] == LJM_TYPE_FUNCTION ? lp_edge_to(e)
                                                         : LP_NONE;
  return LP_NONE;
}

/* Append the functions on a stack, the innermost first. */
static void thread_stack(LpBuf *b, const void *view, const void *row)
{
  const LpDump *d = &((const LpHeap *)view)->dump;
  uint32_t thread = ((const LpHeapRow *)row)->id, first;
  const LpEdge *e = lp_graph_first(&d->graph, thread);
  unsigned n = 0;
  for (; e && n <= THREAD_FRAMES; e = lp_graph_next(e)) {
    if (lp_edge_kind(e) != LP_EDGE_FRAME)
      continue;
    lp_buf_puts(b, n ? " < " : "");
    if (n++ == THREAD_FRAMES)
      lp_buf_puts(b, "...");
    else
      thread_frame(b, d, lp_edge_to(e), lp_edge_detail(e));
  }
  first = n ? LP_NONE : thread_first(&d->graph, thread);
  if (first == LP_NONE)
    return;
  lp_buf_puts(b, "not begun: ");
  thread_frame(b, d, first, 0);
}

/* -- What stacks hold ------------------------------------------------------ */

/* Is an object, behind N others, one of them? Slots often hold the same. */
static int thread_has(const LpEdge *const *held, size_t n, uint32_t id)
{
  while (n-- > 0)
    if (lp_edge_to(held[n]) == id)
      return 1;
  return 0;
}

/* The references of a stack's slots to what keeps most, the most first. Returns
** how many there are.
*/
static size_t thread_held(const LpHeap *h, uint32_t thread,
                          const LpEdge *held[THREAD_HELD])
{
  const LpGraph *g = &h->dump.graph;
  const LpEdge *e = lp_graph_first(g, thread);
  size_t n = 0, at;
  for (; e; e = lp_graph_next(e)) {
    uint64_t keeps = h->dom.retained[lp_edge_to(e)];
    if ((lp_edge_kind(e) != LP_EDGE_SLOT && lp_edge_kind(e) != LP_EDGE_LOCAL) ||
        !keeps || thread_has(held, n, lp_edge_to(e)))
      continue;
    if (n < THREAD_HELD)
      n++;
    else if (keeps <= h->dom.retained[lp_edge_to(held[n - 1])])
      continue;
    for (at = n - 1;
         at > 0 && h->dom.retained[lp_edge_to(held[at - 1])] < keeps; at--)
      held[at] = held[at - 1];
    held[at] = e;
  }
  return n;
}

/* Append what a stack holds: the names of slots, and what is in them. */
static void thread_holds(LpBuf *b, const void *view, const void *row)
{
  const LpHeap *h = view;
  uint32_t thread = ((const LpHeapRow *)row)->id;
  const LpEdge *held[THREAD_HELD];
  size_t i, n = thread_held(h, thread, held);
  for (i = 0; i < n; i++) {
    uint32_t id = lp_edge_to(held[i]);
    lp_buf_puts(b, i ? "; " : "");
    lp_path_step(b, &h->dump, thread, held[i]);
    lp_buf_puts(b, " ");
    lp_shape_nameof(b, h, id);
    lp_buf_puts(b, " (");
    lp_text_size(b, h->dom.retained[id], 1);
    lp_buf_puts(b, ")");
  }
}

/* A row: a coroutine, or several. */
typedef struct ThreadRow {
  LpHeapRow r;
  const LpSubject *subject;
} ThreadRow;

/* Append who made it, by the recording. */
static void thread_made(LpBuf *b, const void *view, const void *row)
{
  const ThreadRow *t = row;
  const LpJoin *j = t->subject->join;
  uint32_t site = lp_join_thread(j, t->r.id);
  (void)view;
  if (site == LP_NONE && !j->sample)
    site = j->lost ? LP_SITE_LOST : LP_SITE_BEFORE;
  if (site != LP_NONE)
    lp_join_site(b, t->subject->prof, site);
}

/* -- By stack -------------------------------------------------------------- */

/* Coroutines with the same stack. */
typedef struct Group {
  ThreadRow t;     /* Their sums, and the one that keeps */
  uint64_t most;   /* most. */
  uint32_t behind; /* The place behind all that is kept by the last one whose
                   ** bytes were added. */
} Group;

typedef struct Groups {
  const LpHeap *h;
  const LpSubject *subject;
  LpIntern stacks;
  Group *group; /* By stack. */
  size_t cap;
} Groups;

/* The group of a coroutine, which may be new. */
static Group *groups_of(Groups *g, const ThreadRow *r)
{
  LpBuf stack = {0};
  uint32_t n = g->stacks.n, at;
  thread_stack(&stack, g->h, r);
  if (g->subject->join)
    thread_made(&stack, g->h, r);
  at = lp_intern(&g->stacks, stack.n ? stack.s : "", stack.n);
  lp_buf_free(&stack);
  g->group = lp_grow(g->group, &g->cap, g->stacks.n, sizeof(*g->group));
  if (at == n)
    g->group[at].t = (ThreadRow){{.id = r->r.id}, g->subject};
  return &g->group[at];
}

/* Add the object AT a place of the dominator tree, if it is a coroutine. It
** keeps N objects: those of its group among them do not count.
*/
static void groups_add(Groups *g, uint32_t id, uint32_t at, uint32_t n)
{
  ThreadRow t = {lp_heap_row(g->h, id), g->subject};
  LpHeapRow *sum;
  Group *to;
  if (g->h->dump.graph.type[id] != LJM_TYPE_THREAD)
    return;
  to = groups_of(g, &t);
  sum = &to->t.r;
  sum->objects++;
  sum->bytes += t.r.bytes;
  if (t.r.retained == LP_UNKNOWN) {
    sum->retained = LP_UNKNOWN;
    return;
  }
  if (t.r.retained > to->most) {
    to->most = t.r.retained;
    sum->id = id;
  }
  if (at < to->behind)
    return;
  to->behind = at + n;
  sum->retained += t.r.retained;
}

/* How many objects each one dominates, with itself. The caller frees it. */
static uint32_t *groups_below(const LpHeap *h)
{
  const LpDominators *d = &h->dom;
  uint32_t *n = lp_zalloc(h->dump.graph.n, sizeof(*n)), i;
  for (i = d->n; i-- > 0;) {
    uint32_t id = d->order[i];
    n[id]++;
    if (id != LP_GRAPH_ROOT)
      n[d->parent[id]] += n[id];
  }
  return n;
}

/* Add all coroutines: those that are reached in the order of the dominator
** tree, then others.
*/
static void groups_fill(Groups *g)
{
  const LpHeap *h = g->h;
  uint32_t *below = groups_below(h), at = 0, id;
  for (id = LP_GRAPH_ROOT; id != LP_NONE;
       id = lp_kids_walk(&h->kids, &h->dom, LP_GRAPH_ROOT, id), at++)
    groups_add(g, id, at, below[id]);
  for (id = 1; id < h->dump.graph.n; id++)
    if (!lp_dominators_has(&h->dom, id))
      groups_add(g, id, at++, 1);
  free(below);
}

/* A row for each stack, and who made its coroutines. */
static void groups_rows(const LpColumns *c, const LpSubject *subject)
{
  Groups g = {.h = subject->heap, .subject = subject};
  uint32_t i;
  groups_fill(&g);
  for (i = 0; i < g.stacks.n; i++)
    lp_columns_row(c, &g.group[i].t, NULL);
  lp_intern_free(&g.stacks);
  free(g.group);
}

/* -- The view -------------------------------------------------------------- */

static const LpField thread_waits = {
    LP_FIELD_TEXT("stack", "waits at", thread_stack)};
static const LpField thread_column = {LP_FIELD_TEXT(
    "holds", "its stack holds, with what that keeps", thread_holds)};

static const LpField thread_site = {
    LP_FIELD_TEXT("site", "made at", thread_made)};
static const LpField thread_count = {
    LP_FIELD_NUMBER("threads", "threads", LP_UNIT_COUNT, LpHeapRow, objects)};

/* Append the path to the one of a group that keeps most. */
static void thread_largest(LpBuf *b, const void *view, const void *row)
{
  lp_heap_place(b, view, ((const LpHeapRow *)row)->id);
}

static const LpField thread_one = {
    LP_FIELD_TEXT("name", "path of the one that keeps most", thread_largest)};

/* All coroutines by stack. */
static void stacks_table(LpTable *t, const LpSubject *subject)
{
  static const LpField *const list[] = {&lp_col_retained, &lp_col_bytes,
                                        &thread_count,    &thread_one,
                                        &thread_waits,    &thread_site};
  size_t n = LP_NFIELDS(list) - (subject->join == NULL);
  LpColumns c = lp_heap_columns(t, subject->heap, list, n, 0);
  if (subject->heap)
    groups_rows(&c, subject);
  lp_table_sort(t, 0);
}

/* All coroutines. */
static void threads_table(LpTable *t, const LpSubject *subject,
                          const LpReportOptions *opt)
{
  static const LpField *const list[] = {
      &lp_col_retained, &lp_col_bytes,  &lp_col_object, &lp_col_path,
      &thread_waits,    &thread_column, &thread_site};
  const LpHeap *h = subject->heap;
  LpColumns c;
  uint32_t id;
  if (opt->group) {
    stacks_table(t, subject);
    return;
  }
  c = lp_heap_columns(t, h, list, LP_NFIELDS(list) - (subject->join == NULL),
                      0);
  for (id = 1; h && id < h->dump.graph.n; id++) {
    ThreadRow r = {.subject = subject};
    if (h->dump.graph.type[id] != LJM_TYPE_THREAD)
      continue;
    r.r = lp_heap_row(h, id);
    lp_columns_row(&c, &r, NULL);
  }
  lp_table_sort(t, 0);
}

const LpReport lp_report_heap_threads = {
    .view = "threads",
    .of = LP_OF_HEAP,
    .takes = LP_TAKES_ROWS | LP_TAKES_HUMAN | LP_TAKES_GROUP,
    .table = threads_table};

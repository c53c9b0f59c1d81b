/*
** .heapsnapshot of random heaps, as far as it is put together: whoever reads it
** finds that each object keeps what brute force says.
*/

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "heapsnapshot.h"
#include "suites.h"

#define OBJECTS 40
#define NODES   100 /* Of a file, at most. */
#define HEAPS   300

enum { REF_NONE, REF_STRONG, REF_WEAK };

/* A heap of known references. Object 0 is the root. */
typedef struct Model {
  unsigned n;
  unsigned char ref[OBJECTS][OBJECTS]; /* From one to another. */
  unsigned char type[OBJECTS];
  unsigned size[OBJECTS];
} Model;

static uint64_t state;

static unsigned random_below(unsigned n)
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % n;
}

static uint64_t addr_of(unsigned i)
{
  return 0x7f0000001000 + i * 32ull;
}

/* Lists, trees, or few or many references at random; strings have none. Some
** objects are only referred to: their block of the dump was lost.
*/
static void model_make(Model *m)
{
  unsigned i, n, form = random_below(3);
  memset(m, 0, sizeof(*m));
  m->n = 2 + random_below(OBJECTS - 2);
  for (i = 1; i < m->n; i++) {
    m->type[i] = random_below(4)    ? LJM_TYPE_TABLE
                 : random_below(10) ? LJM_TYPE_STRING
                                    : 0;
    m->size[i] = m->type[i] ? 24 + random_below(5) * 100 : 0;
    if (form)
      m->ref[form == 1 ? i - 1 : i / 2][i] = REF_STRONG;
  }
  for (n = random_below(3 * m->n); n > 0; n--)
    m->ref[random_below(m->n)][1 + random_below(m->n - 1)] =
        random_below(5) ? REF_STRONG : REF_WEAK;
  for (i = 1; i < m->n; i++) {
    m->ref[0][i] &= REF_STRONG; /* Roots are not weak. */
    if (m->type[i] != LJM_TYPE_TABLE)
      memset(m->ref[i], 0, sizeof(m->ref[i]));
  }
}

/* A string is a value: what is weak keeps it. */
static int model_keeps(const Model *m, unsigned from, unsigned to)
{
  return m->ref[from][to] == REF_STRONG ||
         (m->ref[from][to] == REF_WEAK && m->type[to] == LJM_TYPE_STRING);
}

/* Marks what is reached from an object, but not through the one WITHOUT. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are few objects. */
static void model_reach(const Model *m, unsigned from, unsigned without,
                        unsigned char *seen)
{
  unsigned i;
  if (seen[from] || from == without)
    return;
  seen[from] = 1;
  for (i = 0; i < m->n; i++)
    if (model_keeps(m, from, i))
      model_reach(m, i, without, seen);
}

/* Strings come first, as in a dump. */
static void model_objects(const Model *m, const LpHeapSink *sink, unsigned type)
{
  unsigned i, to;
  for (i = 1; i < m->n; i++) {
    LpObject o = {.addr = addr_of(i), .size = m->size[i], .type = type};
    char text[20];
    if (m->type[i] != type)
      continue;
    o.text = (LpStr){text, (size_t)snprintf(text, sizeof(text), "\"%u\xff", i)};
    sink->object(sink->ctx, &o);
    for (to = 1; to < m->n; to++) {
      LpRef r = {.kind = LP_REF_NODE,
                 .number = m->ref[i][to] == REF_WEAK ? LJM_TABLE_WEAKVALUE : 0,
                 .key = LJM_VALUE_INT,
                 .value = LJM_VALUE_REF,
                 .from = to,
                 .to = addr_of(to)};
      if (m->ref[i][to])
        sink->ref(sink->ctx, &r);
    }
  }
}

static LpHeap *model_heap(const Model *m)
{
  LpHeap *h = lp_heap_new();
  LpHeapName name = {.name = {"part", 4}, .size = 1000};
  unsigned i;
  h->sink.part(h->sink.ctx, &name);
  model_objects(m, &h->sink, LJM_TYPE_STRING);
  model_objects(m, &h->sink, LJM_TYPE_TABLE);
  for (i = 1; i < m->n; i++) {
    name.addr = addr_of(i);
    if (m->ref[0][i])
      h->sink.root(h->sink.ctx, &name);
  }
  lp_heap_analyse(h);
  return h;
}

/* -- The file -------------------------------------------------------------- */

/* A file as it is read. */
typedef struct File {
  unsigned n;
  unsigned char keeps[NODES][NODES];
  uint64_t size[NODES], id[NODES];
} File;

static uint64_t number_at(const json_t *array, size_t i)
{
  const json_t *v = json_array_get(array, i);
  ck_assert(json_is_integer(v) && json_integer_value(v) >= 0 &&
            json_integer_value(v) <= UINT32_MAX);
  return (uint64_t)json_integer_value(v);
}

static void file_read(File *f, const LpBuf *text)
{
  json_error_t err;
  json_t *doc = json_loadb(text->s, text->n, JSON_REJECT_DUPLICATES, &err);
  const json_t *nodes = json_object_get(doc, "nodes");
  const json_t *edges = json_object_get(doc, "edges");
  size_t at = 0, nstring = json_array_size(json_object_get(doc, "strings"));
  unsigned i;
  ck_assert_msg(doc != NULL, "%d: %s: %s", err.position, err.text, text->s);
  memset(f, 0, sizeof(*f));
  f->n = (unsigned)json_array_size(nodes) / 6;
  ck_assert_uint_le(f->n, NODES);
  for (i = 0; i < f->n; i++) {
    uint64_t n = number_at(nodes, i * 6 + 4);
    ck_assert_uint_lt(number_at(nodes, i * 6 + 1), nstring);
    f->id[i] = number_at(nodes, i * 6 + 2);
    f->size[i] = number_at(nodes, i * 6 + 3);
    for (; n > 0; n--, at += 3) {
      uint64_t to = number_at(edges, at + 2);
      ck_assert_uint_eq(to % 6, 0);
      ck_assert_uint_lt(to / 6, f->n);
      if (number_at(edges, at) != 6)
        f->keeps[i][to / 6] = 1;
    }
  }
  ck_assert_uint_eq(at, json_array_size(edges));
  json_decref(doc);
}

/* The bytes that are reached from a node, but not through the one WITHOUT. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are few objects. */
static uint64_t file_reach(const File *f, unsigned from, unsigned without,
                           unsigned char *seen)
{
  uint64_t sum;
  unsigned i;
  if (seen[from] || from == without)
    return 0;
  seen[from] = 1;
  sum = f->size[from];
  for (i = 0; i < f->n; i++)
    if (f->keeps[from][i])
      sum += file_reach(f, i, without, seen);
  return sum;
}

static uint64_t file_retained(const File *f, unsigned node)
{
  unsigned char all[NODES] = {0}, left[NODES] = {0};
  return file_reach(f, 0, NODES, all) - file_reach(f, 0, node, left);
}

/* -- Tests ----------------------------------------------------------------- */

/* What an object keeps, by brute force; 0 if it is not reached. */
static uint64_t model_retained(const Model *m, unsigned object)
{
  unsigned char all[OBJECTS] = {0}, left[OBJECTS] = {0};
  uint64_t kept = 0;
  unsigned i;
  model_reach(m, 0, OBJECTS, all);
  model_reach(m, 0, object, left);
  for (i = 1; i < m->n; i++)
    kept += all[i] && !left[i] ? m->size[i] : 0;
  return kept;
}

/* All bytes are there, and each object that has a node keeps what it does.
** Returns how many there are.
*/
static unsigned file_check(const File *f, const Model *m)
{
  uint64_t all = 1000;
  unsigned i, own = 0;
  for (i = 1; i < m->n; i++)
    all += m->size[i];
  ck_assert_uint_eq(file_retained(f, 0), all);
  for (i = 1; i < m->n; i++) {
    unsigned node = 1;
    while (node < f->n && f->id[node] != ((uint32_t)(addr_of(i) >> 2) | 1))
      node++;
    if (node == f->n)
      continue;
    ck_assert_uint_eq(f->size[node], m->size[i]);
    ck_assert_uint_eq(file_retained(f, node), model_retained(m, i));
    own++;
  }
  return own;
}

static unsigned heap_check(const LpHeap *h, const Model *m,
                           LpSnapshotLimits limits, LpBuf *note)
{
  LpOut out;
  File f;
  lp_out_open(&out, -1);
  note->n = 0;
  lp_heap_snapshot(&out, h, &limits, note);
  file_read(&f, &out.buf);
  lp_out_close(&out);
  ck_assert_uint_le(f.n, limits.most > 9 ? limits.most : 9);
  return file_check(&f, m);
}

/* The nodes of objects that are reached. */
static unsigned model_count(const Model *m, uint64_t least)
{
  unsigned char all[OBJECTS] = {0};
  unsigned i, n = 0;
  model_reach(m, 0, OBJECTS, all);
  for (i = 1; i < m->n; i++)
    n += all[i] && model_retained(m, i) >= least;
  return n;
}

START_TEST(as_brute_force)
{
  static const size_t most[] = {1, 8, 12, 20, 30};
  LpBuf note = {0};
  unsigned i, k;
  for (i = 0; i < HEAPS; i++) {
    Model m;
    LpHeap *h;
    state = i;
    model_make(&m);
    h = model_heap(&m);
    ck_assert_uint_eq(heap_check(h, &m, (LpSnapshotLimits){.most = 100}, &note),
                      model_count(&m, 0));
    ck_assert_uint_eq(note.n, 0);
    for (k = 0; k < sizeof(most) / sizeof(most[0]); k++) {
      unsigned own =
          heap_check(h, &m, (LpSnapshotLimits){.most = most[k]}, &note);
      ck_assert_int_eq(note.n > 0, own < model_count(&m, 0));
    }
    ck_assert_uint_eq(
        heap_check(h, &m, (LpSnapshotLimits){.most = 100, .least = 300}, &note),
        model_count(&m, 300));
    ck_assert_uint_le(
        heap_check(h, &m, (LpSnapshotLimits){.most = 100, .top = 3}, &note), 3);
    lp_heap_free(h);
  }
  lp_buf_free(&note);
}
END_TEST

/* Objects whose addresses are equal in 34 bits have ids of their own. */
START_TEST(ids)
{
  LpHeap *h = lp_heap_new();
  LpSnapshotLimits limits = {.most = 100};
  LpBuf note = {0};
  LpOut out;
  File f;
  unsigned i, k;
  for (i = 0; i < 5; i++) {
    LpObject o = {
        .addr = 4096 + ((uint64_t)i << 34), .size = 10, .type = LJM_TYPE_TABLE};
    LpHeapName root = {.name = {"r", 1}, .addr = o.addr};
    h->sink.object(h->sink.ctx, &o);
    h->sink.root(h->sink.ctx, &root);
  }
  lp_heap_analyse(h);
  lp_out_open(&out, -1);
  lp_heap_snapshot(&out, h, &limits, &note);
  file_read(&f, &out.buf);
  ck_assert_uint_eq(f.n, 1 + 5 + 2);
  ck_assert_uint_eq(f.id[0], 1);
  for (i = 0; i < f.n; i++)
    for (k = 0; k < i; k++)
      ck_assert_uint_ne(f.id[i], f.id[k]);
  for (i = 1; i < 6; i++)
    ck_assert_uint_eq(f.id[i] % 2, 1);
  lp_out_close(&out);
  lp_heap_free(h);
}
END_TEST

/* A group of more than 4 GiB is several: each number has 32 bits. */
START_TEST(large)
{
  LpHeap *h = lp_heap_new();
  LpSnapshotLimits limits = {.most = 100, .top = 1, .least = UINT64_MAX};
  LpBuf note = {0};
  LpOut out;
  File f;
  unsigned i;
  for (i = 0; i < 5; i++) {
    LpObject o = {
        .addr = 4096 + i * 32, .size = 3ull << 30, .type = LJM_TYPE_TABLE};
    LpHeapName root = {.name = {"r", 1}, .addr = o.addr};
    h->sink.object(h->sink.ctx, &o);
    h->sink.root(h->sink.ctx, &root);
  }
  lp_heap_analyse(h);
  lp_out_open(&out, -1);
  lp_heap_snapshot(&out, h, &limits, &note);
  file_read(&f, &out.buf);
  ck_assert_uint_eq(f.n, 1 + 2 + 5);
  ck_assert_uint_eq(file_retained(&f, 0), 15ull << 30);
  lp_buf_free(&note);
  lp_out_close(&out);
  lp_heap_free(h);
}
END_TEST

Suite *suite_heapsnapshot(void)
{
  const TTest *tests[] = {as_brute_force, ids, large, NULL};
  return suite_of("heapsnapshot", tests);
}

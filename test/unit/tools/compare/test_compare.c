/*
** Two sides of a diff: lines that have moved, functions that have, and random
** edits of which it is known what became of each line.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunks.h"
#include "compare.h"
#include "craft.h"
#include "lines_moved.h"
#include "summary/summary_report.h"
#include "suites.h"

/* -- Chunks ---------------------------------------------------------------- */

static LpStr str(const char *s)
{
  return (LpStr){s, strlen(s)};
}

START_TEST(test_tails)
{
  static const struct {
    const char *a, *b;
    unsigned tail;
  } list[] = {{"@a.lua", "@a.lua", 1},       {"@a.lua", "@b/a.lua", 1},
              {"@a.lua", "@ba.lua", 0},      {"@x/b/a.lua", "@y/b/a.lua", 2},
              {"@xb/a.lua", "@yb/a.lua", 1}, {"@/b/a.lua", "@b/a.lua", 2},
              {"=a.lua", "=a.lua", 0},       {"", "@a.lua", 0},
              {"@a.lua", "@a.luac", 0}};
  const LpStr a[] = {str("@/1/app/init.lua"), str("@/1/lib/init.lua"),
                     str("@/1/x.lua"), str("@/1/y/z.lua")};
  const LpStr b[] = {str("@/2/lib/init.lua"), str("@/2/y/z.lua"),
                     str("@/2/app/init.lua"), str("@/2/y2/x.lua"),
                     str("@/2/y3/x.lua")};
  uint32_t to[4];
  size_t i;
  for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
    ck_assert_uint_eq(lp_chunks_tail(str(list[i].a), str(list[i].b)),
                      list[i].tail);
    ck_assert_uint_eq(lp_chunks_tail(str(list[i].b), str(list[i].a)),
                      list[i].tail);
  }
  lp_chunks_match(a, 4, b, 5, to);
  ck_assert_uint_eq(to[0], 2);
  ck_assert_uint_eq(to[1], 0);
  ck_assert_uint_eq(to[2], LP_NONE); /* Two are as good. */
  ck_assert_uint_eq(to[3], 1);
}
END_TEST

/* -- Lines ----------------------------------------------------------------- */

/* Where lines are now, by two anchors and the lines that there are. */
static void moved(const LpAnchor *a, size_t n, const char *base,
                  const char *now, const char *want)
{
  uint64_t line[2][16], to[16];
  LpAnchor anchor[4];
  LpEdited f = {.nanchor = n};
  const char *of[] = {base, now};
  size_t count[2] = {0, 0}, i;
  LpBuf b = {0};
  for (i = 0; i < 2; i++) {
    char *end;
    const char *at = of[i];
    while (*at) {
      line[i][count[i]++] = strtoul(at, &end, 10);
      at = end;
    }
  }
  f.anchor = memcpy(anchor, a, n * sizeof(*a));
  lp_lines_moved(&f, line[0], count[0], line[1], count[1], to);
  for (i = 0; i < count[0]; i++)
    lp_buf_printf(&b, "%s%u", i ? " " : "", (unsigned)to[i]);
  ck_assert_str_eq(b.s, want);
  lp_buf_free(&b);
}

START_TEST(test_lines)
{
  /* From 10 to 12, and up to 30, now 33: a line was added in it. */
  static const LpAnchor more[] = {{10, 12}, {30, 33}};
  static const LpAnchor less[] = {{10, 10}, {30, 28}};
  static const LpAnchor same[] = {{10, 12}, {30, 32}};
  static const LpAnchor inner[] = {{10, 10}, {15, 16}, {18, 19}, {30, 33}};
  moved(same, 2, "10 11 20 30", "12", "12 13 22 32");
  moved(more, 1, "5 10 11", "", "7 12 13");
  moved(more, 2, "10 14 20 30", "16 23", "12 16 23 33");
  moved(more, 2, "14 20", "17 23", "17 23");
  moved(more, 2, "14 20", "16 22", "16 22");
  moved(more, 2, "14 20", "16 22 23", "16 22");    /* Or 23: both are there. */
  moved(less, 2, "14 16 20", "14 18", "12 14 18"); /* Or 14 16 18. */
  /* Behind the last anchor, and before it no line gets. */
  moved(same, 1, "11 12 20 21", "13 14 24 25", "13 14 24 25");
  moved(same, 1, "11 12", "11 12", "13 14");
  /* Two edits. */
  moved(more, 2, "14 20 25", "16 24 28", "16 24 28");
  moved(inner, 4, "12 15 16 18 20", "13 16 17 19 21 22", "13 16 17 19 21");
}
END_TEST

/* -- Profiles -------------------------------------------------------------- */

/* A function: its lines are those that allocate, a byte for each. */
typedef struct Func {
  const char *chunk;
  char name[8];
  uint64_t first, lines, hash;
} Func;

static uint32_t func_of(LpProfile *prof, const Func *f)
{
  LpFunc lf = {.kind = LP_FUNC_LUA,
               .chunk = str(f->chunk),
               .name = str(f->name),
               .first = f->first,
               .lines = f->lines,
               .hash = f->hash};
  return lp_profile_func(prof, &lf);
}

/* A line allocates so many bytes, called by a list of callers. */
static uint32_t allocates(LpProfile *prof, uint32_t node, uint32_t func,
                          uint64_t line, uint64_t bytes)
{
  const LpSite s = {func, 0, line};
  uint32_t site = lp_profile_site(prof, &s);
  uint32_t id = lp_origins_get(&prof->origins, node, site, LJM_TYPE_TABLE);
  prof->origins.cell[id].n[LP_ALLOCS]++;
  prof->origins.cell[id].n[LP_ALLOC_BYTES] += bytes;
  lp_sampled_add(&prof->sampled, lp_origins_node(&prof->origins, node, site),
                 bytes);
  return lp_origins_node(&prof->origins, node, site);
}

/* The bytes of a side at a line, in all callers. */
static uint64_t bytes_at(const LpProfile *prof, LpSide side, uint32_t func,
                         uint64_t line)
{
  uint64_t sum = 0;
  uint32_t i;
  for (i = 0; i < prof->origins.n; i++) {
    const LpRow *r = &prof->row[lp_cell_site(&prof->origins.cell[i])];
    LpFigures f = lp_origins_figures(&prof->origins, i);
    if (side == LP_BASE && i < prof->baseline.n)
      f = prof->baseline.figures[i];
    else if (side == LP_BASE)
      continue;
    if (r->func == func && r->line == line)
      sum += lp_figure_bytes(&f);
  }
  return sum;
}

/* The name of a function, until the next one is asked for. */
static const char *name_of(const LpProfile *prof, uint32_t func)
{
  static char name[16];
  LpStr s = lp_profile_name(prof, prof->func[func].name);
  snprintf(name, sizeof(name), "%.*s", (int)s.n, s.s);
  return name;
}

/* Functions of two sides, each of which allocates at its first line plus 1 as
** many bytes as its number is; WANT has the numbers of those that are the same.
** Returns how many were guessed.
*/
static unsigned same(const Func *base, size_t n, const Func *now, size_t m,
                     const int *want)
{
  unsigned guessed = 0;
  LpProfile *prof = lp_profile_new();
  uint32_t id[16];
  size_t i;
  for (i = 0; i < n; i++)
    allocates(prof, LP_NODE_ROOT, func_of(prof, &base[i]), base[i].first + 1,
              i + 1);
  lp_profile_set_baseline(prof);
  for (i = 0; i < m; i++) {
    id[i] = func_of(prof, &now[i]);
    allocates(prof, LP_NODE_ROOT, id[i], now[i].first + 1, 100);
  }
  for (i = 0; i < 2; i++) { /* Again, nothing changes. */
    size_t k;
    lp_compare(prof);
    for (k = 0; k < prof->baseline.nmatch && !i; k++)
      guessed += (unsigned)prof->baseline.match[k].guessed;
    for (k = 0; k < m; k++)
      ck_assert_str_eq(name_of(prof, id[k]), now[k].name);
    for (k = 0; k < m; k++)
      ck_assert_uint_eq(bytes_at(prof, LP_BASE, id[k], now[k].first + 1),
                        (uint64_t)want[k]);
  }
  lp_profile_free(prof);
  return guessed;
}

#define SAME(base, now, ...)                                                   \
  same(base, sizeof(base) / sizeof(base[0]), now,                              \
       sizeof(now) / sizeof(now[0]), (const int[]){__VA_ARGS__})

START_TEST(test_functions)
{
  /* Moved, edited; one is gone, one is new, one has another name. */
  static const Func old[] = {{"@a.lua", "one", 10, 5, 1},
                             {"@a.lua", "two", 20, 5, 2},
                             {"@a.lua", "gone", 30, 5, 3},
                             {"@a.lua", "was", 40, 5, 4}};
  static const Func new[] = {{"@a.lua", "two", 12, 7, 20},
                             {"@a.lua", "one", 22, 5, 1},
                             {"@a.lua", "new", 32, 6, 30},
                             {"@a.lua", "is", 45, 5, 4}};
  /* One-line functions with the same bytecode, each at the place of the next
  ** one.
  */
  static const Func getters[] = {{"@a.lua", "a", 10, 0, 1},
                                 {"@a.lua", "b", 11, 0, 1},
                                 {"@a.lua", "c", 12, 0, 1}};
  static const Func shifted[] = {{"@a.lua", "a", 11, 0, 1},
                                 {"@a.lua", "b", 12, 0, 1},
                                 {"@a.lua", "c", 13, 0, 1}};
  /* Without names: by their order, and a new one by its lines. */
  static const Func calls[] = {{"@a.lua", "", 10, 2, 1},
                               {"@a.lua", "", 14, 2, 1},
                               {"@a.lua", "", 18, 2, 1}};
  static const Func inserted[] = {{"@a.lua", "", 12, 2, 1},
                                  {"@a.lua", "", 16, 2, 2},
                                  {"@a.lua", "", 20, 2, 1},
                                  {"@a.lua", "", 24, 2, 1}};
  /* A name in two functions: by what is around it. */
  static const Func outer[] = {{"@a.lua", "f", 10, 9, 1},
                               {"@a.lua", "in", 12, 2, 3},
                               {"@a.lua", "g", 20, 9, 2},
                               {"@a.lua", "in", 22, 2, 3}};
  static const Func turned[] = {{"@a.lua", "g", 10, 9, 2},
                                {"@a.lua", "in", 12, 2, 3},
                                {"@a.lua", "f", 20, 9, 1},
                                {"@a.lua", "in", 22, 2, 4}};
  /* Another root, and another file. */
  static const Func root[] = {{"@/1/a.lua", "one", 10, 5, 1},
                              {"@/1/b.lua", "two", 10, 5, 2}};
  static const Func roots[] = {{"@/2/a.lua", "one", 10, 5, 1},
                               {"@/2/c.lua", "two", 50, 5, 2}};
  /* Two with the same bytecode change places; or one of them is gone, and the
  ** other one is where it was.
  */
  static const Func two[] = {{"@a.lua", "a", 10, 0, 1},
                             {"@a.lua", "b", 12, 0, 1}};
  static const Func swapped[] = {{"@a.lua", "b", 10, 0, 1},
                                 {"@a.lua", "a", 12, 0, 1}};
  static const Func one[] = {{"@a.lua", "b", 10, 0, 1}};
  /* Files of the same name need not be the same. */
  static const Func library[] = {{"@foo/init.lua", "new", 10, 5, 1}};
  static const Func other[] = {{"@bar/init.lua", "new", 10, 5, 2}};
  ck_assert_uint_eq(SAME(two, swapped, 2, 1), 0);
  ck_assert_uint_eq(SAME(two, one, 2), 0);
  ck_assert_uint_eq(SAME(library, other, 0), 0);
  ck_assert_uint_eq(SAME(old, new, 2, 1, 0, 4), 1);
  ck_assert_uint_eq(SAME(getters, shifted, 1, 2, 3), 0);
  ck_assert_uint_eq(SAME(calls, inserted, 1, 0, 2, 3), 0);
  ck_assert_uint_eq(SAME(outer, turned, 3, 4, 1, 2), 0);
  ck_assert_uint_eq(SAME(root, roots, 1, 2), 1);
}
END_TEST

/* What the summary says of functions from lines 10 and 20 on, which are others
** now.
*/
static void told(const Func *now, const char *want)
{
  static const Func base[] = {{"@a.lua", "one", 10, 5, 1},
                              {"@a.lua", "two", 20, 5, 2}};
  LpProfile *prof = lp_profile_new();
  LpClauses c = {.lines = 0};
  unsigned i;
  for (i = 0; i < 2; i++)
    func_of(prof, &base[i]);
  lp_profile_set_baseline(prof);
  for (i = 0; i < 2; i++)
    func_of(prof, &now[i]);
  lp_compare(prof);
  lp_summary_moved(&c, prof);
  ck_assert_str_eq(c.b.n ? c.b.s : "", want);
  lp_buf_free(&c.b);
  lp_profile_free(prof);
}

START_TEST(test_told)
{
  told((const Func[]){{"@a.lua", "one", 10, 5, 1}, {"@a.lua", "two", 20, 5, 3}},
       "");
  told((const Func[]){{"@a.lua", "one", 10, 5, 1}, {"@a.lua", "two", 23, 5, 3}},
       "Moved: two from line 20 to 23 of a.lua.\n");
  told((const Func[]){{"@a.lua", "one", 9, 5, 1}, {"@a.lua", "two", 19, 5, 2}},
       "Moved: 2 functions of a.lua, by -1 line.\n");
  told((const Func[]){{"@a.lua", "one", 9, 5, 1}, {"@a.lua", "two", 22, 5, 2}},
       "Moved: 2 functions of a.lua, by -1 to +2 lines.\n");
  told((const Func[]){{"@x/a.lua", "one", 9, 5, 1},
                      {"@x/a.lua", "two", 22, 5, 2}},
       "Moved: 2 functions of a.lua, to x/a.lua.\n");
  told((const Func[]){{"@a.lua", "one", 10, 5, 1}, {"@a.lua", "new", 22, 5, 2}},
       "By its bytecode, two is now ~new.\n");
}
END_TEST

/* A trace of which only the start is known starts where that has moved to. */
START_TEST(test_trace)
{
  LpProfile *prof = lp_profile_new();
  Func f = {"@a.lua", "f", 10, 9, 1};
  LpFunc trace = {.kind = LP_FUNC_TRACE,
                  .traceno = 1,
                  .start = func_of(prof, &f),
                  .line = 13};
  LpSite s = {lp_profile_func(prof, &trace), 0, 13};
  uint32_t id = lp_origins_get(&prof->origins, LP_NODE_ROOT,
                               lp_profile_site(prof, &s), LJM_TYPE_TABLE);
  prof->origins.cell[id].n[LP_ALLOC_BYTES] += 7;
  lp_profile_set_baseline(prof);
  f.first = 30;
  trace.start = func_of(prof, &f);
  trace.line = 33;
  lp_compare(prof);
  ck_assert_uint_eq(bytes_at(prof, LP_BASE, lp_profile_func(prof, &trace), 33),
                    7);
  ck_assert_uint_eq(bytes_at(prof, LP_BASE, s.func, 13), 0);
  lp_profile_free(prof);
}
END_TEST

/* -- Random edits ---------------------------------------------------------- */

#define FUNCS 12
#define LINES 8 /* Of each, at most. */

/* A file of functions, each of which calls the next one at its first line. In
** the other side lines were inserted before some.
*/
static void random_file(Func *f, uint64_t line[][LINES], const uint64_t *before)
{
  uint64_t at = 1;
  unsigned i, k;
  for (i = 0; i < FUNCS; i++) {
    snprintf(f[i].name, sizeof(f[i].name), "f%u", i);
    f[i].chunk = "@random.lua";
    at += before[i];
    f[i].first = at;
    for (k = 0; k < LINES; k++)
      line[i][k] = at + 1 + 2 * k;
    f[i].lines = 2 * LINES + 2;
    at += f[i].lines + 1;
  }
}

/* Counts the same on both sides. */
static void random_count(LpProfile *prof, const Func *f, uint64_t line[][LINES],
                         uint64_t number)
{
  unsigned i, k, n;
  uint64_t state = number * 2 + 1;
  for (n = 0; n < 100; n++) {
    uint32_t node = LP_NODE_ROOT;
    unsigned deep;
    state = state * 6364136223846793005u + 1442695040888963407u;
    deep = 1 + (state >> 33) % FUNCS;
    for (i = 0; i < deep; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      k = (unsigned)(state >> 33) % LINES;
      node = allocates(prof, node, func_of(prof, &f[i]), line[i][k], n + 1);
    }
  }
}

/* Whatever lines were inserted, nothing has changed: in each stack, origin and
** line. (Functions are edited as a whole: a line in one moves as it does.)
*/
START_TEST(test_random)
{
  Func f[2][FUNCS] = {0};
  uint64_t line[2][FUNCS][LINES], before[FUNCS];
  LpProfile *prof = lp_profile_new();
  uint64_t sum = 0, state = (uint64_t)_i + 1;
  uint32_t i;
  unsigned side;
  for (side = 0; side < 2; side++) {
    for (i = 0; i < FUNCS; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      before[i] = side ? (state >> 33) % 4 * ((state >> 40) & 1) : 0;
    }
    random_file(f[side], line[side], before);
    for (i = 0; i < FUNCS; i++)
      f[side][i].hash = i + 10 * (side && (state >> i & 1));
    random_count(prof, f[side], line[side], (uint64_t)_i);
    if (!side)
      lp_profile_set_baseline(prof);
  }
  lp_compare(prof);
  for (i = 0; i < prof->origins.n; i++) {
    LpFigures now = lp_origins_figures(&prof->origins, i), base = {0};
    if (i < prof->baseline.n)
      base = prof->baseline.figures[i];
    ck_assert_uint_eq(lp_figure_bytes(&now), lp_figure_bytes(&base));
    sum += lp_figure_bytes(&base);
  }
  for (i = 0; i < prof->sampled.n; i++) {
    ck_assert_uint_lt(i, prof->baseline.nsamples);
    ck_assert_uint_eq(prof->sampled.samples[i], prof->baseline.samples[i]);
    sum -= prof->baseline.samples[i];
  }
  ck_assert_uint_eq(sum, 0);
  lp_profile_free(prof);
}
END_TEST

Suite *suite_compare(void)
{
  Suite *s = suite_of("compare",
                      (const TTest *[]){test_tails, test_lines, test_functions,
                                        test_told, test_trace, NULL});
  TCase *random = tcase_create("random");
  tcase_add_loop_test(random, test_random, 0, 100);
  suite_add_tcase(s, random);
  return s;
}

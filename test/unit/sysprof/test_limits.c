/*
** The unwinder where a program tells what is right, and where there is more, or
** less, than it takes.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anywalk.h"
#include "judge.h"
#include "suites.h"

/* -- What a program tells of itself --------------------------------------- */

/* The next function that it tells of: "first line:line", or "C". Returns 0 if
** there is none.
*/
static int told_next(char **told, int *first, int *line)
{
  char *p = strsep(told, " ");
  if (!p || !*p)
    return 0;
  *first = *line = 0;
  if (strcmp(p, "C") != 0)
    ck_assert_int_eq(sscanf(p, "%d:%d", first, line), 2);
  return 1;
}

/* All Lua frames are those that are told, from that on of who called tell. */
static void check_told(Tracee *t, const Walk *w, const char *name, char *told)
{
  uint32_t i, skip = 2; /* os.remove and tell. */
  int first, line, resumed = 0;
  for (i = 0; i < w->out.nframes; i++) {
    const struct ljs_frame *f = &w->out.frame[i];
    if ((f->kind != LJS_FRAME_LUA && f->kind != LJS_FRAME_BUILTIN) || skip) {
      skip -= f->kind == LJS_FRAME_LUA || f->kind == LJS_FRAME_BUILTIN;
      continue;
    }
    if (!told_next(&told, &first, &line)) {
      /* The program's own C function, which getinfo has no level for; or who
      ** has resumed the outermost coroutine.
      */
      ck_assert_msg(f->kind == LJS_FRAME_BUILTIN, "%s: one too many", name);
      resumed = strncmp(name, "co-", 3) == 0;
      if (resumed)
        break;
      continue;
    }
    if (f->kind == LJS_FRAME_BUILTIN) {
      ck_assert_msg(line == 0, "%s: line %d is a C function", name, line);
      continue;
    }
    ck_assert_msg(judge_line(t, f->addr, 0) == first &&
                      judge_line(t, f->addr, f->x) == line,
                  "%s: %d:%d is %d:%d", name, first, line,
                  (int)judge_line(t, f->addr, 0),
                  (int)judge_line(t, f->addr, f->x));
  }
  ck_assert_msg(!told_next(&told, &first, &line), "%s: %d:%d is missing", name,
                first, line);
  ck_assert_int_eq(resumed, strncmp(name, "co-", 3) == 0);
}

/* Frames of a kind. */
static uint32_t count(const Walk *w, uint32_t kind)
{
  uint32_t i, n = 0;
  for (i = 0; i < w->out.nframes; i++)
    n += w->out.frame[i].kind == kind;
  return n;
}

/* Lua is called from C, and C from Lua, so many times. */
static uint32_t crossings(const Walk *w)
{
  uint32_t i, n = 0, lua = 0;
  for (i = 0; i < w->out.nframes; i++) {
    uint32_t is = w->out.frame[i].kind != LJS_FRAME_NATIVE;
    n += is && !lua;
    lua = is;
  }
  return n;
}

/* More Lua frames than are taken: there is a mark behind the last one, and the
** rest is there.
*/
static void check_deep(Tracee *t, const Walk *w)
{
  const struct ljs_frame *f = w->out.frame;
  uint32_t n = w->out.nframes;
  ck_assert_uint_eq(w->out.cut, LJS_CUT_LUA);
  ck_assert_uint_eq(w->out.nlua, LJS_MAX_LUA);
  ck_assert_uint_ge(count(w, LJS_FRAME_MARK), 1);
  ck_assert_ptr_nonnull(strstr(tracee_where(t, f[n - 1].addr), "_start"));
}

static void stop_by_stop(const char *mode)
{
  static const char program[] = SOURCE "/limits.lua";
  const char *argv[] = {LUAJIT, program, mode, CBENCH, NULL};
  char name[TRACEE_NAME], *told;
  Tracee *t = tracee_start(argv);
  unsigned stops = 0, deeps = 0, crossed = 0;
  static Walk w;
  while (tracee_mark(t, name)) {
    tracee_walk(t, &w);
    told = name;
    strsep(&told, " ");
    if (strcmp(name, "deep") == 0) {
      check_deep(t, &w);
      deeps++;
      continue;
    }
    ck_assert_msg(w.out.cut == 0, "%s: cut: %u", name, w.out.cut);
    if (strcmp(name, "crossings") == 0) {
      ck_assert_uint_ge(crossings(&w), 70);
      crossed++;
    } else {
      check_told(t, &w, name, told);
      stops++;
    }
  }
  ck_assert_uint_eq(stops, 22);
  ck_assert_uint_eq(deeps, 2);
  ck_assert_uint_eq(crossed, 1);
  tracee_end(t);
}

START_TEST(told_interpreted)
{
  stop_by_stop("nojit");
}
END_TEST

START_TEST(told_compiled)
{
  stop_by_stop("jit");
}
END_TEST

/* -- Too much ------------------------------------------------------------- */

START_TEST(native_deep)
{
  static const char program[] = NATIVE "plain";
  const char *argv[] = {program, "400", NULL};
  char name[TRACEE_NAME];
  Tracee *t = tracee_start(argv);
  static Walk w;
  ck_assert_int_eq(tracee_mark(t, name), 1);
  ck_assert_str_eq(name, "recursion");
  tracee_walk(t, &w);
  ck_assert_uint_eq(w.out.cut, LJS_CUT_NATIVE);
  ck_assert_uint_eq(count(&w, LJS_FRAME_NATIVE), LJS_MAX_NATIVE);
  ck_assert_uint_eq(w.out.nframes, LJS_MAX_NATIVE + 1);
  ck_assert_uint_eq(w.out.frame[LJS_MAX_NATIVE].kind, LJS_FRAME_MARK);
  ck_assert_uint_eq(w.out.frame[LJS_MAX_NATIVE].x, LJS_CUT_NATIVE);
  tracee_end(t);
}
END_TEST

START_TEST(garbage)
{
  static uint8_t bytes[2048];
  uint64_t r = 88172645463325252ull;
  unsigned i, k;
  for (i = 0; i < 30000; i++) {
    for (k = 0; k < sizeof(bytes); k += 8) {
      r ^= r << 13;
      r ^= r >> 7;
      r ^= r << 17;
      memcpy(bytes + k, &r, 8);
      if (i % 2 && k > 256) { /* Addresses among the rest. */
        bytes[k + 3] = 0x10;
        memset(bytes + k + 4, 0, 4);
        bytes[k + 2] &= 1;
      }
    }
    anywalk(bytes, 64 + r % (sizeof(bytes) - 64));
  }
}
END_TEST

Suite *suite_limits(void)
{
  const TTest *tests[] = {told_interpreted, told_compiled, native_deep, garbage,
                          NULL};
  return suite_of("limits", tests);
}

/*
** Streams from the field: the same counts as the tool of their own version.
**
** Both sides become sorted lines. A row is "section label events in out", an
** override "section label > label". Heap summaries of those tools are wrong
** where something was reallocated, so there only other rows are compared.
*/

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "run.h"
#include "suites.h"

typedef struct Lines {
  char **s;
  size_t n, room;
} Lines;

/* Add a line; an override may come twice, a row may not. */
__attribute__((format(printf, 2, 3))) static void add(Lines *l, const char *fmt,
                                                      ...)
{
  va_list ap;
  l->s = lp_grow(l->s, &l->room, l->n + 1, sizeof(char *));
  va_start(ap, fmt);
  ck_assert_int_ge(vasprintf(&l->s[l->n++], fmt, ap), 0);
  va_end(ap);
}

static int before(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sort, and drop what comes twice of overrides. */
static void finish(Lines *l)
{
  size_t i, n = 0;
  ck_assert_uint_gt(l->n, 0);
  qsort(l->s, l->n, sizeof(char *), before);
  for (i = 0; i < l->n; i++) {
    if (n && strcmp(l->s[n - 1], l->s[i]) == 0 && strstr(l->s[i], " > "))
      free(l->s[i]);
    else
      l->s[n++] = l->s[i];
  }
  l->n = n;
}

static void drop(Lines *l)
{
  while (l->n)
    free(l->s[--l->n]);
  free(l->s);
}

/* -- Theirs --------------------------------------------------------------- */

/* The next number in a line. */
static uint64_t number(char **p)
{
  *p += strcspn(*p, "0123456789");
  ck_assert(**p);
  return strtoull(*p, p, 10);
}

/* "label: N events <tab>+IN bytes<tab>-OUT bytes" or, in the heap summary,
** "label holds LIVE bytes: N allocs, N frees"; an override after two tabs.
*/
static void theirs_line(Lines *l, char *line, char section, LpBuf *row)
{
  char *holds = strstr(line, " holds "), *events = strstr(line, " events\t");
  uint64_t n[3];
  int i;
  if (strncmp(line, "\t\t", 2) == 0) {
    add(l, "%c %s > %s", section, row->s, line + 2);
  } else if (holds || events) {
    char *p = holds ? holds : strrchr(line, ':');
    row->n = 0;
    lp_buf_add(row, line, (size_t)(p - line));
    for (i = 0; i < 3; i++)
      n[i] = number(&p);
    add(l, "%c %s %" PRIu64 " %" PRIu64 " %" PRIu64, section, row->s, n[0],
        n[1], n[2]);
  }
}

/* What their tool printed. */
static void theirs(Lines *l, const char *path)
{
  char line[512], section = '?';
  LpBuf row = {0};
  FILE *f = fopen(path, "r");
  ck_assert_ptr_nonnull(f);
  while (fgets(line, sizeof(line), f)) {
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, "HEAP SUMMARY:") == 0 || strstr(line, "LOCATIONS"))
      section = line[0];
    theirs_line(l, line, section, &row);
  }
  lp_buf_free(&row);
  fclose(f);
  finish(l);
}

/* -- Ours ----------------------------------------------------------------- */

/* Add what their tool calls a site of ours. */
static const char *label(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  const LpRow *r = &prof->row[site];
  const LpFuncInfo *f = &prof->func[r->func], *start = &prof->func[f->start];
  LpStr chunk = lp_profile_name(prof, f->chunk);
  LpStr name = lp_profile_name(prof, f->name);
  LpStr from = lp_profile_name(prof, start->chunk);
  b->n = 0;
  if (site == LP_SITE_INTERNAL)
    lp_buf_puts(b, "INTERNAL");
  else if (f->kind == LP_FUNC_LUA)
    lp_buf_printf(b, "%.*s:%" PRIu64, (int)chunk.n, chunk.s, r->line);
  else if (f->kind == LP_FUNC_C)
    lp_buf_printf(b, "%.*s:0x%" PRIx64, (int)name.n, name.s, f->addr);
  else if (f->kind == LP_FUNC_TRACE && f->start)
    lp_buf_printf(b, "TRACE [%" PRIu64 "] started at %.*s:%" PRIu64, f->first,
                  (int)from.n, from.s, f->line);
  else if (f->kind == LP_FUNC_TRACE)
    lp_buf_printf(b, "TRACE [%" PRIu64 "] 0x%" PRIx64, f->first, f->addr);
  else
    lp_buf_printf(b, "CFUNC 0x%" PRIx64, f->addr);
  return b->s;
}

/* What we read. */
static void ours(Lines *l, const LpProfile *prof)
{
  LpBuf b = {0}, by = {0};
  size_t i;
  for (i = 0; i < prof->sitekeys.n; i++) {
    const LpRow *r = &prof->row[i];
    const char *name = label(&b, prof, (uint32_t)i);
    if (r->allocs)
      add(l, "A %s %" PRIu64 " %" PRIu64 " 0", name, r->allocs, r->alloc_bytes);
    if (r->reallocs)
      add(l, "R %s %" PRIu64 " %" PRIu64 " %" PRIu64, name, r->reallocs,
          r->realloc_in, r->realloc_out);
    if (r->frees)
      add(l, "D %s %" PRIu64 " 0 %" PRIu64, name, r->frees, r->free_bytes);
    if (r->live && i != LP_SITE_BEFORE)
      add(l, "H %s %" PRIu64 " %" PRIu64 " %" PRIu64, name, r->live, r->arrived,
          r->left);
  }
  for (i = 0; i < prof->overrides.n; i++) {
    const LpOverride *t = &prof->overrides.entry[i];
    if (t->w.n && LP_OVERRIDE_OF(t->key) != LP_SITE_BEFORE)
      add(l, "%c %s > %s", t->key & LP_OVERRIDE_REALLOC ? 'R' : 'D',
          label(&by, prof, LP_OVERRIDE_BY(t->key)),
          label(&b, prof, LP_OVERRIDE_OF(t->key)));
  }
  lp_buf_free(&b);
  lp_buf_free(&by);
  finish(l);
}

/* Does a line begin with this section and label? */
static int begins(const char *s, char section, const LpBuf *name)
{
  return *s == section && strncmp(s + 2, name->s, name->n) == 0 &&
         s[2 + name->n] == ' ';
}

/* Had the site of a row of the heap summary to do with a reallocation? Or is it
** one line of theirs and several of ours?
*/
static int moved(const Lines *l, const char *heap)
{
  LpBuf name = {0};
  size_t i, rows = 0, hit = 0;
  lp_buf_puts(&name, heap + 2);
  for (i = 0; i < 3; i++) { /* Without its numbers. */
    name.n = (size_t)(strrchr(name.s, ' ') - name.s);
    name.s[name.n] = '\0';
  }
  for (i = 0; i < l->n; i++) {
    const char *s = l->s[i], *to = strstr(s, " > ");
    rows += begins(s, 'A', &name);
    hit += begins(s, 'R', &name);
    hit += *s == 'R' && to && strcmp(to + 3, name.s) == 0;
  }
  lp_buf_free(&name);
  return hit || rows != 1;
}

/* Take out those rows. */
static void settle(Lines *l)
{
  size_t i, n = 0;
  for (i = 0; i < l->n; i++) {
    if (l->s[i][0] == 'H' && moved(l, l->s[i]))
      l->s[i][0] = 'x';
  }
  for (i = 0; i < l->n; i++) {
    if (l->s[i][0] == 'x')
      free(l->s[i]);
    else
      l->s[n++] = l->s[i];
  }
  l->n = n;
}

/* -- Tests ---------------------------------------------------------------- */

/* Read a recording, through a pipe. */
static Run field(const char *name)
{
  LpBuf cmd = {0};
  LpInput in;
  Run r;
  FILE *f;
  lp_buf_printf(&cmd, "zcat '" FIXTURES "/%s.bin.gz'", name);
  f = popen(cmd.s, "r");
  ck_assert_ptr_nonnull(f);
  lp_input_fd(&in, fileno(f));
  r = run_input(&in);
  ck_assert_int_eq(pclose(f), 0);
  lp_buf_free(&cmd);
  ck_assert_str_eq(r.st.damage.what, "");
  ck_assert_int_eq(r.status, LP_WHOLE);
  run_books(&r);
  return r;
}

/* Compare a recording with what their tool said of it. */
static void compare(const char *name)
{
  Lines a = {0}, b = {0};
  LpBuf path = {0};
  size_t i, heap = 0;
  Run r = field(name);
  lp_buf_printf(&path, FIXTURES "/%s.txt", name);
  theirs(&a, path.s);
  ours(&b, r.prof);
  settle(&a);
  settle(&b);
  for (i = 0; i < a.n && i < b.n; i++)
    ck_assert_str_eq(b.s[i], a.s[i]);
  ck_assert_uint_eq(b.n, a.n);
  ck_assert_uint_ge(a.n, 15);
  for (i = 0; i < a.n; i++)
    heap += a.s[i][0] == 'H';
  ck_assert_uint_ge(heap, 2);
  lp_buf_free(&path);
  drop(&a);
  drop(&b);
  run_close(&r);
}

START_TEST(test_same)
{
  compare("v2-prog");
  compare("v2-progjit");
  compare("v3-prog");
  compare("v3-progjit");
}
END_TEST

/* Their tool of version 1 printed no totals to keep; the programs are the same
** as those of version 2.
*/
START_TEST(test_one)
{
  Run r = field("v1-prog");
  ck_assert_uint_eq(r.events, 302);
  ck_assert_uint_eq(run_row(&r, "@prog.lua:2, line 3")->alloc_bytes, 7040);
  ck_assert_uint_eq(run_row(&r, "@prog.lua:2, line 3")->live, 352);
  ck_assert_uint_eq(run_row(&r, "@prog.lua:5, line 6")->realloc_in, 2064);
  run_close(&r);
  r = field("v1-progjit");
  ck_assert_uint_eq(r.events, 424);
  ck_assert_uint_eq(run_row(&r, "INTERNAL")->allocs, 191);
  run_close(&r);
}
END_TEST

/* The recorder that tells its C symbols for every event: each is kept once. */
START_TEST(test_memory)
{
  Run r = field("v3-prog");
  ck_assert_uint_le(r.prof->names.nbytes, 150000);
  ck_assert_uint_le(r.prof->funckeys.n, 10000);
  run_close(&r);
}
END_TEST

/* All of a recording as it is, unpacked. */
static LpBuf unpack(const char *name)
{
  LpBuf cmd = {0}, b = {0};
  char buf[4096];
  size_t n;
  FILE *f;
  lp_buf_printf(&cmd, "zcat '" FIXTURES "/%s.bin.gz'", name);
  f = popen(cmd.s, "r");
  ck_assert_ptr_nonnull(f);
  while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
    lp_buf_add(&b, buf, n);
  ck_assert_int_eq(pclose(f), 0);
  lp_buf_free(&cmd);
  return b;
}

/* Cut every STEP bytes, 100 times less often in the symtab. */
static void cut(const char *name, size_t step)
{
  LpBuf b = unpack(name);
  const char *ljm = b.n ? memmem(b.s, b.n, "ljm", 3) : NULL;
  size_t n, body = ljm ? (size_t)(ljm + 7 - b.s) : 0;
  uint64_t seen = 0;
  ck_assert_uint_gt(body, 0);
  for (n = 0; n < b.n; n += n < body && step > 1 ? 100 * step : step) {
    Run r = run_memory(b.s, n);
    run_books(&r);
    ck_assert_int_eq(r.status, n < body ? LP_UNREADABLE : LP_PART);
    ck_assert_uint_ge(r.events, seen);
    ck_assert_uint_le(r.st.damage.offset, n);
    seen = r.events;
    run_text(&r, &run_plain);
    run_close(&r);
  }
  lp_buf_free(&b);
}

START_TEST(test_cut)
{
  cut("v1-prog", 1);
  cut("v1-progjit", 1);
  cut("v2-prog", 1);
  cut("v2-progjit", 1);
  cut("v3-progjit", 11);
}
END_TEST

Suite *suite_field(void)
{
  const TTest *tests[] = {test_same, test_one, test_memory, test_cut, NULL};
  return suite_of("field", tests);
}

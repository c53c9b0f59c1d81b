/*
** Random stacks and events, against a naive model.
*/

#include <stdlib.h>
#include <string.h>

#include "ljm_format.h"
#include "run.h"
#include "suites.h"

/* ck_assert, for where there are millions: check notes each of them. */
#define must(cond)                                                             \
  do {                                                                         \
    if (!(cond))                                                               \
      ck_abort_msg("%s", #cond);                                               \
  } while (0)

#define NSITE 6
#define NOBJ  256
#define NLINE 20000

/* A stack as a string of letters, and what it has allocated and holds. */
typedef struct Line {
  char s[64];
  int64_t bytes, live;
} Line;

typedef struct Model {
  char stack[256];
  int n, cut, cap;
  Line line[NLINE];
  int nline;
  struct {
    int line;
    uint64_t size;
  } obj[NOBJ]; /* At address (index + 1) << 12; no size, no object. */
} Model;

/* The line of an event at a site. */
static int model_line(Model *m, char site)
{
  char s[64] = "";
  int callers = m->n < m->cap ? m->n : m->cap, i = 0;
  if (m->cap && (m->cut || m->n > m->cap))
    s[i++] = '(';
  memcpy(s + i, m->stack + m->n - callers, (size_t)callers);
  s[i + callers] = site;
  s[i + callers + 1] = '\0';
  for (i = 0; i < m->nline; i++)
    if (strcmp(m->line[i].s, s) == 0)
      return i;
  must(m->nline < NLINE);
  memcpy(m->line[m->nline].s, s, sizeof(s));
  return m->nline++;
}

/* An object comes, at K. */
static void model_arrive(Model *m, int k, char site, uint64_t size)
{
  m->obj[k].line = model_line(m, site);
  m->obj[k].size = size;
  m->line[m->obj[k].line].bytes += (int64_t)size;
  m->line[m->obj[k].line].live += (int64_t)size;
}

/* An object goes, from K. */
static void model_leave(Model *m, int k)
{
  m->line[m->obj[k].line].live -= (int64_t)m->obj[k].size;
  m->obj[k].size = 0;
}

/* A random change of the stack. */
static void model_change(Model *m, Craft *c)
{
  uint64_t site[16], pops = craft_random((uint64_t)m->n + 1),
                     n = craft_random(12), i;
  int whole = craft_random(20) == 0;
  if (craft_random(3))
    pops = pops < 3 ? pops : 2;
  if (m->n > 40)
    pops = (uint64_t)m->n;
  m->n = whole ? 0 : m->n - (int)pops;
  m->cut = whole ? (int)craft_random(2) : m->cut;
  for (i = 0; i < n; i++) {
    site[i] = 2 + craft_random(NSITE);
    m->stack[m->n++] = (char)('A' + (int)site[i]);
  }
  if (whole)
    craft_stack_of(c, m->cut ? LJM_STACK_CUT : 0, site, n);
  else
    craft_change_of(c, pops, site, n);
}

/* A random event. */
static void model_event(Model *m, Craft *c)
{
  int k = (int)craft_random(NOBJ), to = (int)craft_random(NOBJ);
  uint64_t site = 2 + craft_random(NSITE), size = 1 + craft_random(1000);
  uint64_t addr = (uint64_t)(k + 1) << 12;
  uint64_t old = m->obj[k].size;
  char name = (char)('A' + (int)site);
  if (!old) {
    c->type = (unsigned)craft_random(13);
    craft_alloc(c, site, addr, size);
    model_arrive(m, k, name, size);
  } else if (craft_random(2)) {
    craft_free(c, site, addr, old);
    model_leave(m, k);
  } else if (to == k || !m->obj[to].size) {
    craft_realloc(c, site, addr, old, (uint64_t)(to + 1) << 12, size);
    model_leave(m, k);
    model_arrive(m, to, name, size);
  }
}

/* The line of a stack in a folded report: its value, or 0. */
static int64_t folded(const Run *r, const char *stack)
{
  LpBuf b = {0};
  const char *at;
  int64_t value;
  lp_buf_puts(&b, "\n");
  for (; *stack; stack++) {
    if (*stack == '(')
      lp_buf_puts(&b, "(cut);");
    else
      lp_buf_printf(&b, "s:0, line %d%s", *stack - 'A', stack[1] ? ";" : " ");
  }
  at = strncmp(r->text.s, b.s + 1, b.n - 1) == 0 ? r->text.s - 1
                                                 : strstr(r->text.s, b.s);
  value = at ? strtoll(at + b.n, NULL, 10) : 0;
  lp_buf_free(&b);
  return value;
}

/* Begin a stream with stacks of so many frames and the sites 2 to NSITE + 1:
** their lines are their numbers.
*/
static void begin(Craft *c, uint64_t stack)
{
  uint64_t i;
  craft_open(c, 1);
  c->stack = stack;
  craft_time(c, 0);
  craft_meta(c, 0);
  craft_proto(c, 1, 0, 9, 0, "=s", "");
  for (i = 2; i < NSITE + 2; i++)
    craft_site(c, i, 0, 1, i);
}

/* Both must tell the same. */
static void model_compare(const Model *m, Run *r, LpMetric metric)
{
  LpReportOptions opt = {.metric = metric};
  const char *s = run_report(r, "folded", NULL, &opt);
  int i, n = 0;
  for (i = 0; i < m->nline; i++) {
    const Line *l = &m->line[i];
    int64_t want = metric == LP_METRIC_BYTES ? l->bytes : l->live;
    must(folded(r, l->s) == want);
    n += want > 0;
  }
  for (; (s = strchr(s, '\n')); s++)
    n--;
  ck_assert_int_eq(n, 0);
}

START_TEST(test_model)
{
  static const int cap[] = {1, 2, 3, 5, 40, 200};
  size_t i, k;
  for (i = 0; i < sizeof(cap) / sizeof(cap[0]); i++) {
    Model *m = lp_zalloc(1, sizeof(Model));
    Craft c;
    Run r;
    begin(&c, (uint64_t)cap[i] + 1);
    m->cap = cap[i];
    for (k = 0; k < 3000; k++) {
      if (craft_random(100) == 0) {
        craft_flush(&c);
        craft_time(&c, k);
        m->n = m->cut = 0;
      }
      if (craft_random(2))
        model_change(m, &c);
      model_event(m, &c);
    }
    craft_totals(&c, 0, 0);
    craft_flush(&c);
    r = run_craft(&c);
    ck_assert_str_eq(r.st.damage.what, "");
    run_books(&r);
    model_compare(m, &r, LP_METRIC_BYTES);
    model_compare(m, &r, LP_METRIC_LIVE);
    run_close(&r);
    craft_close(&c);
    free(m);
  }
}
END_TEST

Suite *suite_model(void)
{
  const TTest *tests[] = {test_model, NULL};
  return suite_of("model", tests);
}

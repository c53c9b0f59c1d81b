/*
** Random stacks through the writer and the reader, against a naive model.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run.h"
#include "stream.h"
#include "suites.h"

/* ck_assert, for where there are millions: check notes each of them. */
#define must(cond)                                                             \
  do {                                                                         \
    if (!(cond))                                                               \
      ck_abort_msg("%s", #cond);                                               \
  } while (0)

#define NFUNC 5
#define NLINE 4 /* Lines of each. */
#define NSITE (NFUNC * NLINE)
#define DEPTH 30

/* What rows must have, by function and by line; one more for (unknown). */
typedef struct Row {
  uint64_t self, total;
} Row;

typedef struct Model {
  uint32_t id[NSITE];
  Row func[NFUNC + 1], line[NSITE + 1];
  uint64_t all, cut;
} Model;

/* Give the writer all sites. */
static void model_sites(Model *m, LsStream *s)
{
  unsigned i;
  for (i = 0; i < NSITE; i++) {
    char name[8];
    LsSite site = {.kind = LS_LUA, .chunk = "=m", .chunklen = 2, .name = name};
    snprintf(name, sizeof(name), "f%u", i / NLINE);
    site.first = 100 * (i / NLINE);
    site.line = site.first + 1 + i % NLINE;
    m->id[i] = ls_stream_site(s, &site);
  }
}

/* Count a stack: each row once. */
static void model_count(Model *m, const unsigned *site, size_t n, int cut,
                        uint64_t count)
{
  int func[NFUNC] = {0}, line[NSITE] = {0};
  size_t i;
  for (i = 0; i < n; i++) {
    m->func[site[i] / NLINE].total += func[site[i] / NLINE]++ ? 0 : count;
    m->line[site[i]].total += line[site[i]]++ ? 0 : count;
  }
  m->all += count;
  m->cut += cut ? count : 0;
  if (n) {
    m->func[site[n - 1] / NLINE].self += count;
    m->line[site[n - 1]].self += count;
  } else if (!cut) {
    m->func[NFUNC].self += count;
    m->line[NSITE].self += count;
  }
}

/* A random stack that has something of the one before. */
static size_t model_stack(unsigned *site, size_t n)
{
  size_t keep = craft_random(3) ? n - craft_random(n + 1) / 4
                                : craft_random(n + 1),
         i;
  size_t more = craft_random(6);
  n = keep + more > DEPTH ? DEPTH : keep + more;
  for (i = keep; i < n; i++)
    site[i] = (unsigned)craft_random(NSITE);
  return n;
}

/* Write N random samples. */
static void model_write(Model *m, LsStream *s, size_t n)
{
  unsigned site[DEPTH] = {0};
  uint32_t ids[DEPTH];
  uint32_t process = ls_stream_process(s, &(LsProcess){.pid = 7});
  size_t depth = 0, i;
  int cut = 0;
  while (n--) {
    uint64_t count = 1 + craft_random(9);
    if (craft_random(200) == 0)
      ls_stream_time(s, n);
    depth = model_stack(site, depth);
    cut = craft_random(10) ? cut : (int)craft_random(2);
    for (i = 0; i < depth; i++)
      ids[i] = m->id[site[i]];
    model_count(m, site, depth, cut, count);
    ls_stream_sample(
        s, ls_stream_thread(s, process, (uint32_t)craft_random(3), "t"), ids,
        depth, cut, count);
  }
}

/* The row of a report that ends like this. */
static Row row_of(const char *report, const char *label)
{
  Row r = {0, 0};
  const char *at = strstr(report, label);
  char *end;
  if (!at)
    return r;
  while (at > report && at[-1] != '\n')
    at--;
  r.self = strtoull(at, &end, 10);
  strtod(end, &end);
  must(*end == '%');
  r.total = strtoull(end + 1, NULL, 10);
  return r;
}

/* Reports must have what the model has. */
static void model_compare(const Model *m, Run *r)
{
  char label[64];
  unsigned i;
  run_report(r, "text", "functions", &run_plain);
  for (i = 0; i < NFUNC; i++) {
    Row row;
    snprintf(label, sizeof(label), "  m:%u (f%u)\n", 100 * i, i);
    row = row_of(r->text.s, label);
    ck_assert_uint_eq(row.self, m->func[i].self);
    ck_assert_uint_eq(row.total, m->func[i].total);
  }
  ck_assert_uint_eq(row_of(r->text.s, "  (unknown)\n").self,
                    m->func[NFUNC].self);
  ck_assert_uint_eq(row_of(r->text.s, "  (cut)\n").total, m->cut);
  run_report(r, "text", "lines", &run_plain);
  for (i = 0; i < NSITE; i++) {
    Row row;
    snprintf(label, sizeof(label), "  m:%u, line %u (f%u)\n", 100 * (i / NLINE),
             100 * (i / NLINE) + 1 + i % NLINE, i / NLINE);
    row = row_of(r->text.s, label);
    ck_assert_uint_eq(row.self, m->line[i].self);
    ck_assert_uint_eq(row.total, m->line[i].total);
  }
}

START_TEST(test_model)
{
  size_t n;
  for (n = 1; n <= 40000; n *= 6) {
    LsStreamInfo info = {.event = "cpu-clock", .hz = 99};
    int fd = memfd_create("cpu", MFD_CLOEXEC);
    Model m = {0};
    LsStream *s = ls_stream_open(fd, &info);
    LsStatistic stat[1] = {{"delivered", 0}};
    LpInput in;
    Run r;
    ck_assert_int_ge(fd, 0);
    model_sites(&m, s);
    model_write(&m, s, n);
    stat[0].value = m.all;
    ck_assert_int_eq(ls_stream_close(s, stat, 1), 0);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    lp_input_fd(&in, fd);
    r = run_input(&in);
    ck_assert_str_eq(r.st.damage.what, "");
    ck_assert_uint_eq(r.events, n);
    ck_assert_uint_eq(r.prof->cpu.samples, m.all);
    ck_assert_uint_eq(r.prof->cpu.cut, m.cut);
    run_books(&r);
    run_callers(&r);
    model_compare(&m, &r);
    run_close(&r);
    close(fd);
  }
}
END_TEST

Suite *suite_cpu_model(void)
{
  const TTest *tests[] = {test_model, NULL};
  return suite_of("cpu_model", tests);
}
